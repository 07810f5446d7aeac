"""ALT and its controls: four ways to choose the landmarks."""

from collections.abc import Iterator
from typing import Any

from aacbench.contract.landmarks import GROWING, LABELS, pool_parameter, waived
from aacbench.contract.landmarks import landmarks_that_fit as fit
from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Unsupported
from aacbench.errors import UsageError
from aacbench.plugins import hookimpl
from aacbench.plugins.methods import expansions

Built = LabelHeuristic | Unsupported
DOCS = "docs/methods/alt.md"
STARTS = 10  # random first landmarks tried by fps-rr10


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    pool = {"labels": LABELS, "K": Parameter(0, "landmarks; 0 means as many as fit", minimum=0)}
    larger = {**pool, "K0": Parameter(64, "landmarks in the pool to choose from", minimum=1)}
    prefixes = {**larger, "pool": pool_parameter(choices=GROWING)}
    summary = "farthest-point landmarks (FPS-ALT), or landmarks of another selector"
    yield Method(
        "alt", summary, fit, build_alt, parameters={**pool, "pool": pool_parameter()}, docs=DOCS, waives=waived
    )
    summary = "the first K landmarks of a pool of K0: equals alt exactly"
    yield Method("alt-pool", summary, fit, build_pool, parameters=prefixes, docs=DOCS, waives=waived)
    larger, random = {**larger, "pool": pool_parameter()}, Claims(deterministic=False)
    yield Method(
        "random-subset",
        "K random landmarks of a pool of K0",
        fit,
        build_random,
        random,
        larger,
        docs=DOCS,
        waives=waived,
    )
    summary = "farthest-point landmarks from ten random starts, the best on validation queries"
    yield Method("fps-rr10", summary, fit, build_restarts, random, pool, docs=DOCS, waives=waived)


def build_alt(context: BuildContext) -> Built:
    """Build from the first landmarks of a pool; of a selector that does not grow one, choose again as many as fit."""
    context = counted(context)
    count = context.params["K"]
    while True:
        made = _labels(context, _pool(context, count))
        fits = count if isinstance(made, Unsupported) else made.facts.get("labels", count)
        if fits >= count or context.params["pool"] in GROWING:
            return made
        count = fits


def build_pool(context: BuildContext) -> Built:
    context = counted(context)
    pool = _pool(context, _pool_size(context))
    return _labels(context, pool.first(min(int(context.params["K"]), len(pool))))


def build_random(context: BuildContext) -> Built:
    import numpy as np

    context = counted(context)
    pool = _pool(context, _pool_size(context))
    chosen = np.random.default_rng(context.seed).choice(len(pool), min(context.params["K"], len(pool)), replace=False)
    return _labels(context, pool.take(chosen if "filled" in context.params else np.sort(chosen)))


def build_restarts(context: BuildContext) -> Built:
    """Build ALT from ten random first landmarks and return the one with the fewest validation expansions (`modern`)."""
    import numpy as np

    from aacbench.graphs import components

    if not len(context.validation):
        raise UsageError("fps-rr10 needs validation queries, and the protocol has none.")
    inside = components.largest(context.graph)
    starts = np.random.default_rng(context.seed).choice(inside, min(STARTS, len(inside)), replace=False)
    context = counted(context)
    best, least = None, None
    for number, start in enumerate(starts.tolist(), 1):
        context.progress(f"start {number} of {len(starts)}")
        candidate = _labels(context, context.pools.farthest(context.params["K"], start))
        if isinstance(candidate, Unsupported):
            return candidate
        expanded = expansions(context, candidate, context.validation)
        if least is None or expanded < least:
            best, least = candidate, expanded
    assert best is not None
    return best


def _pool(context: BuildContext, count: int) -> Any:
    """Return the selector's pool. The method's seed is not used, so one pool serves every seed."""
    return context.pools.selected(context.params["pool"], count)


def _pool_size(context: BuildContext) -> int:
    return max(int(context.params["K0"]), int(context.params["K"]))


def counted(context: BuildContext) -> BuildContext:
    from aacbench.labels import stores

    return stores.counted(context, "K")


def _labels(context: BuildContext, pool: Any) -> Built:
    from aacbench.labels.stores import deployed

    return deployed(context, pool, range(len(pool)))
