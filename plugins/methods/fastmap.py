"""FastMap (Cohen et al. 2018): the L1 distance of coordinates as a bound, and three variants of it."""

from collections.abc import Iterator
from typing import Any

from aacbench.contract.landmarks import does_not_fit
from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl

DOCS = "docs/methods/fastmap.md"
LARGEST_BOUND = 2.0**60  # of fastmap-paper: above every distance, and still safe in an integer search
SMALLEST_DIVISOR = 1e-10  # what the published code divides by once the pivots are no longer apart


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    dimensions = {"d": Parameter(0, "coordinates; 0 means as many as fit", minimum=0)}
    random = Claims(deterministic=False)
    undirected = Claims(deterministic=False, directed=False)
    summary = "FastMap, for undirected graphs"
    yield Method("fastmap", summary, fit_undirected, build_fastmap, undirected, dimensions, docs=DOCS)
    summary = "FastMap on the lesser weight of both directions"
    yield Method("fastmap-min", summary, fit, build_min, random, dimensions, docs=DOCS)
    yield Method("residual-dh", "distances over residual arcs", fit, build_residual, random, dimensions, docs=DOCS)
    yield Method(
        "fastmap-paper",
        "FastMap as published with the paper: inadmissible",
        fit_paper,
        build_paper,
        Claims(admissible=False, consistent=False),
        dimensions,
        docs=DOCS,
    )


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    return _fit_width(budget, info.label_bytes, params)


def fit_undirected(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    if not info.symmetric:
        return Unsupported("FastMap needs an undirected graph; use fastmap-min or residual-dh for directed ones")
    return fit(budget, info, params)


def fit_paper(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params as `fit` does; coordinates are float64, charged four bytes under the paper's convention."""
    return _fit_width(budget, 8, params)


def _fit_width(budget: Budget, width: int, params: Params) -> Params | Unsupported:
    fits, wanted = budget.values(width), params["d"]
    if fits < max(1, wanted):
        return does_not_fit("coordinates", wanted, budget, fits)
    return {**params, "d": wanted or fits}


def build_fastmap(context: BuildContext) -> LabelHeuristic:
    from aacbench.labels.embedding import integral

    return _coordinates(context, *integral(context.network))


def build_min(context: BuildContext) -> LabelHeuristic:
    from aacbench.labels.embedding import integral, least_of_both_ways
    from aacbench.search import network

    undirected = network(least_of_both_ways(context.graph), context.network.order)
    return _coordinates(context, *integral(undirected))


def build_residual(context: BuildContext) -> LabelHeuristic:
    import numpy as np

    from aacbench.labels.embedding import integral, one_sided, residual

    net, unit = integral(context.network)
    rows = residual(net, context.params["d"], np.random.default_rng(context.seed))
    return LabelHeuristic({"rows": _narrow(context, rows)}, one_sided, {"scale": unit or 1})


def build_paper(context: BuildContext) -> LabelHeuristic:
    """Build FastMap as the paper ran it, which is for replay only: its paths are not always shortest.

    A coordinate is (d(a, v)^2 + d(a, b)^2 - d(b, v)^2) / 2 d(a, b) over Euclidean residuals, with the same pivots a and
    b in every dimension. After the first one nothing is left between them, so the others are rounding noise, or on
    one-way arcs anything, divided by SMALLEST_DIVISOR; they are clipped so that bounds stay below LARGEST_BOUND.
    """
    import numpy as np

    from aacbench.graphs import components
    from aacbench.labels import distances
    from aacbench.labels.embedding import l1

    inside = components.largest(context.graph)
    a = int(inside[0])
    b = _farthest(context, a, inside)
    a = _farthest(context, b, inside)
    squares = [np.square(np.maximum(distances(context.network, pivot), 0).astype(np.float64)) for pivot in (a, b)]
    columns: list[Any] = []
    dimensions = context.params["d"]
    most = LARGEST_BOUND / (2 * dimensions)  # a dimension adds the difference of two coordinates
    for _ in range(dimensions):
        from_a, from_b = squares
        apart = np.sqrt(from_a[b])
        column = (from_a + from_a[b] - from_b) / (2 * max(apart, SMALLEST_DIVISOR))
        columns.append(np.clip(column, -most, most))
        squares = [
            np.maximum(left - np.square(column - column[pivot]), 0) for left, pivot in zip(squares, (a, b), strict=True)
        ]
    return LabelHeuristic({"rows": np.stack(columns, axis=1)}, l1, {"scale": 1})


def _coordinates(context: BuildContext, net: Any, unit: float | None) -> LabelHeuristic:
    import numpy as np

    from aacbench.labels.embedding import fastmap, l1

    rows = fastmap(net, context.params["d"], np.random.default_rng(context.seed))
    return LabelHeuristic({"rows": _narrow(context, rows)}, l1, {"scale": unit or 1})


def _narrow(context: BuildContext, rows: Any) -> Any:
    """Return the rows in the width that `fit` assumed; too large values are cut, which never increases a difference."""
    import numpy as np

    from aacbench.labels.graph_info import graph_info

    if graph_info(context.network).label_bytes == 8:
        return rows
    return np.minimum(rows, np.iinfo(np.int32).max).astype(np.int32)


def _farthest(context: BuildContext, vertex: int, inside: Any) -> int:
    import numpy as np

    from aacbench.labels import distances

    return int(inside[np.argmax(distances(context.network, vertex)[inside])])
