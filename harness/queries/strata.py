"""Queries by Dijkstra rank: how many vertices a search from the source settles up to the target."""

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.queries.record import QuerySet
from aacbench.queries.sampling import component_vertices, random_state
from aacbench.util.compiled import kernel


def sample_by_rank(graph: Graph, sources: int, *, seed: int = 42, component: npt.ArrayLike | None = None) -> QuerySet:
    """Draw different sources, each with a query to the vertices of rank 2, 4, 8, ...; `buckets` are the strata 1, 2, 3.

    Stratum k holds the ranks from 2^k to 2^(k+1) - 1. Where the vertex of rank 2^k lies outside the component, the next
    one of the stratum inside it is the target; where there is none, the source has no query in that stratum. Queries of
    a source follow each other, and fewer sources give the beginning of the same set.
    """
    vertices = component_vertices(graph, component)
    if not 0 <= sources <= len(vertices):
        raise UsageError(f"Cannot draw {sources} different sources from a component of {len(vertices)} vertices.")
    inside = np.zeros(graph.vertices, dtype=np.bool_)
    inside[vertices] = True
    order = np.empty(graph.vertices, dtype=np.int64)
    queries: list[tuple[int, int, int]] = []
    for source in random_state(seed).permutation(vertices)[:sources]:
        settled = settle(graph.indptr, graph.indices, graph.weights, source, order)
        queries += [(source, target, k) for k, target in _targets(order[:settled], inside)]
    starts, targets, buckets = np.array(queries, dtype=np.int64).reshape(-1, 3).T
    return QuerySet(sources=starts, targets=targets, buckets=buckets, name=graph.name, mode="strata", seed=seed)


def _targets(order: Array, inside: Array) -> list[tuple[int, int]]:
    ranks = np.flatnonzero(inside[order]) + 1
    chosen = []
    for k in range(1, len(order).bit_length()):
        place = int(np.searchsorted(ranks, 2**k))
        if place < len(ranks) and ranks[place] < 2 ** (k + 1):
            chosen.append((k, int(order[ranks[place] - 1])))
    return chosen


@kernel
def settle(indptr: Array, indices: Array, weights: Array, source: int, order: Array) -> int:
    """Write vertices to `order` as Dijkstra settles them, the lowest id first among equals; return how many."""
    distance = np.zeros(len(order), weights.dtype)
    reached = np.zeros(len(order), np.bool_)
    settled = np.zeros(len(order), np.bool_)
    reached[source] = True
    heap = [(distance[source], np.int64(source))]
    count = 0
    while len(heap) > 0:
        near, u = heappop(heap)
        if settled[u]:
            continue
        settled[u] = True
        order[count] = u
        count += 1
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            through = near + weights[arc]
            if not reached[v] or through < distance[v]:
                reached[v] = True
                distance[v] = through
                heappush(heap, (through, v))
    return count
