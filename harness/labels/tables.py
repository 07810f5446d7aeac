"""Label tables for deployment: rows by vertex in a chosen width, and the layout that searches with them."""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.labels.pool import Pool, of_landmarks
from aacbench.search.layouts import Differential, differential
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
    return frozen(np.concatenate(tables, axis=0).T, dtype)


def rounding_margin(rows: Array) -> float:
    """What to take off a difference of two labels so that rounding can never have raised it above the distance.

    A float32 label is off by at most half a unit in its last place, so two are off by one unit of the largest. The
    float64 distances behind them carry errors far below that, for which as much again is a bound.
    """
    if rows.dtype != np.float32 or not rows.size:
        return 0.0
    return 2.0 * float(np.spacing(rows.max()))


def fixed_point(network: Network, landmarks: Array) -> tuple[Pool, float]:
    """Integer labels of float weights, four bytes each, and what their unit is worth.

    Weights are rounded down to multiples of a power of two, small enough that distances just fit int32, and distances
    are computed on those, exactly. So the bound is sound and consistent, which rounding the distances would not be.
    """
    graph = network.graph
    if graph.integral:
        raise UsageError("fixed-point labels are for float weights; integer labels are already 4 bytes and exact.")
    pool = of_landmarks(network, landmarks)
    farthest = max(float(pool.forward.max()), float(pool.backward.max()), np.finfo(np.float64).tiny)
    exponent = int(np.frexp(farthest)[1]) - 31  # farthest < 2^(exponent + 31)
    with np.errstate(over="ignore"):  # an arc longer than any distance is on no shortest path, so it may be cut
        weights = np.floor(np.minimum(np.ldexp(graph.weights, -exponent), 2.0**31)).astype(np.int64)
    return of_landmarks(with_weights(network, weights), landmarks), float(np.ldexp(1.0, exponent))


def alt_layout(network: Network, rows: Array, landmarks: int, scale: float | None = None) -> Differential:
    """The ALT bound over label rows in the graph's own vertex order, for searching this network.

    With as many columns as landmarks one table serves both directions; with twice as many the second half is d(v, l).
    """
    symmetric = rows.shape[1] == landmarks
    if not symmetric and rows.shape[1] != 2 * landmarks:
        raise UsageError(f"{rows.shape[1]} label columns do not fit {landmarks} landmarks.")
    columns = {"both": landmarks} if symmetric else {"forward": landmarks}
    return differential(rows[network.original], margin=rounding_margin(rows), scale=scale, **columns)
