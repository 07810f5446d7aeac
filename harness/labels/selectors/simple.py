"""Landmarks that need no distances to be chosen: at random, and by degree."""

import numpy as np

from aacbench.graphs import components
from aacbench.labels.pool import Pool, of_landmarks
from aacbench.search.networks import Network


def at_random(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Distinct vertices of the largest component; the first K of a longer run are the run for K."""
    return of_landmarks(network, rng.permutation(components.largest(network.graph))[:count])


def by_degree(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """The vertices with most arcs in and out, ties to the lowest vertex."""
    graph = network.graph
    degrees = np.diff(graph.indptr) + np.bincount(graph.indices, minlength=graph.vertices)
    inside = components.largest(graph)
    return of_landmarks(network, inside[np.argsort(-degrees[inside], kind="stable")[:count]])
