"""Compiled Dijkstra: distances from one vertex to all, to one, or to all within a limit."""

import numpy as np

from aacbench.compiled import kernel
from aacbench.graphs.record import Array
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.networks import Arcs


@kernel
def one_to_all(arcs: Arcs, source: int, limit, distances: Array, heap: Array) -> int:
    """Fill `distances` from source, -1 where unreachable or beyond the limit; returns how many were settled.

    `heap` holds at least as many entries as there are arcs, and one more.
    """
    distances[:] = -1
    distances[source] = 0
    zero = distances[source]  # in the type of the weights
    sift_up(heap, 0, zero, zero, np.uint32(0), source)
    size, settled = 1, 0
    while size > 0:
        g, u = heap[0].f, heap[0].vertex
        size -= 1
        sift_down(heap, size)
        if g > distances[u]:
            continue
        settled += 1
        for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = arcs.heads[arc]
            through = g + arcs.weights[arc]
            if through <= limit and (distances[v] < 0 or through < distances[v]):
                distances[v] = through
                sift_up(heap, size, through, zero, np.uint32(0), v)
                size += 1
    return settled
