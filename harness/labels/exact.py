"""Exact distances from or to one vertex, in the graph's own vertex order."""

from enum import Enum

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.networks import Network
from aacbench.search.one_to_all import one_to_all
from aacbench.search.workspace import borrow, give_back


class Direction(Enum):
    """Whether distances lead from the vertex or to it."""

    FROM = "from"
    TO = "to"


def distances(
    network: Network, vertex: int, direction: Direction = Direction.FROM, limit: float | None = None
) -> Array:
    """d(vertex, v), or d(v, vertex), for every v; -1 where unreachable or beyond the limit."""
    graph = network.graph
    if not 0 <= vertex < graph.vertices:
        raise UsageError(f"vertex {vertex} is not in the graph, which has vertices 0..{graph.vertices - 1}.")
    found = np.empty(graph.vertices, dtype=graph.weights.dtype)
    farthest = graph.weights.dtype.type(2**62 if graph.integral else np.inf)
    arcs = network.arcs if direction is Direction.FROM else network.backward
    work = borrow(network)
    at_most = farthest if limit is None or limit >= farthest else graph.weights.dtype.type(limit)
    one_to_all(arcs, network.place[vertex], at_most, found, work.heap)
    give_back(network, work)
    return found[network.place]
