"""Landmark labels for deployment: tables with one row per vertex, their rounding, and ALT heuristics from them.

Labels are chosen greedily: the one that raises the bounds of given queries most is added repeatedly.
"""

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from aacbench.contract.method import LabelHeuristic
from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.labels.pool import Pool, of_landmarks
from aacbench.labels.statistics import selection_facts
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.layouts import Layout, differential
from aacbench.search.networks import Network, with_weights

WIDTHS = ("exact", "float32")


def label_rows(pool: Pool, width: str = "exact") -> Array:
    """Return the labels of a pool, one row per vertex: d(l, v), followed on directed graphs by d(v, l).

    The width `exact` keeps the pool's type: int32 or int64 for integer weights, float64 for float weights. `float32`
    rounds float64 labels to nearest; use it with `rounding_margin`.
    """
    if width not in WIDTHS:
        raise UsageError(f"Unknown label width {width!r}. Known: {', '.join(WIDTHS)}.")
    tables = [pool.forward] if pool.symmetric else [pool.forward, pool.backward]
    dtype = tables[0].dtype
    if width == "float32":
        if dtype.kind != "f":
            raise UsageError("float32 labels are for float weights; labels of integer weights are exact.")
        dtype = np.dtype(np.float32)
        if max(float(table.max()) for table in tables) > float(np.finfo(np.float32).max):
            raise UsageError("The distances are too large for float32 labels; use exact ones.")
    return frozen(np.concatenate(tables, axis=0).T, dtype)


def rounding_margin(rows: Array) -> float:
    """Return the margin to subtract from a difference of two labels so that it cannot exceed the distance.

    A sum along a path is off by up to RELATIVE_TOLERANCE of the largest label. A float32 label is also off by half a
    unit in its last place, so a difference of two by one unit. Integer labels are exact.
    """
    if rows.dtype.kind != "f" or not rows.size:
        return 0.0
    largest = float(rows.max())
    rounding = float(np.spacing(np.float32(largest))) if rows.dtype == np.float32 else 0.0
    return rounding + 2 * RELATIVE_TOLERANCE * largest


def fixed_point(network: Network, landmarks: Array) -> tuple[Pool, float]:
    """Return a pool of 4-byte integer labels for float weights, and the value of one label unit.

    Weights are rounded down to multiples of a power of two, such that distances just fit int32. Distances over these
    weights are exact, so the bound is admissible and consistent; rounded distances would not be.
    """
    graph = network.graph
    if graph.integral:
        raise UsageError("Fixed-point labels are for float weights; labels of integer weights are exact in 4 bytes.")
    pool = of_landmarks(network, landmarks)
    farthest = max(float(pool.forward.max()), float(pool.backward.max()))
    weights, unit = on_grid(graph.weights, farthest)
    return of_landmarks(with_weights(network, weights), landmarks), unit


def on_grid(weights: Array, farthest: float) -> tuple[Array, float]:
    """Return weights rounded down to multiples of a unit, and the unit.

    The unit is the power of two for which distances up to `farthest` just fit int32.
    """
    exponent = int(np.frexp(max(farthest, np.finfo(np.float64).tiny))[1]) - 31  # farthest < 2^(exponent + 31)
    with np.errstate(over="ignore"):  # arcs longer than any distance are on no shortest path
        whole = np.floor(np.minimum(np.ldexp(weights, -exponent), 2.0**31)).astype(np.int64)
    return whole, float(np.ldexp(1.0, exponent))


def alt_layout(
    network: Network, rows: Array, landmarks: int, *, scale: float | None = None, margin: float | None = None
) -> Layout:
    """Return the layout of the ALT bound over label rows in the graph's own vertex order.

    One column per landmark serves both directions, which needs a symmetric graph. With two columns per landmark, those
    of d(l, v) come first. The margin is `rounding_margin` by default; 0 replays a search that ignored rounding.
    """
    symmetric = rows.ndim == 2 and rows.shape[1] == landmarks
    if not symmetric and rows.shape[1:] != (2 * landmarks,):
        raise UsageError(f"Labels of shape {rows.shape} do not fit {landmarks} landmarks.")
    columns: dict[str, Any] = {"both": landmarks} if symmetric else {"forward": landmarks}
    safe = rounding_margin(rows) if margin is None else margin
    return differential(network, rows, margin=safe, scale=scale, **columns)


def subset(
    network: Network, pool: Pool, forward: npt.ArrayLike, backward: npt.ArrayLike | None = None, labels: str = "exact"
) -> LabelHeuristic:
    """Return the heuristic with the labels d(l, v) of the landmarks at `forward`, and d(v, l) of those at `backward`.

    Both are positions in the pool. Without `backward`, each landmark serves both directions: with one label on a
    symmetric graph, else with two. `labels` is exact, fixed (fixed-point) or replay (exact, without a margin). The
    facts of the heuristic are statistics of the selection.
    """
    ahead = np.asarray(forward, dtype=np.int64)
    back = ahead if backward is None else np.asarray(backward, dtype=np.int64)
    facts = selection_facts(network.graph, pool, ahead, back, both=backward is None and pool.symmetric)
    settings: dict[str, Any] = {}
    if labels == "fixed":
        wanted = np.unique(np.concatenate((ahead, back)))
        pool, settings["scale"] = fixed_point(network, pool.landmarks[wanted])
        ahead, back = np.searchsorted(wanted, ahead), np.searchsorted(wanted, back)
    if backward is None and pool.symmetric:
        rows, columns = _rows(pool.forward[ahead]), {"both": len(ahead)}
    else:
        rows, columns = _rows(pool.forward[ahead], pool.backward[back]), {"forward": len(ahead)}
    if rows.dtype.kind == "f" and labels != "replay":
        settings["margin"] = rounding_margin(rows)
    return LabelHeuristic({"rows": rows}, "differential", settings | columns, facts=facts)


def _rows(*tables: Array) -> Array:
    return frozen(np.concatenate(tables, axis=0).T, np.result_type(*tables))


@njit
def single_precision(labels: Any, u: int, t: int) -> Any:
    """The differential bound computed in float32, as in the paper's code: rounding may raise it above the distance.

    The columns are in the order of `Differential`: `both`, `forward`, then the rest.
    """
    best = np.float32(0)
    turn = labels.both + labels.forward
    for k in range(labels.rows.shape[1]):
        here, there = labels.rows[u, k], labels.rows[t, k]
        if here >= 0 and there >= 0:
            if k < turn:
                best = max(best, there - here)
            if k < labels.both or k >= turn:
                best = max(best, here - there)
    return np.float64(best)


def label_bounds(pool: Pool, sources: Array, targets: Array) -> tuple[Array, Array]:
    """Return the bounds on each query by the labels d(l, v) and by the labels d(v, l), one row per landmark.

    Bounds are at least 0. On a symmetric graph one label serves both directions, and both arrays are the same. The pool
    may be one at some vertices.
    """
    sources, targets = pool.columns_of(sources), pool.columns_of(targets)
    ahead = _differences(pool.forward, targets, sources)
    if pool.symmetric:
        both = np.maximum(ahead, _differences(pool.forward, sources, targets))
        return both, both
    return ahead, _differences(pool.backward, sources, targets)


def greedy(bounds: Array, count: int) -> Array:
    """Return `count` rows chosen one by one, each maximising the summed largest bound; ties go to the lowest row.

    The sum is submodular: the gain of a row only falls as others are chosen. An earlier gain is thus an upper limit,
    and only the row with the highest limit is evaluated again (lazy greedy, Minoux 1978).
    """
    if not 0 <= count <= len(bounds):
        raise UsageError(f"Cannot choose {count} rows from {len(bounds)}.")
    best = np.zeros(bounds.shape[1], dtype=bounds.dtype)
    limits = [(-_gain(row, best), k) for k, row in enumerate(bounds)]
    heapq.heapify(limits)
    chosen: list[int] = []
    while len(chosen) < count:
        _, k = limits[0]
        limit = (-_gain(bounds[k], best), k)
        if len(limits) == 1 or limit <= min(limits[1:3]):  # the second highest is a child of the root
            heapq.heappop(limits)
            np.maximum(best, bounds[k], out=best)
            chosen.append(k)
        else:
            heapq.heapreplace(limits, limit)
    return np.array(chosen, dtype=np.int64)


def _differences(table: Array, larger: Array, smaller: Array) -> Array:
    """Return table[:, larger] - table[:, smaller], but 0 where it is negative or a label is unreachable."""
    wide = np.int64 if table.dtype.kind == "i" else np.float64
    a, b = table[:, larger].astype(wide), table[:, smaller].astype(wide)
    return np.where((a < 0) | (b < 0), 0, np.maximum(a - b, 0))


def _gain(row: Array, best: Array) -> float:
    """Return the gain of a row; exact for integers, since differences are taken before the sum."""
    return np.maximum(row - best, 0).sum().item()
