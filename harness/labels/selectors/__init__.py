"""Ways to choose a pool of landmarks, by name; all choose from the largest strong component."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.labels.pool import Pool, farthest_points, stored
from aacbench.labels.selectors.avoid import avoid
from aacbench.labels.selectors.maps import boundary, planar
from aacbench.labels.selectors.maxcover import maxcover
from aacbench.labels.selectors.mixed import mixed
from aacbench.labels.selectors.simple import at_random, by_degree
from aacbench.search.networks import Network
from aacbench.util import array_store as artifacts

Selector = Callable[[Network, int, np.random.Generator], Pool]


def _fps(network: Network, count: int, rng: np.random.Generator) -> Pool:
    return farthest_points(network, count)


SELECTORS: Mapping[str, Selector] = {
    "fps": _fps,
    "avoid": avoid,
    "random": at_random,
    "degree": by_degree,
    "planar": planar,
    "boundary": boundary,
    "maxcover": maxcover,
    "mixed": mixed,
}


def select(network: Network, selector: str, count: int, seed: int = 0) -> Pool:
    """The pool a selector chooses: `count` landmarks, or all vertices of a component that has fewer."""
    if selector not in SELECTORS:
        raise UsageError(f"there is no selector {selector!r}; there are {', '.join(SELECTORS)}.")
    if count < 1:
        raise UsageError(f"a pool has at least one landmark, not {count}.")
    room = len(components.largest(network.graph))
    began = time.perf_counter()
    pool = SELECTORS[selector](network, min(count, room), np.random.default_rng(seed))
    return replace(pool, seconds=time.perf_counter() - began)


def stored_selection(
    root: Path,
    network: Network,
    selector: str,
    count: int,
    seed: int = 0,
    *,
    check: Callable[[], None] = lambda: None,
) -> Pool:
    """`select` from disk where it is there, else computed, checked and put there."""
    made_from = {"selector": selector, "graph": network.graph.digest, "count": count, "seed": seed}
    key = artifacts.key_of({"pool": "selected/1", **made_from})
    return stored(root, key, lambda: select(network, selector, count, seed), check)
