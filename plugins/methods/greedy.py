"""Greedy selection of labels from a pool, by training pairs or, as an oracle, by the test queries."""

from collections.abc import Iterator
from typing import Any

from aacbench.contract.landmarks import (
    LABELS,
    PACKED,
    cannot_select,
    does_not_fit,
    landmarks_that_fit,
    pool_parameter,
    resolved,
    room_for,
    values_that_fit,
    waived,
)
from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.errors import UsageError
from aacbench.plugins import Budget, GraphInfo, hookimpl

DOCS = "docs/methods/greedy.md"
POOL_PER_LABEL = 4  # the paper's K0 = 4m


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    yield Method(
        "greedy-train",
        "labels that bound training pairs best, chosen greedily (Rayner et al. 2013)",
        fit_labels,
        build_train,
        Claims(deterministic=False),
        {
            "labels": LABELS,
            "m": Parameter(0, "labels per vertex; 0 means as many as fit", minimum=0),
            "K0": Parameter(256, "landmarks in the pool to choose from", minimum=1),
            "pool": pool_parameter("mixed"),
            "pairs": Parameter(4000, "training pairs to draw if the protocol has none", minimum=1),
        },
        docs=DOCS,
        waives=waived,
    )
    oracle = {
        "K": Parameter(0, "landmarks; 0 means as many as fit", minimum=0),
        "K0": Parameter(0, "landmarks in the pool to choose from; 0 means four for each label", minimum=0),
    }
    yield Method(
        "greedy-max",
        "landmarks that bound the test queries best, chosen greedily: an oracle",
        fit_oracle,
        build_oracle,
        Claims(oracle=True),
        {"labels": LABELS, **oracle, "pool": pool_parameter()},
        docs=DOCS,
        waives=waived,
    )
    yield Method(
        "greedy-max-paper",
        "greedy-max with labels and differences in float32, as published: rounding makes it inadmissible",
        fit_paper,
        build_paper,
        Claims(oracle=True, admissible=False, consistent=False),
        oracle,
        docs=DOCS,
    )


def fit_labels(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with the number of labels that fit; each label is a column for one direction."""
    impossible = cannot_select(info, params["pool"])
    if impossible:
        return impossible
    if params["labels"] in PACKED:
        return room_for(budget, info, params)
    fits = values_that_fit(budget, info, params["labels"])
    if isinstance(fits, Unsupported):
        return fits
    if info.symmetric and budget.directed(info):
        fits //= 2  # the convention charges two labels, although one serves both directions
    wanted = params["m"]
    if fits < max(1, wanted):
        return does_not_fit("labels", wanted, budget, fits)
    most = info.vertices * (1 if info.symmetric else 2)
    return {**params, "m": min(wanted or fits, most), "labels": resolved(budget, info, params["labels"])}


def fit_oracle(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    fitted = landmarks_that_fit(budget, info, params)
    if isinstance(fitted, Unsupported) or fitted["labels"] in PACKED:
        return fitted
    labels = fitted["K"] * (2 if budget.directed(info) else 1)
    return {**fitted, "K0": fitted["K0"] or POOL_PER_LABEL * labels}


def fit_paper(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    if info.integral:
        return Unsupported("float32 labels are for float weights; use greedy-max, which is exact on integer weights")
    fitted = fit_oracle(budget, info, {**params, "labels": "fixed"})  # also four bytes wide
    return fitted if isinstance(fitted, Unsupported) else {"K": fitted["K"], "K0": fitted["K0"]}


def build_train(context: BuildContext) -> LabelHeuristic | Unsupported:
    """Select labels by the summed bound of training pairs; on directed graphs d(l, v) and d(v, l) separately."""
    import numpy as np

    from aacbench.labels.stores import counted, deployed
    from aacbench.labels.tables import greedy, label_bounds

    context = counted(context, "m")
    params = context.params
    pairs = _training_pairs(context)
    pool = context.pools.selected(params["pool"], max(params["K0"], params["m"]), at=np.concatenate(pairs))
    ahead, back = label_bounds(pool, *pairs)
    if pool.symmetric:
        return deployed(context, pool, greedy(ahead, min(params["m"], len(pool))))
    chosen = greedy(np.concatenate((ahead, back)), min(params["m"], 2 * len(pool)))
    forward, backward = chosen[chosen < len(pool)], chosen[chosen >= len(pool)] - len(pool)
    return deployed(context, pool, forward, backward)


def build_oracle(context: BuildContext) -> LabelHeuristic | Unsupported:
    """Select landmarks, each for both directions, by the mean bound of the test queries."""
    from aacbench.labels.stores import counted, deployed

    context = counted(context, "K")
    pool, chosen = _oracle(context, context.params["pool"])
    return deployed(context, pool, chosen)


def build_paper(context: BuildContext) -> LabelHeuristic:
    import numpy as np

    from aacbench.labels import subset
    from aacbench.labels.tables import single_precision

    pool, chosen = _oracle(context, "fps")
    exact = subset(context.network, context.pools.rows(pool, chosen), np.arange(len(chosen)), labels="replay")
    rows = exact.arrays["rows"].astype(np.float32)
    return LabelHeuristic({"rows": rows}, single_precision, {"both": 0, "forward": 0, **exact.settings})


def _oracle(context: BuildContext, selector: str) -> tuple[Any, Any]:
    """Return a pool and the positions in it that bound the test queries best."""
    import numpy as np

    from aacbench.labels.tables import greedy, label_bounds

    queries, params = context.oracle_queries, context.params
    if queries is None or not len(queries):
        raise UsageError("greedy-max needs test queries, and there are none.")
    count = params["K0"] or POOL_PER_LABEL * params["K"] * (1 if context.graph.symmetric else 2)
    ends = (queries.sources, queries.targets)
    pool = context.pools.selected(selector, max(count, params["K"]), at=np.concatenate(ends))
    return pool, greedy(np.maximum(*label_bounds(pool, *ends)), min(params["K"], len(pool)))


def _training_pairs(context: BuildContext) -> tuple[Any, Any]:
    """Return the protocol's training queries, or random pairs of the largest component.

    Query sets are drawn by another kind of generator, so no seed reproduces the reported queries.
    """
    import numpy as np

    from aacbench.graphs import components

    if len(context.train):
        return context.train.sources, context.train.targets
    rng = np.random.default_rng(context.seed)
    sources, targets = rng.choice(components.largest(context.graph), size=(2, context.params["pairs"]))
    return sources, targets
