"""Compiled Dijkstra: distances from one vertex to all, to one, or to all within a limit."""

import numpy as np

from aacbench.search.heap import sift_down, sift_up
from aacbench.util.compiled import kernel


@kernel
def one_to_all(arcs, source, limit, distances, heap):
    """Fill `distances` from source, -1 where unreachable or beyond the limit; returns how many were settled.

    `heap` holds at least as many entries as there are arcs, and one more.
    """
    distances[:] = -1
    distances[source] = 0
    zero = distances[source]  # in the type of the weights
    sift_up(heap, 0, zero, zero, np.uint32(0), np.uint32(source))
    size, settled = 1, 0
    indptr, heads, weights = arcs.indptr, arcs.heads, arcs.weights
    while size > 0:
        g, u = heap[0].f, heap[0].vertex
        size -= 1
        sift_down(heap, size)
        if g > distances[u]:
            continue
        settled += 1
        for arc in range(indptr[u], indptr[u + np.uint32(1)]):
            v = heads[arc]
            through = g + weights[arc]
            if through <= limit and (distances[v] < 0 or through < distances[v]):
                distances[v] = through
                sift_up(heap, size, through, zero, np.uint32(0), v)
                size += 1
    return settled
