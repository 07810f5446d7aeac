"""FastMap as the paper ran it, to be replayed and not to be used: it claims nothing, and its paths are not shortest."""

from collections.abc import Iterator
from typing import Any

from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl

FARTHEST = 2.0**60  # beyond every distance; a search in whole numbers could not hold much more
LEAST = 1e-10  # what the published code divides by where a pair is no longer apart


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """FastMap with one pair of pivots for all dimensions."""
    yield Method(
        "fastmap-paper",
        "FastMap as published with the paper: inadmissible",
        fit,
        build,
        Claims(admissible=False, consistent=False),
        {"d": Parameter(0, "coordinates; 0 is as many as fit", minimum=0)},
    )


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Coordinates are float64, charged four bytes each under the paper's convention."""
    fits, wanted = budget.values(8), params["d"]
    if fits < max(1, wanted):
        return Unsupported(f"{max(1, wanted)} coordinates do not fit {budget.bytes_per_vertex:g} bytes per vertex")
    return {**params, "d": wanted or fits}


def build(context: BuildContext) -> LabelHeuristic:
    """Coordinates (d(a, v)^2 + d(a, b)^2 - d(b, v)^2) / 2 d(a, b) of Euclidean residuals, the same a and b each time.

    After the first, nothing is left between a and b, so the rest is rounding noise divided by LEAST, or, where arcs are
    one-way, anything divided by it: that is cut off where no distance is as long.
    """
    import numpy as np

    from aacbench.graphs import components
    from aacbench.labels import distances
    from aacbench.labels.sums import l1

    inside = components.largest(context.graph)
    a = int(inside[0])
    b = _farthest(context, a, inside)
    a = _farthest(context, b, inside)
    squares = [np.square(np.maximum(distances(context.network, pivot), 0).astype(np.float64)) for pivot in (a, b)]
    columns: list[Any] = []
    dimensions = context.params["d"]
    most = FARTHEST / (2 * dimensions)  # each adds the difference of two coordinates
    for _ in range(dimensions):
        from_a, from_b = squares
        apart = np.sqrt(from_a[b])
        column = (from_a + from_a[b] - from_b) / (2 * max(apart, LEAST))
        columns.append(np.clip(column, -most, most))
        squares = [
            np.maximum(left - np.square(column - column[pivot]), 0) for left, pivot in zip(squares, (a, b), strict=True)
        ]
    return LabelHeuristic({"rows": np.stack(columns, axis=1)}, l1, {"scale": 1})


def _farthest(context: BuildContext, vertex: int, inside: Any) -> int:
    import numpy as np

    from aacbench.labels import distances

    return int(inside[np.argmax(distances(context.network, vertex)[inside])])
