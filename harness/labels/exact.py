"""Exact distances from or to one vertex."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from itertools import islice

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.batch import checked_vertices
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.networks import Arcs, Network, borrow, give_back
from aacbench.util.compiled import allocation_free, inner


class Direction(Enum):
    """Distances from a vertex, or to it."""

    FROM = "from"
    TO = "to"


def distances(
    network: Network, vertex: int, direction: Direction = Direction.FROM, limit: float | None = None
) -> Array:
    """Return d(vertex, v), or d(v, vertex), for every v in the graph's own vertex order.

    The distance is -1 where there is no path, or none within the limit.
    """
    return placed_distances(network, vertex, direction, limit)[network.place]


def distance_rows(
    network: Network, vertices: Iterable[int], direction: Direction = Direction.FROM, threads: int = 2
) -> Iterator[Array]:
    """Yield `distances` of each vertex in turn; threads compute a few rows ahead, so that few are in memory."""
    remaining, under_way = iter(vertices), deque[Future[Array]]()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                wanted = islice(remaining, threads + 1 - len(under_way))
                under_way.extend(pool.submit(distances, network, int(vertex), direction) for vertex in wanted)
                if not under_way:
                    return
                yield under_way.popleft().result()
        finally:
            for row in under_way:  # of a consumer that stopped early
                row.cancel()


def placed_distances(
    network: Network, vertex: int, direction: Direction = Direction.FROM, limit: float | None = None
) -> Array:
    """Return the same in the network's vertex order; `vertex` is the graph's own number."""
    graph = network.graph
    (source,) = network.place[checked_vertices(network, vertex)]
    found = np.empty(graph.vertices, dtype=graph.weights.dtype)
    farthest = graph.weights.dtype.type(2**62 if graph.integral else np.inf)
    arcs = network.arcs if direction is Direction.FROM else network.backward
    work = borrow(network)
    at_most = farthest if limit is None or limit >= farthest else graph.weights.dtype.type(limit)
    one_to_all(arcs, source, at_most, found, work.heap)
    give_back(network, work)
    return found


def distances_from_all(network: Network, vertices: Array) -> Array:
    """Return the distance of each v, in the graph's own order, from the nearest of these vertices; -1 if none."""
    graph = network.graph
    sources = network.place[checked_vertices(network, vertices)].astype(np.int64)
    found = np.empty(graph.vertices, dtype=graph.weights.dtype)
    farthest = graph.weights.dtype.type(2**62 if graph.integral else np.inf)
    work = borrow(network)
    all_to_all(network.arcs, sources, farthest, found, work.heap)
    give_back(network, work)
    return found[network.place]


@allocation_free
def one_to_all(arcs: Arcs, source: int, limit: float, distances: Array, heap: Array) -> int:
    """Fill `distances` from the source, -1 if unreachable or beyond the limit; return how many vertices were settled.

    The heap needs room for one entry more than there are arcs.
    """
    distances[:] = -1
    distances[source] = 0
    zero = distances[source]  # in the type of the weights
    sift_up(heap, 0, zero, zero, np.uint32(0), np.uint32(source))
    return _settle(arcs, limit, distances, heap, 1)


@allocation_free
def all_to_all(arcs: Arcs, sources: Array, limit: float, distances: Array, heap: Array) -> int:
    """Fill `distances` from the nearest of several sources, as `one_to_all` does from one."""
    distances[:] = -1
    size = 0
    for source in sources:
        distances[source] = 0
        sift_up(heap, size, distances[source], distances[source], np.uint32(0), np.uint32(source))
        size += 1
    return _settle(arcs, limit, distances, heap, size)


@inner
def _settle(arcs: Arcs, limit: float, distances: Array, heap: Array, size: int) -> int:
    """Empty the heap, which has the sources; return how many vertices were settled."""
    zero = distances[heap[0].vertex]
    settled = 0
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
