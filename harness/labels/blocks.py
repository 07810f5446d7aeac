"""Labels on a graph of equal blocks without arcs between them: one search from a cell of every block at once."""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import distances_from_all
from aacbench.labels.pool import table
from aacbench.search.networks import Network


def block_labels(network: Network, block: int, cells: Array) -> Array:
    """Return for each vertex, one row each, its distance from each of these cells of its own block."""
    first = np.arange(0, network.graph.vertices, block)
    rows = [distances_from_all(network, first + int(cell)) for cell in cells]
    if not rows:
        return np.empty((network.graph.vertices, 0), dtype=np.int32 if network.graph.integral else np.float64)
    return np.ascontiguousarray(table(rows).T)
