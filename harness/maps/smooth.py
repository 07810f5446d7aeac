"""Smooth Bellman-Ford as the AAC paper's code runs it: shown beside exact distances, and never used for a bound."""

import numpy as np

from aacbench.graphs.record import Array, Graph

FAR = 1e18  # where no path has arrived yet


def smooth_distances(graph: Graph, source: int, beta: float) -> Array:
    """Return what smooth minima over neighbours and the vertex itself leave after V - 1 rounds; the source stays 0."""
    found = np.full(graph.vertices, FAR)
    found[source] = 0.0
    for _ in range(graph.vertices - 1):
        through = np.full(graph.vertices, -np.inf)
        np.logaddexp.at(through, graph.indices, -beta * (found[graph.sources] + graph.weights))
        found = np.logaddexp(through, -beta * found) / -beta
        found[source] = 0.0
    return found
