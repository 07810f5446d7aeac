"""MovingAI grid maps and their scenarios."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.graphs.readers import Source, number, open_source, quoted, whole
from aacbench.graphs.record import Array, Graph, from_edges, frozen

_FREE, _BLOCKED = ".GS", "@OTW"
_WHOLE_FIELDS = ("bucket", "width", "height", "start_x", "start_y", "goal_x", "goal_y")
_FIELDS = ("bucket", "map", *_WHOLE_FIELDS[1:], "optimum")


@dataclass(frozen=True, eq=False, kw_only=True)
class Scenario:
    """The problems of a scenario file: arrays with one entry per problem, and the map that each one names."""

    map_name: tuple[str, ...]
    line: Array
    bucket: Array
    width: Array
    height: Array
    start_x: Array
    start_y: Array
    goal_x: Array
    goal_y: Array
    optimum: Array

    def __len__(self) -> int:
        return len(self.optimum)


def read_map(path: Path, *, name: str = "") -> Graph:
    """Read a map, plain or gzip, as an 8-connected graph whose vertices are the free cells, row by row.

    A straight step costs 1 and a diagonal one the square root of 2; it needs both cells beside it free, so no corner
    is cut. Coordinates are (x, y), x counting columns and y counting rows from the top.
    """
    source = open_source(path)
    free = _free_cells(source)
    if not free.any():
        raise source.error(f"the map has no free cell, which is one of {' '.join(_FREE)}.")
    place = np.full(free.shape, -1, dtype=np.int64)
    place[free] = np.arange(np.count_nonzero(free))
    (left, right), costs = _steps(free, place)
    rows, columns = np.nonzero(free)
    with source.named_in_errors():
        return from_edges(len(rows), left, right, costs, coords=np.column_stack((columns, rows)), name=name)


def read_scenario(path: Path) -> Scenario:
    source = open_source(path)
    head = source.lines[0].split()
    if len(head) != 2 or head[0] != "version" or head[1] not in ("1", "1.0"):
        raise source.error(f"a scenario must begin with 'version 1', not {quoted(source.lines[0])}.", line=1)
    lines = [line for line, text in enumerate(source.lines, start=1) if line > 1 and text.strip()]
    if not lines:
        raise source.error("the scenario has no problems; fetch it again.")
    problems = [_problem(source, line, source.lines[line - 1]) for line in lines]
    return Scenario(
        map_name=tuple(problem["map"] for problem in problems),
        line=frozen(np.array(lines), np.int64),
        optimum=frozen(np.array([problem["optimum"] for problem in problems]), np.float64),
        **{name: frozen(np.array([problem[name] for problem in problems]), np.int64) for name in _WHOLE_FIELDS},
    )


def _free_cells(source: Source) -> Array:
    height, width = _map_size(source)
    rows = source.lines[4:]
    if len(rows) != height:
        raise source.error(f"the header says {height} rows, but the map has {len(rows)}; fetch it again.")
    for line, row in enumerate(rows, start=5):
        if len(row) != width:
            raise source.error(f"the row has {len(row)} cells, but the header says {width}; correct it.", line=line)
        strange = set(row) - set(_FREE + _BLOCKED)
        if strange:
            message = f"the cell {quoted(min(strange))} is unknown; cells are one of {' '.join(_FREE + _BLOCKED)}."
            raise source.error(message, line=line)
    cells = np.frombuffer("".join(rows).encode("ascii"), dtype=np.uint8).reshape(height, width)
    return np.isin(cells, np.frombuffer(_FREE.encode("ascii"), dtype=np.uint8))


def _map_size(source: Source) -> tuple[int, int]:
    head = [line.split() for line in source.lines[:4]]
    form = "'type octile', 'height <rows>', 'width <columns>', 'map'"
    for line, (fields, word) in enumerate(zip(head, ("type", "height", "width", "map"), strict=False), start=1):
        if fields[:1] != [word] or len(fields) != (1 if word == "map" else 2):
            raise source.error(f"the header of a map is {form}, one on each line.", line=line)
    if len(head) < 4:
        raise source.error(f"the header of a map is {form}, one on each line.")
    if head[0][1] != "octile":
        raise source.error(f"the type of the map must be octile, not {quoted(head[0][1])}.", line=1)
    sizes = []
    for line in (2, 3):
        try:
            size = whole(head[line - 1][1])
        except ValueError as error:
            raise source.error(f"{error}; the header of a map is {form}.", line=line) from None
        if size < 1:
            raise source.error(f"a map needs at least one row and one column, not {size}.", line=line)
        sizes.append(size)
    return sizes[0], sizes[1]


def _steps(free: Array, place: Array) -> tuple[Array, Array]:
    right = (free[:, :-1] & free[:, 1:], place[:, :-1], place[:, 1:])
    down = (free[:-1] & free[1:], place[:-1], place[1:])
    square = free[:-1, :-1] & free[:-1, 1:] & free[1:, :-1] & free[1:, 1:]
    falling = (square, place[:-1, :-1], place[1:, 1:])
    rising = (square, place[1:, :-1], place[:-1, 1:])
    pairs = [np.stack((tail[open_], head[open_])) for open_, tail, head in (right, down, falling, rising)]
    costs = [np.full(pair.shape[1], cost) for pair, cost in zip(pairs, (1.0, 1.0, 2**0.5, 2**0.5), strict=True)]
    return np.concatenate(pairs, axis=1), np.concatenate(costs)


def _problem(source: Source, line: int, text: str) -> dict[str, Any]:
    fields = text.split("\t") if "\t" in text else text.split()
    if len(fields) != len(_FIELDS):
        message = f"a problem has the {len(_FIELDS)} fields {', '.join(_FIELDS)}, but this line has {len(fields)}."
        raise source.error(message, line=line)
    row = dict(zip(_FIELDS, fields, strict=True))
    try:
        values = {field: whole(row[field].strip()) for field in _WHOLE_FIELDS}
        optimum = float(number(row["optimum"].strip()))
    except ValueError as error:
        raise source.error(f"{error}; a problem has the fields {', '.join(_FIELDS)}.", line=line) from None
    if values["bucket"] < 0 or optimum < 0:
        raise source.error("the bucket and the optimum must be 0 or more.", line=line)
    for x, y, what in (("start_x", "start_y", "start"), ("goal_x", "goal_y", "goal")):
        if not (0 <= values[x] < values["width"] and 0 <= values[y] < values["height"]):
            raise source.error(
                f"the {what} ({values[x]}, {values[y]}) is not on the map of {values['width']} columns and"
                f" {values['height']} rows; correct it.",
                line=line,
            )
    return {**values, "map": row["map"], "optimum": optimum}
