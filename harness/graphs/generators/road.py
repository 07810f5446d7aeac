"""Synthetic directed street networks, strongly connected, with an exact number of vertices."""

from dataclasses import dataclass

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.generators.dice import Dice
from aacbench.graphs.generators.street_plan import AGAINST, ALONG, Plan, Streets, draw
from aacbench.graphs.record import Array, Graph, from_arcs

FEWEST_VERTICES, MOST_VERTICES = 16, 2_000_000
_BEND_SHARE = 100  # one vertex in 100 is a bend in a street, not a junction
_SLOTS = 16  # how many positions a bend can have along a stretch


def road(vertices: int, seed: int = 0) -> Graph:
    """Return a city of this many vertices; weights are travel times in milliseconds, coordinates metres."""
    if not FEWEST_VERTICES <= vertices <= MOST_VERTICES:
        raise UsageError(
            f"A road network must have between {FEWEST_VERTICES} and {MOST_VERTICES} vertices, not {vertices}."
        )
    dice = Dice(vertices, seed)
    plan = draw(8 + int(np.sqrt(3 * vertices)), dice)
    city = _city(plan, vertices - max(1, vertices // _BEND_SHARE))
    points, streets = _bent(city, vertices - len(city.points_cm), dice)
    return _graph(points, streets, f"road-{vertices}" + (f"-s{seed}" if seed else ""))


@dataclass(frozen=True)
class _City:
    points_cm: Array
    streets: Streets


def _city(plan: Plan, most: int) -> _City:
    """Return the largest strongly connected city of at most `most` points, grown in the plan's order."""
    # More points never make the largest strong component smaller, so bisection finds the last that fits.
    low, high = 1, len(plan.growth)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_core(plan, middle)) <= most else (low, middle - 1)
    kept = _core(plan, low)
    place = np.full(len(plan.growth), -1)
    place[kept] = np.arange(len(kept))
    start, end = place[plan.streets.start], place[plan.streets.end]
    s = plan.streets
    inside = (start >= 0) & (end >= 0)
    return _City(plan.points_cm[kept], Streets(start, end, s.kind, s.speed_kmh, s.direction).where(inside))


def _core(plan: Plan, grown: int) -> Array:
    """Return the largest strong component of the first `grown` points."""
    # Imported here: both take a good part of a second, and listing names does not need them.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    tail, head, _ = _arcs(plan.streets)
    there = np.zeros(len(plan.growth), dtype=bool)
    there[plan.growth[:grown]] = True
    arcs = there[tail] & there[head]
    pattern = csr_array((np.ones(arcs.sum(), dtype=np.int8), (tail[arcs], head[arcs])), shape=(len(there), len(there)))
    component = connected_components(pattern, directed=True, connection="strong")[1]
    return np.flatnonzero(component == np.argmax(np.bincount(component)))


def _bent(city: _City, bends: int, dice: Dice) -> tuple[Array, Streets]:
    """Return points and streets with bends added to the longer stretches."""
    streets, points = city.streets, city.points_cm
    vector = points[streets.end] - points[streets.start]
    square = (vector**2).sum(axis=1)
    longer = np.flatnonzero(square >= np.sort(square)[len(square) // 2])
    places = np.sort(dice.order(len(longer) * (_SLOTS - 1))[:bends])
    bent, slot = longer[places // (_SLOTS - 1)], places % (_SLOTS - 1) + 1
    aside = np.stack([-vector[bent, 1], vector[bent, 0]], axis=1) * dice.between(-8, 9, (bends, 1)) // 100
    new_points = points[streets.start[bent]] + vector[bent] * slot[:, None] // _SLOTS + aside
    # A stretch with bends becomes a chain: each bend starts a piece, and ends the piece before it.
    new = len(points) + np.arange(bends)
    last_of_street = np.append(bent[1:] != bent[:-1], True)
    first_of_street = np.append(True, bent[1:] != bent[:-1])
    piece_end = np.where(last_of_street, streets.end[bent], np.append(new[1:], -1))
    end = streets.end.copy()
    end[bent[first_of_street]] = new[first_of_street]
    pieces = Streets(
        np.concatenate([streets.start, new]),
        np.concatenate([end, piece_end]),
        *(np.concatenate([a, a[bent]]) for a in (streets.kind, streets.speed_kmh, streets.direction)),
    )
    return np.concatenate([points, new_points]), pieces


def _arcs(streets: Streets) -> tuple[Array, Array, Array]:
    """Return tail, head and stretch of each arc."""
    along, against = np.flatnonzero(streets.direction != AGAINST), np.flatnonzero(streets.direction != ALONG)
    tail = np.concatenate([streets.start[along], streets.end[against]])
    head = np.concatenate([streets.end[along], streets.start[against]])
    return tail, head, np.concatenate([along, against])


def _graph(points: Array, streets: Streets, name: str) -> Graph:
    vector = points[streets.end] - points[streets.start]
    # The square is an exact integer, and IEEE 754 rounds its root the same way on every machine.
    length_cm = np.sqrt((vector**2).sum(axis=1)).astype(np.int64)
    milliseconds = np.maximum(length_cm * 36 // streets.speed_kmh, 1)
    tail, head, stretch = _arcs(streets)
    return from_arcs(len(points), tail, head, milliseconds[stretch], coords=points / 100, name=name)
