"""Which vertex holds which pivots: in turn by number, or by a colouring in which neighbours differ."""

import numpy as np

from aacbench.graphs.record import Array, Graph
from aacbench.util.compiled import kernel

_NEIGHBOUR = 2**20  # a neighbour of the same colour is worse than any number of vertices two steps away


def colouring(graph: Graph, colours: int) -> Array:
    """A colour for each vertex: that of the fewest neighbours, then of the fewest vertices two steps away."""
    dtype = np.uint8 if colours <= 256 else np.uint16
    reverse = graph.reverse
    arcs = (graph.indptr, graph.indices, reverse.indptr, reverse.indices)
    return greedy_colours(*arcs, colours).astype(dtype)


@kernel
def greedy_colours(indptr, indices, rindptr, rindices, colours):
    """Vertices in order of their number; of equal colours the one least used so far, then the lowest."""
    vertices = len(indptr) - 1
    colour = np.full(vertices, -1, dtype=np.int64)
    used = np.zeros(colours, dtype=np.int64)
    cost = np.zeros(colours, dtype=np.int64)
    for v in range(vertices):
        cost[:] = 0
        for u in indices[indptr[v] : indptr[v + 1]]:
            _count(cost, colour, u, indptr, indices, rindptr, rindices)
        for u in rindices[rindptr[v] : rindptr[v + 1]]:
            _count(cost, colour, u, indptr, indices, rindptr, rindices)
        best = 0
        for c in range(1, colours):
            if cost[c] < cost[best] or (cost[c] == cost[best] and used[c] < used[best]):
                best = c
        colour[v] = best
        used[best] += 1
    return colour


@kernel
def _count(cost, colour, u, indptr, indices, rindptr, rindices):
    if colour[u] >= 0:
        cost[colour[u]] += _NEIGHBOUR
    for w in indices[indptr[u] : indptr[u + 1]]:
        if colour[w] >= 0:
            cost[colour[w]] += 1
    for w in rindices[rindptr[u] : rindptr[u + 1]]:
        if colour[w] >= 0:
            cost[colour[w]] += 1


def farthest(table: Array, kept: int) -> Array:
    """For each vertex the rows of the `kept` largest distances; of equals the last, as the paper's counts have it."""
    return np.argsort(table.T, axis=1, kind="stable")[:, table.shape[0] - kept :]
