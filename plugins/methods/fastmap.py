"""FastMap (Cohen et al. 2018): bounds by the L1 distance of coordinates; on directed graphs by two relatives."""

from collections.abc import Iterator
from typing import Any

from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """FastMap, FastMap on the lesser of both directions, and distances over residual arcs."""
    dimensions = {"d": Parameter(0, "coordinates; 0 is as many as fit", minimum=0)}
    random, both = Claims(deterministic=False), Claims(deterministic=False, directed=False)
    yield Method("fastmap", "FastMap, for undirected graphs", fit_undirected, build_fastmap, both, dimensions)
    yield Method("fastmap-min", "FastMap on the lesser weight of both directions", fit, build_min, random, dimensions)
    yield Method("residual-dh", "distances over what earlier labels left", fit, build_residual, random, dimensions)


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """A coordinate is as wide as a distance label; on float weights four bytes, on a grid."""
    fits, wanted = budget.values(info.label_bytes), params["d"]
    if fits < max(1, wanted):
        return Unsupported(f"{max(1, wanted)} coordinates do not fit {budget.bytes_per_vertex:g} bytes per vertex")
    return {**params, "d": wanted or fits}


def fit_undirected(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """As `fit`, on graphs whose arcs all have an equal reverse."""
    if not info.symmetric:
        return Unsupported("FastMap is for undirected graphs; fastmap-min and residual-dh are for directed ones too")
    return fit(budget, info, params)


def build_fastmap(context: BuildContext) -> LabelHeuristic:
    """Coordinates of the graph itself."""
    from aacbench.labels.embedding import integral

    return _coordinates(context, *integral(context.network))


def build_min(context: BuildContext) -> LabelHeuristic:
    """Coordinates of the undirected graph with the lesser weight of both directions."""
    from aacbench.labels.embedding import integral, undirected

    return _coordinates(context, *integral(undirected(context.network)))


def build_residual(context: BuildContext) -> LabelHeuristic:
    """Distances to far vertices, each over what the ones before left of the arcs."""
    import numpy as np

    from aacbench.labels.embedding import integral, residual
    from aacbench.labels.sums import one_sided

    net, unit = integral(context.network)
    rows = residual(net, context.params["d"], np.random.default_rng(context.seed))
    return LabelHeuristic({"rows": _narrow(context, rows)}, one_sided, {"scale": unit or 1})


def _coordinates(context: BuildContext, net: Any, unit: float | None) -> LabelHeuristic:
    import numpy as np

    from aacbench.labels.embedding import fastmap
    from aacbench.labels.sums import l1

    rows = fastmap(net, context.params["d"], np.random.default_rng(context.seed))
    return LabelHeuristic({"rows": _narrow(context, rows)}, l1, {"scale": unit or 1})


def _narrow(context: BuildContext, rows: Any) -> Any:
    """In the width that `fit` reckoned with; what is too large is cut, by which no difference grows."""
    import numpy as np

    from aacbench.labels.graph_info import graph_info

    if graph_info(context.network).label_bytes == 8:
        return rows
    return np.minimum(rows, np.iinfo(np.int32).max).astype(np.int32)
