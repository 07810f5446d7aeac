"""Selectors: named ways to choose a pool of landmarks from the largest strong component."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distance_rows
from aacbench.labels.pool import Pool, farthest_points, of_landmarks, of_rows, stored
from aacbench.labels.selectors.avoid import Growing, avoid, extend
from aacbench.labels.selectors.maxcover import maxcover
from aacbench.search.networks import Network
from aacbench.util import array_store

Selector = Callable[[Network, int, np.random.Generator], Pool]
Chooser = Callable[[Network, int, np.random.Generator], Array]  # landmarks alone, before any distance is known

BINS = 8  # directions per landmark of the boundary


def planar(network: Network, count: int, rng: np.random.Generator) -> Array:
    """Return the vertex farthest from the centre in each of `count` sectors with equally many vertices."""
    inside, angles, radii = _polar(network)
    sectors = np.array_split(np.argsort(angles, kind="stable"), min(count, len(inside)))
    return inside[[sector[np.argmax(radii[sector])] for sector in sectors]]


def boundary(network: Network, count: int, rng: np.random.Generator) -> Array:
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
    return inside[chosen]


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


def _at_random(network: Network, count: int, rng: np.random.Generator) -> Array:
    return rng.permutation(components.largest(network.graph))[:count]


def _by_degree(network: Network, count: int, rng: np.random.Generator) -> Array:
    """Return the vertices with the most arcs in and out; ties go to the lowest vertex."""
    graph = network.graph
    degrees = np.diff(graph.indptr) + np.bincount(graph.indices, minlength=graph.vertices)
    inside = components.largest(graph)
    return inside[np.argsort(-degrees[inside], kind="stable")[:count]]


def _mixed(
    network: Network,
    count: int,
    rng: np.random.Generator,
    at: Array | None = None,
    scratch: Path | None = None,
) -> Pool:
    """Return half farthest points, a quarter chosen by avoid given those, and the rest at random, all distinct."""
    inside = components.largest(network.graph)
    count = min(count, len(inside))
    grown = Growing(network)
    grown.add_farthest(int(inside[0]), inside, (count + 1) // 2)
    extend(grown, (count + 1) // 2 + count // 4, rng)
    others = rng.permutation(np.setdiff1d(inside, grown.landmarks))[: count - len(grown.landmarks)].tolist()
    rest = (distance_rows(network, others, side) for side in Direction)
    ahead, back = (chain(known, new) for known, new in zip(grown.rows(), rest, strict=True))
    return of_rows(network, [*grown.landmarks, *others], ahead, back, at, scratch)


CHOOSERS: Mapping[str, Chooser] = {
    "random": _at_random,
    "degree": _by_degree,
    "planar": planar,
    "boundary": boundary,
}


def _with_rows(choose: Chooser) -> Selector:
    return lambda network, count, rng: of_landmarks(network, choose(network, count, rng))


SELECTORS: Mapping[str, Selector] = {
    "fps": _fps,
    "avoid": avoid,
    **{name: _with_rows(choose) for name, choose in CHOOSERS.items()},
    "maxcover": maxcover,
    "mixed": _mixed,
}


def select(
    network: Network,
    selector: str,
    count: int,
    seed: int = 0,
    *,
    at: Array | None = None,
    scratch: Path | None = None,
) -> Pool:
    """Return a pool of `count` landmarks, or of all vertices if the component has fewer.

    `at` and `scratch` are those of `farthest_points`. Selectors that need no table of their own heed them while they
    compute; of the others the table is cut.
    """
    if selector not in SELECTORS:
        raise UsageError(f"Unknown selector {selector!r}. Known: {', '.join(SELECTORS)}.")
    if count < 1:
        raise UsageError(f"A pool needs at least one landmark, not {count}.")
    count, rng = min(count, len(components.largest(network.graph))), np.random.default_rng(seed)
    began = time.perf_counter()
    if selector in CHOOSERS:
        pool = of_landmarks(network, CHOOSERS[selector](network, count, rng), at=at, scratch=scratch)
    elif selector == "fps":
        pool = farthest_points(network, count, at=at, scratch=scratch)
    elif selector == "mixed":
        pool = _mixed(network, count, rng, at, scratch)
    else:
        pool = SELECTORS[selector](network, count, rng)
        pool = pool if at is None else pool.at(at)
    return replace(pool, seconds=time.perf_counter() - began)


def stored_selection(
    root: Path,
    network: Network,
    selector: str,
    count: int,
    seed: int = 0,
    *,
    at: Array | None = None,
    check: Callable[[], None] = lambda: None,
) -> Pool:
    """Return `select` from disk; what is not stored is computed and stored.

    Of a pool at some vertices the landmarks are stored too, so that the columns of others need no new selection.
    """
    made_from = {"selector": selector, "graph": network.graph.digest, "count": count, "seed": seed}
    if at is None:
        key = array_store.key_of({"pool": "selected/1", **made_from})
        return stored(root, key, lambda scratch: select(network, selector, count, seed, scratch=scratch), check)
    known = array_store.key_of({"pool": "landmarks/1", **made_from})

    def compute(_: Path | None) -> Pool:
        found = array_store.read(root, known)
        if found is not None:
            # Charged as much as the first time, as if nothing had been stored.
            return replace(of_landmarks(network, found.arrays["landmarks"], at=at), seconds=found.facts["seconds"])
        return select(network, selector, count, seed, at=at)

    vertices = array_store.sha256_of(np.unique(at))
    pool = stored(root, array_store.key_of({"pool": "columns/1", **made_from, "at": vertices}), compute, check)
    if not array_store.holds(root, known):
        with suppress(OSError):
            array_store.write(root, known, {"landmarks": pool.landmarks}, {"seconds": pool.seconds})
    return pool
