"""Landmarks by coordinates: the outermost vertex of each sector, and points evenly along the rim."""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool, of_landmarks
from aacbench.search.networks import Network

BINS = 8  # directions looked in for each landmark of the rim


def planar(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Around the middle, sectors with equally many vertices; of each, the vertex farthest from the middle."""
    inside, angles, radii = _polar(network)
    sectors = np.array_split(np.argsort(angles, kind="stable"), min(count, len(inside)))
    return of_landmarks(network, inside[[sector[np.argmax(radii[sector])] for sector in sectors]])


def boundary(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Evenly along the rim: the outermost vertex in each of many directions; then, if those are too few, the next."""
    inside, angles, radii = _polar(network)
    count = min(count, len(inside))
    outermost = np.lexsort((np.arange(len(inside)), -radii))
    direction = np.floor((angles + np.pi) / (2 * np.pi) * BINS * count).astype(np.int64)
    _, first = np.unique(direction[outermost], return_index=True)
    rim = outermost[first]  # by direction, so once around
    others = np.setdiff1d(outermost, rim, assume_unique=True)
    chosen = np.concatenate((rim[_evenly(_corners(network, inside[rim]), count)], others))[:count]
    return of_landmarks(network, inside[chosen])


def _evenly(corners: Array, count: int) -> Array:
    """Corners of a closed walk, about equally far apart along it; all of them where there are no more than wanted."""
    if len(corners) <= count:
        return np.arange(len(corners))
    steps = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
    walked = np.concatenate(([0.0], np.cumsum(steps)[:-1]))
    found = np.searchsorted(walked, np.arange(count) * steps.sum() / count)
    # Of several marks on one step, each takes the next corner that is free, and leaves one to those after it.
    for k in range(count):
        found[k] = min(max(found[k], found[k - 1] + 1 if k else 0), len(corners) - count + k)
    return found


def _polar(network: Network) -> tuple[Array, Array, Array]:
    """The vertices of the largest component, and their angles and distances as seen from the middle."""
    if network.graph.coords is None:
        raise UsageError(f"graph {network.graph.name!r} has no coordinates; choose landmarks by another selector.")
    inside = components.largest(network.graph)
    corners = _corners(network, inside)
    away = corners - np.median(corners, axis=0)
    return inside, np.arctan2(away[:, 1], away[:, 0]), np.hypot(away[:, 0], away[:, 1])


def _corners(network: Network, vertices: Array) -> Array:
    assert network.graph.coords is not None
    return network.graph.coords[vertices]
