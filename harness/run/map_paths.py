"""Paths from corner to corner of maps by either rule of edges, and distances on true costs."""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import distances
from aacbench.maps.atlas import atlas
from aacbench.maps.grid import reach, solve
from aacbench.maps.names import CELLS
from aacbench.queries.in_maps import corner_queries
from aacbench.queries.record import QuerySet
from aacbench.search import dijkstra
from aacbench.search.networks import network


def corner_walks(costs: Array, edges: str) -> list[Array]:
    """Return the cells of a shortest path of each map, in order."""
    net = network(atlas(costs, edges))
    corners = corner_queries(net.graph)
    paths = dijkstra(net, corners.sources, corners.targets, paths=True).paths
    assert paths is not None
    return [path % costs[0].size for path in paths]


def corner_paths(costs: Array, edges: str) -> Array:
    """Return the cells of a shortest path of each map as 0 and 1; ties are those of the data set's labels, if any."""
    if edges == CELLS:
        return solve(costs).paths
    marked = np.zeros((len(costs), costs[0].size), dtype=np.uint8)
    for number, walk in enumerate(corner_walks(costs, edges)):
        marked[number, walk] = 1
    return marked.reshape(costs.shape)


def true_optima(truth: Array, queries: QuerySet) -> Array:
    """Return the least sum of true costs along a path of each query, in units."""
    cells = truth[0].size
    ends = zip(queries.sources.tolist(), queries.targets.tolist(), strict=True)
    return np.array([reach(truth[s // cells], s % cells)[0][t % cells] for s, t in ends], dtype=np.int64)


def distances_to(costs: Array, edges: str, cell: int) -> Array:
    """Return the distance of each cell of a map to one of them."""
    if edges == CELLS:
        flat = costs.reshape(-1).astype(np.int64)
        return 2 * reach(costs, cell)[0] - flat - flat[cell]
    return distances(network(atlas(costs[None], edges)), cell)


def query_distances(truth: Array, edges: str, queries: QuerySet, optima: Array) -> Array:
    """Return the distance of each query's ends by true costs, in units; `optima` are the sums of its cells."""
    if edges == CELLS:
        flat = truth.reshape(-1).astype(np.int64)
        return 2 * optima - flat[queries.sources] - flat[queries.targets]
    return dijkstra(network(atlas(truth, edges)), queries.sources, queries.targets).cost
