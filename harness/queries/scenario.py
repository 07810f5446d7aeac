"""Queries of a MovingAI scenario file, on the graph of its map."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from aacbench.errors import DataError, UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.queries.record import QuerySet

FIRST_LINE = 2  # a scenario file opens with its version


class Scenario(Protocol):
    """What is needed of a scenario: one entry per query in file order, cells as (column x, row y)."""

    @property
    def bucket(self) -> Array: ...  # noqa: D102
    @property
    def start_x(self) -> Array: ...  # noqa: D102
    @property
    def start_y(self) -> Array: ...  # noqa: D102
    @property
    def goal_x(self) -> Array: ...  # noqa: D102
    @property
    def goal_y(self) -> Array: ...  # noqa: D102
    @property
    def optimum(self) -> Array: ...  # noqa: D102
    @property
    def width(self) -> npt.ArrayLike: ...  # noqa: D102
    @property
    def height(self) -> npt.ArrayLike: ...  # noqa: D102


def from_scenario(graph: Graph, scenario: Scenario, *, name: str = "") -> QuerySet:
    """The scenario's queries as vertices of the map's graph, whose coordinates are its free cells."""
    cells = _cells(graph)
    count = len(scenario.bucket)
    width = np.broadcast_to(np.asarray(scenario.width), count)
    height = np.broadcast_to(np.asarray(scenario.height), count)
    _check_size(cells, width, height)
    return QuerySet(
        sources=_vertices(cells, scenario.start_x, scenario.start_y, width, height, "start"),
        targets=_vertices(cells, scenario.goal_x, scenario.goal_y, width, height, "goal"),
        optima=scenario.optimum,
        buckets=scenario.bucket,
        name=name or graph.name,
        mode="scenario",
    )


def spread(queries: QuerySet, count: int) -> QuerySet:
    """Choose `count` queries as evenly over the buckets, and over each bucket's queries, as can be; no chance in it."""
    if queries.buckets is None:
        raise UsageError("this query set has no buckets to spread over.")
    if not 0 <= count <= len(queries):
        raise UsageError(f"{count} queries cannot be chosen from {len(queries)}.")
    members = [np.flatnonzero(queries.buckets == bucket) for bucket in np.unique(queries.buckets)]
    shares = _shares(np.array([len(m) for m in members], dtype=np.int64), count)
    chosen = [m[_evenly(len(m), share)] for m, share in zip(members, shares, strict=True)]
    return queries.take(np.sort(np.concatenate([*chosen, np.empty(0, dtype=np.int64)])))


def _shares(sizes: Array, count: int) -> Array:
    shares = np.zeros(len(sizes), dtype=np.int64)
    while (left := count - shares.sum()) > 0:
        room = np.flatnonzero(shares < sizes)
        each = min(left // len(room), (sizes - shares)[room].min())
        if each:
            shares[room] += each
        else:
            shares[room[_evenly(len(room), left)]] += 1
    return shares


def _evenly(size: int, count: int) -> Array:
    return (2 * np.arange(count) + 1) * size // (2 * max(count, 1))


def _cells(graph: Graph) -> Array:
    """The vertex of each cell as [y, x], and -1 for a cell that has none."""
    where = f"graph {graph.name!r}"
    if graph.coords is None or (graph.coords < 0).any() or (graph.coords != np.floor(graph.coords)).any():
        raise DataError(f"{where} is no grid map: its vertices need whole coordinates (x, y) from 0.")
    x, y = graph.coords.astype(np.int64).T
    cells = np.full((y.max() + 1, x.max() + 1), -1, dtype=np.int64)
    cells[y, x] = np.arange(graph.vertices)
    if np.count_nonzero(cells >= 0) != graph.vertices:
        raise DataError(f"{where} is no grid map: two of its vertices share a cell.")
    return cells


def _check_size(cells: Array, width: Array, height: Array) -> None:
    rows, columns = cells.shape
    bad = np.flatnonzero((width < columns) | (height < rows))
    if len(bad):
        raise DataError(
            f"line {bad[0] + FIRST_LINE} of the scenario is for a map of {width[bad[0]]} x {height[bad[0]]} cells, "
            f"but the graph's map has at least {columns} x {rows}."
        )


def _vertices(cells: Array, x: Array, y: Array, width: Array, height: Array, end: str) -> Array:
    outside = np.flatnonzero((x < 0) | (x >= width) | (y < 0) | (y >= height))
    if len(outside):
        raise DataError(f"{_place(x, y, outside[0], end)} lies outside the map.")
    rows, columns = cells.shape
    known = (x < columns) & (y < rows)  # cells beyond the last free one are blocked
    found = np.where(known, cells[np.minimum(y, rows - 1), np.minimum(x, columns - 1)], -1)
    blocked = np.flatnonzero(found < 0)
    if len(blocked):
        raise DataError(f"{_place(x, y, blocked[0], end)} is a blocked cell of the graph's map.")
    return found


def _place(x: Array, y: Array, query: int, end: str) -> str:
    return f"line {query + FIRST_LINE} of the scenario: the {end} ({x[query]}, {y[query]})"
