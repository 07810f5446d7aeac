"""ALT and its controls: landmark labels from a farthest-point pool, chosen in four ways."""

from collections.abc import Iterator
from typing import Any

from aacbench.errors import UsageError
from aacbench.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl

LABELS = Parameter(
    "auto",
    "exact, fixed (4 bytes for float weights) or replay (exact, and rounding is not cared for); auto is exact, for "
    "float weights fixed, or replay where widths are not charged",
    choices=("auto", "exact", "fixed", "replay"),
)
STARTS = 10  # random first landmarks that fps-rr10 tries


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """ALT, the first m of a larger pool, a random m of it, and the best of ten starts."""
    pool = {"labels": LABELS, "K": Parameter(0, "landmarks; 0 is as many as fit", minimum=0)}
    larger = {**pool, "K0": Parameter(64, "landmarks in the pool to choose from", minimum=1)}
    yield Method("alt", "farthest-point landmarks (FPS-ALT)", fit, build_alt, parameters=pool)
    yield Method(
        "alt-pool", "the first m landmarks of a K0 pool: equals alt exactly", fit, build_pool, parameters=larger
    )
    yield Method("random-subset", "a random m of the K0 pool", fit, build_random, Claims(deterministic=False), larger)
    yield Method(
        "fps-rr10", "ten random starts, the best on validation", fit, build_restarts, Claims(deterministic=False), pool
    )


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """As many landmarks as the budget pays for: in both directions where the convention says the graph is directed."""
    if info.integral and params["labels"] == "fixed":
        return Unsupported("fixed labels are for float weights; those of integer weights are exact as they are")
    width = info.label_bytes if info.integral or params["labels"] not in ("exact", "replay") else 8
    fits = budget.values(width) // (2 if budget.directed(info) else 1)
    if fits < 1:
        return Unsupported(f"{budget.bytes_per_vertex:g} bytes per vertex hold no landmark of {width} bytes a label")
    wanted = params["K"]
    if wanted > fits:
        return Unsupported(f"{wanted} landmarks do not fit {budget.bytes_per_vertex:g} bytes per vertex; {fits} do")
    count = min(wanted or fits, info.vertices)
    labels = params["labels"]
    if labels == "auto":
        narrow = "fixed" if budget.convention.value_bytes is None else "replay"
        labels = "exact" if info.integral else narrow
    return {**params, "K": count, "labels": labels}


def build_alt(context: BuildContext) -> LabelHeuristic:
    """The first K farthest-point landmarks."""
    return _labels(context, context.pools.farthest(context.params["K"]))


def build_pool(context: BuildContext) -> LabelHeuristic:
    """The first K landmarks of the K0 pool, which farthest-point sampling makes the same."""
    pool = context.pools.farthest(_pool_size(context))
    return _labels(context, pool.first(min(int(context.params["K"]), len(pool))))


def build_random(context: BuildContext) -> LabelHeuristic:
    """K landmarks of the K0 pool at random."""
    import numpy as np

    pool = context.pools.farthest(_pool_size(context))
    chosen = np.random.default_rng(context.seed).choice(len(pool), min(context.params["K"], len(pool)), replace=False)
    return _labels(context, pool.take(np.sort(chosen)))


def build_restarts(context: BuildContext) -> LabelHeuristic:
    """Of ten random first landmarks, the one whose pool expands least on validation, searched as `modern`."""
    import numpy as np

    from aacbench.graphs import components

    if not len(context.validation):
        raise UsageError("fps-rr10 chooses on validation queries, and the protocol has none: give it some.")
    inside = components.largest(context.graph)
    starts = np.random.default_rng(context.seed).choice(inside, min(STARTS, len(inside)), replace=False)
    best, least = None, None
    for number, start in enumerate(starts.tolist(), 1):
        context.progress(f"start {number} of {len(starts)}")
        candidate = _labels(context, context.pools.farthest(context.params["K"], start))
        expanded = _validation_expansions(context, candidate)
        if least is None or expanded < least:
            best, least = candidate, expanded
    assert best is not None
    return best


def _pool_size(context: BuildContext) -> int:
    return max(int(context.params["K0"]), int(context.params["K"]))


def _labels(context: BuildContext, pool: Any) -> LabelHeuristic:
    from aacbench.labels import fixed_point, label_rows, rounding_margin

    width, settings = context.params["labels"], {}
    if width == "fixed":
        pool, settings["scale"] = fixed_point(context.network, pool.landmarks)
    rows = label_rows(pool)
    settings |= {"both": len(pool)} if pool.symmetric else {"forward": len(pool)}
    if rows.dtype.kind == "f" and width != "replay":
        settings["margin"] = rounding_margin(rows)
    return LabelHeuristic({"rows": rows}, "differential", settings)


def _validation_expansions(context: BuildContext, candidate: LabelHeuristic) -> int:
    from aacbench.memory.deploy import deploy
    from aacbench.search import search

    queries = context.validation
    found = search(context.network, deploy(candidate, context.network).searched, queries.sources, queries.targets)
    return int(found.expanded.sum())
