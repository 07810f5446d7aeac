"""The greedy choice of labels: add the one that raises the bounds of given queries most, again and again."""

import heapq

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool


def label_bounds(pool: Pool, sources: Array, targets: Array) -> tuple[Array, Array]:
    """What each landmark's labels d(l, v), and its labels d(v, l), bound each query by: a row a landmark, at least 0.

    On a symmetric graph one label does both, and both arrays are the same.
    """
    ahead = _differences(pool.forward, targets, sources)
    if pool.symmetric:
        both = np.maximum(ahead, _differences(pool.forward, sources, targets))
        return both, both
    return ahead, _differences(pool.backward, sources, targets)


def greedy(bounds: Array, count: int) -> Array:
    """Rows whose largest bounds add up to most, chosen one after another; ties go to the lowest row.

    The sum of largest bounds is submodular: what a row adds can only fall as others are chosen. So what it would have
    added earlier is a limit, and only rows whose limit is the highest are asked again (lazy greedy, Minoux 1978).
    """
    if not 0 <= count <= len(bounds):
        raise UsageError(f"{count} cannot be chosen from {len(bounds)}.")
    best = np.zeros(bounds.shape[1], dtype=bounds.dtype)
    limits = [(-_gain(row, best), k) for k, row in enumerate(bounds)]
    heapq.heapify(limits)
    chosen: list[int] = []
    while len(chosen) < count:
        _, k = limits[0]
        limit = (-_gain(bounds[k], best), k)
        if len(limits) == 1 or limit <= min(limits[1:3]):  # the next highest is one of the first one's children
            heapq.heappop(limits)
            np.maximum(best, bounds[k], out=best)
            chosen.append(k)
        else:
            heapq.heapreplace(limits, limit)
    return np.array(chosen, dtype=np.int64)


def _differences(table: Array, larger: Array, smaller: Array) -> Array:
    """table[:, larger] - table[:, smaller], but 0 where that is negative or one of the two is unreachable."""
    wide = np.int64 if table.dtype.kind == "i" else np.float64
    a, b = table[:, larger].astype(wide), table[:, smaller].astype(wide)
    return np.where((a < 0) | (b < 0), 0, np.maximum(a - b, 0))


def _gain(row: Array, best: Array) -> float:
    """What a row adds to the sum, exactly for whole numbers: differences first, since sums may be large."""
    return np.maximum(row - best, 0).sum().item()
