"""Labels on a graph of equal blocks without arcs between them: one search from a cell of every block at once."""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import distances_from_all
from aacbench.labels.pool import farthest_points
from aacbench.labels.table import Table
from aacbench.maps.atlas import atlas
from aacbench.search.networks import Network, network


def farthest_cells(side: int, count: int) -> Array:
    """Return cells of a map of equal costs, each as far as can be from those before it, from the first corner on."""
    return farthest_points(network(atlas(np.ones((1, side, side), dtype=np.int32))), count).landmarks


def block_labels(net: Network, block: int, cells: Array) -> Array:
    """Return for each vertex, one row each, its distance from each of these cells of its own block."""
    first = np.arange(0, net.graph.vertices, block)
    table = Table(len(cells))
    for k, cell in enumerate(cells):
        table.put(k, distances_from_all(net, first + int(cell)))
    return np.ascontiguousarray(table.finished().T)
