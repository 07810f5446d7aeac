"""Selectors: named ways to choose a pool of landmarks from the largest strong component."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.labels.pool import Pool, farthest_points, of_landmarks, stored
from aacbench.labels.selectors.avoid import avoid, extend
from aacbench.labels.selectors.growing import Growing
from aacbench.labels.selectors.maps import boundary, planar
from aacbench.labels.selectors.maxcover import maxcover
from aacbench.search.networks import Network
from aacbench.util import array_store

Selector = Callable[[Network, int, np.random.Generator], Pool]


def _fps(network: Network, count: int, rng: np.random.Generator) -> Pool:
    return farthest_points(network, count)


def _at_random(network: Network, count: int, rng: np.random.Generator) -> Pool:
    return of_landmarks(network, rng.permutation(components.largest(network.graph))[:count])


def _by_degree(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Return the vertices with the most arcs in and out; ties go to the lowest vertex."""
    graph = network.graph
    degrees = np.diff(graph.indptr) + np.bincount(graph.indices, minlength=graph.vertices)
    inside = components.largest(graph)
    return of_landmarks(network, inside[np.argsort(-degrees[inside], kind="stable")[:count]])


def _mixed(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Return half farthest points, a quarter chosen by avoid given those, and the rest at random, all distinct."""
    inside = components.largest(network.graph)
    count = min(count, len(inside))
    spread = farthest_points(network, (count + 1) // 2)
    grown = Growing.of(network, spread)
    extend(grown, len(spread) + count // 4, rng)
    for vertex in rng.permutation(np.setdiff1d(inside, grown.landmarks))[: count - len(grown.landmarks)].tolist():
        grown.add(vertex)
    return grown.pool()


SELECTORS: Mapping[str, Selector] = {
    "fps": _fps,
    "avoid": avoid,
    "random": _at_random,
    "degree": _by_degree,
    "planar": planar,
    "boundary": boundary,
    "maxcover": maxcover,
    "mixed": _mixed,
}


def select(network: Network, selector: str, count: int, seed: int = 0) -> Pool:
    """Return a pool of `count` landmarks, or of all vertices if the component has fewer."""
    if selector not in SELECTORS:
        raise UsageError(f"Unknown selector {selector!r}. Known: {', '.join(SELECTORS)}.")
    if count < 1:
        raise UsageError(f"A pool needs at least one landmark, not {count}.")
    vertices = len(components.largest(network.graph))
    began = time.perf_counter()
    pool = SELECTORS[selector](network, min(count, vertices), np.random.default_rng(seed))
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
    made_from = {"selector": selector, "graph": network.graph.digest, "count": count, "seed": seed}
    key = array_store.key_of({"pool": "selected/1", **made_from})
    return stored(root, key, lambda: select(network, selector, count, seed), check)
