"""Where bounds to one target break a promise: one pass over all vertices and arcs."""

from typing import NamedTuple

from aacbench.graphs.record import Array
from aacbench.util.compiled import kernel


class Violations(NamedTuple):
    """How many vertices and arcs break the promise, and the one to show of each: that nearest to zero, -1 if none."""

    high: int
    vertex: int
    rising: int
    arc: int


def violations(
    indptr: Array, heads: Array, weights: Array, h: Array, known: Array, distance: Array, care: float
) -> Violations:
    """Bounds above the distance, and bounds that fall along an arc by more than its weight; all in one vertex order.

    `known` says which bounds are numbers; a distance of -1 is none. Only arcs from whose head the target can be reached
    count: nothing beyond them is on a path.
    """
    return Violations(*find_violations(indptr, heads, weights, h, known, distance, weights.dtype.type(care)))


@kernel
def find_violations(
    indptr: Array, heads: Array, weights: Array, h: Array, known: Array, distance: Array, care: float
) -> tuple[int, int, int, int]:
    """The kernel of `violations`; of equals it shows the first."""
    high, vertex, rising, arc = 0, -1, 0, -1
    for u in range(len(h)):
        if not known[u] or (distance[u] >= 0 and not h[u] <= distance[u] + care):
            high += 1
            if vertex < 0 or _nearer(distance[u], distance[vertex]):
                vertex = u
        if not known[u]:
            continue
        for a in range(indptr[u], indptr[u + 1]):
            v = heads[a]
            if known[v] and distance[v] >= 0 and not h[u] <= weights[a] + h[v] + care:
                rising += 1
                if arc < 0 or weights[a] + h[v] < weights[arc] + h[heads[arc]]:
                    arc = a
    return high, vertex, rising, arc


@kernel
def _nearer(one: float, other: float) -> bool:
    """Whether a distance is the smaller of two; one that does not exist is beyond all others."""
    return one >= 0 and (other < 0 or one < other)
