"""A pool of several kinds, for methods that choose a few of many: farthest points, avoid and random."""

import numpy as np

from aacbench.graphs import components
from aacbench.labels.pool import Pool, farthest_points
from aacbench.labels.selectors.avoid import extend
from aacbench.labels.selectors.growing import Growing
from aacbench.search.networks import Network


def mixed(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Half by farthest points, a quarter by avoid beside those, the rest at random; no vertex twice."""
    inside = components.largest(network.graph)
    count = min(count, len(inside))
    spread = farthest_points(network, (count + 1) // 2)
    grown = Growing.of(network, spread)
    extend(grown, len(spread) + count // 4, rng)
    for vertex in rng.permutation(np.setdiff1d(inside, grown.landmarks))[: count - len(grown.landmarks)].tolist():
        grown.add(vertex)
    return grown.pool()
