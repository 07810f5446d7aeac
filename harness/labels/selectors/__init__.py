"""Selectors: named ways to choose a pool of landmarks from the largest strong component."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool, farthest_points, of_landmarks, stored
from aacbench.labels.selectors.avoid import Growing, avoid, extend
from aacbench.labels.selectors.maxcover import maxcover
from aacbench.search.networks import Network
from aacbench.util import array_store

Selector = Callable[[Network, int, np.random.Generator], Pool]

BINS = 8  # directions per landmark of the boundary


def planar(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Return the vertex farthest from the centre in each of `count` sectors with equally many vertices."""
    inside, angles, radii = _polar(network)
    sectors = np.array_split(np.argsort(angles, kind="stable"), min(count, len(inside)))
    return of_landmarks(network, inside[[sector[np.argmax(radii[sector])] for sector in sectors]])


def boundary(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Return vertices evenly along the boundary, which are the outermost vertices in many directions.

    If there are fewer than `count`, other vertices fill up the pool, in the order of their numbers.
    """
    inside, angles, radii = _polar(network)
    count = min(count, len(inside))
    outermost = np.lexsort((np.arange(len(inside)), -radii))
    direction = np.floor((angles + np.pi) / (2 * np.pi) * BINS * count).astype(np.int64)
    _, first = np.unique(direction[outermost], return_index=True)
    rim = outermost[first]  # sorted by direction
    others = np.setdiff1d(outermost, rim, assume_unique=True)
    chosen = np.concatenate((rim[_evenly(_corners(network, inside[rim]), count)], others))[:count]
    return of_landmarks(network, inside[chosen])


def _evenly(corners: Array, count: int) -> Array:
    """Return positions of `count` corners about equally far apart along a closed walk, or all if there are fewer."""
    if len(corners) <= count:
        return np.arange(len(corners))
    steps = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
    walked = np.concatenate(([0.0], np.cumsum(steps)[:-1]))
    found = np.searchsorted(walked, np.arange(count) * steps.sum() / count)
    # If several marks fall on one step, each takes the next free corner and leaves enough for those after it.
    for k in range(count):
        found[k] = min(max(found[k], found[k - 1] + 1 if k else 0), len(corners) - count + k)
    return found


def _polar(network: Network) -> tuple[Array, Array, Array]:
    """Return the vertices of the largest component, and their angles and distances from the centre."""
    if network.graph.coords is None:
        raise UsageError(f"Graph {network.graph.name!r} has no coordinates; choose another selector.")
    inside = components.largest(network.graph)
    corners = _corners(network, inside)
    away = corners - np.median(corners, axis=0)
    return inside, np.arctan2(away[:, 1], away[:, 0]), np.hypot(away[:, 0], away[:, 1])


def _corners(network: Network, vertices: Array) -> Array:
    assert network.graph.coords is not None
    return network.graph.coords[vertices]


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
    root: Path, network: Network, selector: str, count: int, seed: int = 0, *, check: Callable[[], None] = lambda: None
) -> Pool:
    made_from = {"selector": selector, "graph": network.graph.digest, "count": count, "seed": seed}
    key = array_store.key_of({"pool": "selected/1", **made_from})
    return stored(root, key, lambda: select(network, selector, count, seed), check)
