"""Selectors by coordinates: the outermost vertex of each sector, or vertices evenly along the boundary."""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool, of_landmarks
from aacbench.search.networks import Network

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
