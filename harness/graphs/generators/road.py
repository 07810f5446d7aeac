"""Synthetic directed street networks, strongly connected, with an exact number of vertices.

First a plan is drawn: a warped lattice of local streets, arterials and motorways, with a river. It uses integers only
(centimetres, per cent, lattice steps), so that no rounding differs between machines.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.components import in_largest, strong
from aacbench.graphs.generators.dice import Dice
from aacbench.graphs.record import Array, Graph, from_arcs

FEWEST_VERTICES, MOST_VERTICES = 16, 5_000_000
_BEND_SHARE = 100  # one vertex in 100 is a bend in a street, not a junction
_SLOTS = 16  # how many positions a bend can have along a stretch

LOCAL, ARTERIAL, MOTORWAY = 0, 1, 2
BOTH, ALONG, AGAINST = 0, 1, 2

_SPEED_KMH = np.array([[25, 40], [40, 60], [60, 80]])  # from, below; by class
_LINES_BETWEEN_ARTERIALS = (4, 9)
_LINES_PER_MOTORWAY = 60
_LINES_PER_DIAGONAL = 50
_EMPTY_BLOCKS_PERCENT = 5  # parks, rail yards, hills
_CUL_DE_SAC_PERCENT = 35  # of the local streets that do not go through
_THINNING_ROUNDS = 3
_SQUEEZE = 3  # the city is longer than wide, as if northward distances counted sqrt(3) times


def road(vertices: int, seed: int = 0) -> Graph:
    """Return a city of this many vertices; weights are travel times in milliseconds, coordinates metres."""
    return _graph(*_drawn(vertices, seed), _name("road", vertices, seed))


def twoway(vertices: int, seed: int = 0) -> Graph:
    """Return the city of `road` with all streets two-way: symmetric, yet declared directed, as DIMACS graphs are."""
    points, streets = _drawn(vertices, seed)
    both = replace(streets, direction=np.full_like(streets.direction, BOTH))
    return _graph(points, both, _name("twoway", vertices, seed))


def _drawn(vertices: int, seed: int) -> "tuple[Array, Streets]":
    if not FEWEST_VERTICES <= vertices <= MOST_VERTICES:
        raise UsageError(
            f"A road network must have between {FEWEST_VERTICES} and {MOST_VERTICES} vertices, not {vertices}."
        )
    dice = Dice(vertices, seed)
    plan = draw(8 + int(np.sqrt(3 * vertices)), dice)
    points, streets = _city(plan, vertices - max(1, vertices // _BEND_SHARE))
    return _bent(points, streets, vertices - len(points), dice)


def _name(kind: str, vertices: int, seed: int) -> str:
    return f"{kind}-{vertices}" + (f"-s{seed}" if seed else "")


@dataclass(frozen=True)
class Streets:
    """Stretches of street between points: both ends, class, speed and the direction of travel."""

    start: Array
    end: Array
    kind: Array
    speed_kmh: Array
    direction: Array

    def where(self, keep: Array) -> "Streets":
        return Streets(*(getattr(self, field.name)[keep] for field in fields(self)))


@dataclass(frozen=True)
class Plan:
    """A plan: all points, the order in which the city grew, and the streets between the points."""

    points_cm: Array
    growth: Array
    streets: Streets


@dataclass(frozen=True)
class _Lines:
    """Parallel lattice lines: the class of each, its block of streets, its position, the gap before it."""

    kind: Array
    block: Array
    place_cm: Array
    gap_cm: Array


@dataclass(frozen=True)
class _Ground:
    """The lattice; the point at a column and a row has the number `row * side + column`."""

    columns: _Lines
    rows: _Lines

    @property
    def side(self) -> int:
        return len(self.rows.kind)

    @property
    def on_motorway(self) -> Array:
        return ((self.columns.kind == MOTORWAY) | (self.rows.kind[:, None] == MOTORWAY)).ravel()

    @property
    def block(self) -> Array:
        return (self.rows.block[:, None] * self.side + self.columns.block).ravel()

    @property
    def remoteness(self) -> Array:
        """The distance of each point's block from the centre: 0 there, 100 at the middle of an edge, at most 141."""
        across, up = (_block_middle(lines) for lines in (self.columns, self.rows))
        squares = (across**2 + _SQUEEZE * (up**2)[:, None]).ravel() * 10_000 // self.side**2
        return np.sqrt(squares).astype(np.int64)


def draw(side: int, dice: Dice) -> Plan:
    ground = _Ground(_lines(side, 130, dice), _lines(side, 80, dice))
    streets = _join(_eastward(ground, dice), _northward(ground, dice), _diagonals(side, dice))
    streets = streets.where(_motorway_access(streets, ground))
    streets = streets.where(_dry(streets, side, dice))
    streets = streets.where(_inhabited(streets, ground, dice))
    through = _through(streets, ground, dice)
    points, built = _points(ground, dice), _built(ground, dice)
    return _with_culs_de_sac(points, built, streets.where(through), streets.where(~through), dice)


def _lines(side: int, gap_percent: int, dice: Dice) -> _Lines:
    kind = np.full(side, LOCAL)
    steps = dice.between(*_LINES_BETWEEN_ARTERIALS, side)
    arterials = np.cumsum(steps) - steps[0] + dice.one(1, 4)
    arterials = arterials[arterials < side]
    kind[arterials] = ARTERIAL
    motorways = side // _LINES_PER_MOTORWAY
    kind[arterials[(2 * np.arange(motorways) + 1) * len(arterials) // (2 * max(motorways, 1))]] = MOTORWAY
    # Blocks are small in the centre and wide at the edge of the city.
    from_centre = np.abs(2 * np.arange(side) - side)
    gap = (5_000 + 12_000 * from_centre // side) * gap_percent // 100
    gap = np.maximum(gap * dice.between(20, 200, side) * dice.between(40, 200, side) // 10_000, 2_000)
    return _Lines(kind, np.cumsum(kind != LOCAL), np.cumsum(gap), gap)


def _block_middle(lines: _Lines) -> Array:
    """Return the middle of each line's block, counted in half lines from the centre."""
    sizes = np.bincount(lines.block)
    return (2 * np.cumsum(sizes) - sizes - len(lines.kind))[lines.block]


def _points(ground: _Ground, dice: Dice) -> Array:
    """Return the position of each point: on its two lines, moved by up to a third of the gaps around it."""
    side, place = ground.side, []
    for lines, shape in ((ground.columns, (1, side)), (ground.rows, (side, 1))):
        room = np.minimum(lines.gap_cm, np.append(lines.gap_cm[1:], lines.gap_cm[-1]))
        push = dice.between(-33, 34, (side, side)) * room.reshape(shape) // 100
        place.append((lines.place_cm.reshape(shape) + push).ravel())
    return np.stack(place, axis=1)


def _built(ground: _Ground, dice: Dice) -> Array:
    """Return when each point was built: block by block, roughly from the centre outwards."""
    return ground.remoteness * dice.between(85, 116, ground.side**2)[ground.block]


def _eastward(ground: _Ground, dice: Dice) -> Streets:
    column, row = (a.ravel() for a in np.meshgrid(np.arange(ground.side - 1), np.arange(ground.side)))
    start = row * ground.side + column
    run = row * ground.side + ground.columns.block[column]
    return _with_speed_and_direction(start, start + 1, ground.rows.kind[row], row, run, ground, dice)


def _northward(ground: _Ground, dice: Dice) -> Streets:
    column, row = (a.ravel() for a in np.meshgrid(np.arange(ground.side), np.arange(ground.side - 1)))
    start = row * ground.side + column
    run = column * ground.side + ground.rows.block[row]
    return _with_speed_and_direction(start, start + ground.side, ground.columns.kind[column], column, run, ground, dice)


def _with_speed_and_direction(
    start: Array, end: Array, kind: Array, line: Array, run: Array, ground: _Ground, dice: Dice
) -> Streets:
    """Return stretches with speed and direction, which are constant along a run from arterial to arterial."""
    speed, chance, turned = (dice.percent(ground.side**2)[run] for _ in range(3))
    near = 100 - np.minimum(ground.remoteness[start], 100)
    one_way = chance < np.choose(kind, [12 + 85 * near // 100, 45 * near // 100, 0])
    # Neighbouring one-way streets mostly alternate.
    against = (line + (turned < 4)) % 2 == 1
    direction = np.where(one_way, np.where(against, AGAINST, ALONG), BOTH)
    return Streets(start, end, kind, _speed(kind, speed), direction)


def _speed(kind: Array, percent: Array) -> Array:
    slowest, below = _SPEED_KMH[kind, 0], _SPEED_KMH[kind, 1]
    return slowest + (below - slowest) * percent // 100


def _diagonals(side: int, dice: Dice) -> Streets:
    """Return old roads that cut across the lattice, each half as long as the lattice is wide."""
    found = []
    for _ in range(side // _LINES_PER_DIAGONAL):
        length, slope = side // 2, 1 - 2 * dice.one(0, 2)
        column, row = dice.between(0, side - length, 2)
        along = np.arange(length + 1)
        point = (row + along) * side + (column + along if slope > 0 else column + length - along)
        kind = np.full(length, ARTERIAL)
        speed = _speed(kind, np.full(length, dice.one(0, 100)))
        found.append(Streets(point[:-1], point[1:], kind, speed, np.full(length, BOTH)))
    return _join(*found)


def _motorway_access(streets: Streets, ground: _Ground) -> Array:
    """Return which stretches stay: local streets end before a motorway, other roads have a junction with it."""
    touches = ground.on_motorway[streets.start] | ground.on_motorway[streets.end]
    return (streets.kind != LOCAL) | ~touches


def _dry(streets: Streets, side: int, dice: Dice) -> Array:
    """Return which stretches stay: of those across the river, every second road that is not a local street."""
    bank = dice.one(side // 3, side - side // 3) + np.cumsum(dice.between(-1, 2, side))
    # The river crosses the long side of the city, so it always divides it.
    east = (np.arange(side) > bank[:, None]).ravel()
    crosses = east[streets.start] != east[streets.end]
    dry: Array = ~crosses
    dry[np.flatnonzero(crosses & (streets.kind != LOCAL))[::2]] = True
    return dry


def _inhabited(streets: Streets, ground: _Ground, dice: Dice) -> Array:
    """Return which stretches stay: all except the local streets of empty blocks."""
    empty = dice.percent(ground.side**2) < _EMPTY_BLOCKS_PERCENT
    return (streets.kind != LOCAL) | ~empty[ground.block[streets.start]]


def _through(streets: Streets, ground: _Ground, dice: Dice) -> Array:
    """Return which stretches stay: local streets are cut, mostly far out, until crossroads are T-junctions."""
    candidate = (streets.kind == LOCAL) & (
        dice.percent(len(streets.kind)) < 10 + 90 * ground.remoteness[streets.start] // 100
    )
    stays = np.ones(len(streets.kind), dtype=bool)
    for _ in range(_THINNING_ROUNDS):
        degree = np.bincount(np.concatenate([streets.start[stays], streets.end[stays]]), minlength=ground.side**2)
        cut = np.flatnonzero(candidate & stays & (degree[streets.start] > 3) & (degree[streets.end] > 3))
        # At most one of the candidates at a point is cut, so that no point is left with two streets.
        rank = dice.order(len(cut))
        best = np.full(ground.side**2, len(cut))
        for ends in (streets.start, streets.end):
            np.minimum.at(best, ends[cut], rank)
        stays[cut[(best[streets.start[cut]] == rank) & (best[streets.end[cut]] == rank)]] = False
    return stays


def _with_culs_de_sac(points: Array, built: Array, streets: Streets, cut: Streets, dice: Dice) -> Plan:
    """Return the plan with some of the cut streets added as dead ends of half their length."""
    stub = cut.where(dice.percent(len(cut.kind)) < _CUL_DE_SAC_PERCENT)
    stub_end = len(points) + np.arange(len(stub.kind))
    stub_points = (points[stub.start] + points[stub.end]) // 2
    two_way = np.full(len(stub.kind), BOTH)
    return Plan(
        np.concatenate([points, stub_points]),
        np.argsort(np.concatenate([built, built[stub.start]]), kind="stable"),
        _join(streets, replace(stub, end=stub_end, direction=two_way)),
    )


def _join(*parts: Streets) -> Streets:
    none = np.zeros(0, dtype=np.int64)
    return Streets(*(np.concatenate([none, *(getattr(part, f.name) for part in parts)]) for f in fields(Streets)))


def _city(plan: Plan, most: int) -> tuple[Array, Streets]:
    """Return the largest strongly connected city of at most `most` points, grown in the plan's order."""
    # More points never make the largest strong component smaller, so bisection finds the last that fits.
    tail, head, _ = _arcs(plan.streets)
    low, high = 1, len(plan.growth)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_core(plan, tail, head, middle)) <= most else (low, middle - 1)
    kept = _core(plan, tail, head, low)
    place = np.full(len(plan.growth), -1)
    place[kept] = np.arange(len(kept))
    streets = replace(plan.streets, start=place[plan.streets.start], end=place[plan.streets.end])
    return plan.points_cm[kept], streets.where((streets.start >= 0) & (streets.end >= 0))


def _core(plan: Plan, tail: Array, head: Array, grown: int) -> Array:
    there = np.zeros(len(plan.growth), dtype=bool)
    there[plan.growth[:grown]] = True
    arcs = there[tail] & there[head]
    return np.flatnonzero(in_largest(strong(len(there), tail[arcs], head[arcs])))


def _bent(points: Array, streets: Streets, bends: int, dice: Dice) -> tuple[Array, Streets]:
    """Return points and streets with bends added to the longer stretches."""
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
