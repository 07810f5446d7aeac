"""Label tables for deployment: rows by vertex in a chosen width, and the layout that searches with them."""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.labels.pool import Pool, of_landmarks
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.layouts import Layout, differential
from aacbench.search.networks import Network, with_weights

WIDTHS = ("exact", "float32")


def label_rows(pool: Pool, width: str = "exact") -> Array:
    """The labels of a pool, a row a vertex: d(l, v), followed on directed graphs by d(v, l).

    `exact` keeps the pool's own type: int32 or int64 for integer weights, float64 for float weights. `float32` halves
    float64 by rounding to nearest; use it with `rounding_margin`.
    """
    if width not in WIDTHS:
        raise UsageError(f"the label width must be one of {', '.join(WIDTHS)}, not {width!r}.")
    tables = [pool.forward] if pool.symmetric else [pool.forward, pool.backward]
    dtype = tables[0].dtype
    if width == "float32":
        if dtype.kind != "f":
            raise UsageError("float32 labels are for float weights; integer labels are already 4 bytes and exact.")
        dtype = np.dtype(np.float32)
        if max(float(table.max()) for table in tables) > float(np.finfo(np.float32).max):
            raise UsageError("these distances are too large for float32 labels; use exact ones.")
    return frozen(np.concatenate(tables, axis=0).T, dtype)


def rounding_margin(rows: Array) -> float:
    """What to take off a difference of two labels so that rounding cannot have raised it above the distance.

    Sums along a path are off by up to RELATIVE_TOLERANCE of the largest label; a float32 label by half a unit in its
    last place besides, so a difference of two by one unit. Integer labels are exact.
    """
    if rows.dtype.kind != "f" or not rows.size:
        return 0.0
    largest = float(rows.max())
    rounding = float(np.spacing(np.float32(largest))) if rows.dtype == np.float32 else 0.0
    return rounding + 2 * RELATIVE_TOLERANCE * largest


def fixed_point(network: Network, landmarks: Array) -> tuple[Pool, float]:
    """Integer labels of float weights, four bytes each, and what their unit is worth.

    Weights are rounded down to multiples of a power of two, small enough that distances just fit int32, and distances
    are computed on those, exactly. So the bound is sound and consistent, which rounding the distances would not be.
    """
    graph = network.graph
    if graph.integral:
        raise UsageError("fixed-point labels are for float weights; integer labels are already 4 bytes and exact.")
    pool = of_landmarks(network, landmarks)
    farthest = max(float(pool.forward.max()), float(pool.backward.max()))
    weights, unit = on_grid(graph.weights, farthest)
    return of_landmarks(with_weights(network, weights), landmarks), unit


def on_grid(weights: Array, farthest: float) -> tuple[Array, float]:
    """Weights rounded down to multiples of a power of two, such that distances up to `farthest` just fit int32."""
    exponent = int(np.frexp(max(farthest, np.finfo(np.float64).tiny))[1]) - 31  # farthest < 2^(exponent + 31)
    with np.errstate(over="ignore"):  # an arc longer than any distance is on no shortest path, so it may be cut
        whole = np.floor(np.minimum(np.ldexp(weights, -exponent), 2.0**31)).astype(np.int64)
    return whole, float(np.ldexp(1.0, exponent))


def alt_layout(
    network: Network, rows: Array, landmarks: int, *, scale: float | None = None, margin: float | None = None
) -> Layout:
    """The ALT bound over label rows in the graph's own vertex order, for searching this network.

    On a symmetric graph there may be a column a landmark, which serves both directions; otherwise there are two, those
    of d(l, v) first. The margin is `rounding_margin` unless given: 0 replays a search that took no care of rounding.
    """
    symmetric = rows.ndim == 2 and rows.shape[1] == landmarks
    if not symmetric and rows.shape[1:] != (2 * landmarks,):
        raise UsageError(f"labels of shape {rows.shape} do not fit {landmarks} landmarks.")
    columns = {"both": landmarks} if symmetric else {"forward": landmarks}
    care = rounding_margin(rows) if margin is None else margin
    return differential(network, rows, margin=care, scale=scale, **columns)
