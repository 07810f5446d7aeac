"""Greedy selection of labels: repeatedly add the one that raises the bounds of given queries most."""

import heapq

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool


def label_bounds(pool: Pool, sources: Array, targets: Array) -> tuple[Array, Array]:
    """Return the bounds on each query by the labels d(l, v) and by the labels d(v, l), one row per landmark.

    Bounds are at least 0. On a symmetric graph one label serves both directions, and both arrays are the same.
    """
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
