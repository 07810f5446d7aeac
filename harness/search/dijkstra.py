"""Compiled Dijkstra: distances from one vertex to all, to one, or to all within a limit."""

import numpy as np

from aacbench.compiled import kernel
from aacbench.graphs.record import Array
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.network import Arcs


@kernel
def one_to_all(arcs: Arcs, source: int, limit, distances: Array, heap: Array) -> int:  # type: ignore[no-untyped-def]
    """Fill `distances` from source, -1 where unreachable or beyond the limit; returns how many were settled.

    `heap` holds at least as many entries as there are arcs, and one more.
    """
    distances[:] = -1
    tentative = distances  # a distance is final once popped; before, it is an upper bound that only falls
    zero = limit - limit
    tentative[source] = zero
    sift_up(heap, 0, zero, zero, np.uint32(0), source)
    size, settled = 1, 0
    while size > 0:
        g, u = heap[0].f, heap[0].vertex
        size -= 1
        sift_down(heap, size)
        if g > tentative[u]:
            continue
        settled += 1
        for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = arcs.heads[arc]
            through = g + arcs.weights[arc]
            if through <= limit and (tentative[v] < 0 or through < tentative[v]):
                tentative[v] = through
                sift_up(heap, size, through, zero, np.uint32(0), v)
                size += 1
    return settled
