"""Avoid (Goldberg and Werneck 2005): each landmark behind the region that the landmarks so far bound worst."""

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool
from aacbench.labels.selectors.growing import Growing
from aacbench.labels.selectors.trees import shortest_path_tree, worst_leaf
from aacbench.search.networks import Network


def avoid(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """So many landmarks, one after another; the first K of a longer run are the run for K."""
    grown = Growing(network)
    extend(grown, count, rng)
    return grown.pool()


def extend(grown: Growing, count: int, rng: np.random.Generator) -> None:
    """Add landmarks until there are `count`, or as many as the largest component has vertices."""
    inside = components.largest(grown.network.graph)
    while len(grown.landmarks) < min(count, len(inside)):
        grown.add(next_landmark(grown, inside, rng))


def next_landmark(grown: Growing, inside: Array, rng: np.random.Generator) -> int:
    """The leaf below the worst-bounded part of the shortest-path tree of a random root.

    Roots far from every landmark are likelier, by the square of that distance. Where no bound is off, the farthest
    vertex is taken.
    """
    root = _root(grown, inside, rng)
    distances, parents, order = shortest_path_tree(grown.network, root)
    member = np.zeros(len(distances), dtype=np.bool_)
    member[inside] = True
    slack = np.maximum(distances - grown.bounds_from(root), 0).astype(
        np.float64
    )  # sums of integers may not fit 64 bits
    blocked = np.zeros(len(distances), dtype=np.bool_)
    blocked[grown.landmarks] = True
    leaf = int(worst_leaf(order[member[order]], parents, slack, blocked))
    return leaf if leaf >= 0 else _farthest(grown, inside)


def _root(grown: Growing, inside: Array, rng: np.random.Generator) -> int:
    if not grown.landmarks:
        return int(rng.choice(inside))
    away = grown.away[inside]
    largest = away.max()
    share = np.square(away / largest) if largest > 0 else np.ones(len(inside))
    return int(rng.choice(inside, p=share / share.sum()))


def _farthest(grown: Growing, inside: Array) -> int:
    away = grown.away.copy()
    away[grown.landmarks] = -1
    return int(inside[np.argmax(away[inside])])
