"""Dijkstra ranks: how far away a target is, counted in vertices a search settles before it."""

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.queries.record import QuerySet
from aacbench.queries.sampling import component_vertices, random_state
from aacbench.util.compiled import kernel


def dijkstra_ranks(graph: Graph, queries: QuerySet) -> Array:
    """For each query, how many vertices Dijkstra settles up to and including the target; -1 where unreachable.

    Of equally distant vertices in the queue the lowest id is settled first; the source always has rank 1.
    """
    queries.check_fits(graph)
    ranks = np.empty(len(queries), dtype=np.int64)
    order = np.empty(graph.vertices, dtype=np.int64)
    for place, (source, target) in enumerate(zip(queries.sources, queries.targets, strict=True)):
        count = settle(graph.indptr, graph.indices, graph.weights, source, target, order)
        ranks[place] = count if order[count - 1] == target else -1
    return ranks


def strata(ranks: npt.ArrayLike) -> Array:
    """The stratum floor(log2(rank)) of each rank, and -1 for the rank -1 of an unreachable target."""
    given = np.asarray(ranks)
    if given.size and (given.dtype.kind not in "iu" or ((given < 1) & (given != -1)).any()):
        raise UsageError("ranks are whole numbers from 1, or -1 for an unreachable target.")
    exponents = np.frexp(given.astype(np.float64))[1].astype(np.int64)  # exact, where log2 could round up
    return np.where(given == -1, -1, exponents - 1)


def sample_by_rank(
    graph: Graph, per_stratum: int, *, seed: int = 42, component: npt.ArrayLike | None = None
) -> QuerySet:
    """Queries from `per_stratum` random sources to targets of rank 2, 4, 8, ... each; `buckets` are the strata.

    Where the vertex of rank 2^k lies outside the component, the next inside it of the same stratum takes its place; a
    source with none has no query there. One source's queries follow each other, so that every prefix is balanced.
    """
    vertices = component_vertices(graph, component)
    if not 0 <= per_stratum <= len(vertices):
        raise UsageError(f"{per_stratum} different sources cannot be drawn from {len(vertices)} vertices.")
    inside = np.zeros(graph.vertices, dtype=np.bool_)
    inside[vertices] = True
    order = np.empty(graph.vertices, dtype=np.int64)
    found: list[tuple[int, int, int]] = []
    for source in random_state(seed).permutation(vertices)[:per_stratum]:
        count = settle(graph.indptr, graph.indices, graph.weights, source, -1, order)
        found += [(source, target, k) for k, target in _targets(order[:count], inside)]
    sources, targets, buckets = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return QuerySet(sources=sources, targets=targets, buckets=buckets, name=graph.name, mode="rank", seed=seed)


def _targets(order: Array, inside: Array) -> list[tuple[int, int]]:
    ranks = np.flatnonzero(inside[order]) + 1
    chosen = []
    for k in range(1, len(order).bit_length()):
        place = int(np.searchsorted(ranks, 2**k))
        if place < len(ranks) and ranks[place] < 2 ** (k + 1):
            chosen.append((k, int(order[ranks[place] - 1])))
    return chosen


@kernel
def settle(indptr: Array, indices: Array, weights: Array, source: int, until: int, order: Array) -> int:
    """Write vertices to `order` as Dijkstra settles them, stop after `until`, and return how many there are."""
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
        if u == until:
            break
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            through = near + weights[arc]
            if not reached[v] or through < distance[v]:
                reached[v] = True
                distance[v] = through
                heappush(heap, (through, v))
    return count
