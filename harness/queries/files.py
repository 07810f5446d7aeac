"""Queries from files: MovingAI scenarios on the graph of their map, and CSV files with `source,target[,optimum]`."""

import csv
import io
from pathlib import Path

import numpy as np

from aacbench.errors import DataError, UsageError
from aacbench.graphs.readers import Source, open_source, quoted
from aacbench.graphs.readers.movingai import Scenario, read_scenario
from aacbench.graphs.record import Array, Graph
from aacbench.queries.record import QuerySet

COLUMNS = ["source", "target"]


def count_queries(path: Path, mode: str, strict: bool = False) -> int:
    """Return how many queries a file holds, or with `strict` how many distinct ones; no graph is needed for that."""
    if mode == "scenario":
        problems = read_scenario(path)
        ends = np.stack([problems.start_x, problems.start_y, problems.goal_x, problems.goal_y], axis=1)
        return len(np.unique(ends, axis=0)) if strict else len(ends)
    _, rows = _csv_rows(open_source(path))
    return len({tuple(row[:2]) for _, row in rows}) if strict else len(rows)


def read_csv(path: Path, graph: Graph) -> QuerySet:
    """Read queries from a CSV file, plain or gzip; vertices are given by name where the graph has names."""
    source = open_source(path)
    header, rows = _csv_rows(source)
    find = _vertex if graph.names is None else _named_vertex
    ends = [[find(source, line, row[column], graph) for line, row in rows] for column in (0, 1)]
    optima = [_cost(source, line, row[2]) for line, row in rows] if len(header) == 3 else None
    return QuerySet(
        sources=np.array(ends[0], dtype=np.int64),
        targets=np.array(ends[1], dtype=np.int64),
        optima=None if optima is None else np.array(optima, dtype=np.float64),
        lines=np.array([line for line, _ in rows], dtype=np.int64),
        name=path.stem,
        mode="file",
    )


def read_scenario_queries(path: Path, graph: Graph) -> QuerySet:
    """Read a scenario's problems as queries on the graph of its map, whose coordinates are the map's free cells."""
    problems = read_scenario(path)
    cells = _cells(graph)
    _check_size(path, problems, cells)
    return QuerySet(
        sources=_vertices(path, problems, cells, "start"),
        targets=_vertices(path, problems, cells, "goal"),
        optima=problems.optimum,
        buckets=problems.bucket,
        lines=problems.line,
        name=graph.name,
        mode="scenario",
    )


def spread(queries: QuerySet, count: int) -> tuple[QuerySet, QuerySet]:
    """Choose `count` queries evenly over the buckets, and evenly within each; return them and the remaining ones.

    The choice does not depend on chance, and both sets keep the order of the queries.
    """
    if queries.buckets is None:
        raise UsageError("Queries without buckets cannot be spread over them.")
    if not 0 <= count <= len(queries):
        raise UsageError(f"Cannot choose {count} of {len(queries)} queries.")
    members = [np.flatnonzero(queries.buckets == bucket) for bucket in np.unique(queries.buckets)]
    shares = _shares(np.array([len(m) for m in members], dtype=np.int64), count)
    chosen = np.zeros(len(queries), dtype=np.bool_)
    for positions, share in zip(members, shares, strict=True):
        chosen[positions[_evenly(len(positions), share)]] = True
    return queries.take(np.flatnonzero(chosen)), queries.take(np.flatnonzero(~chosen))


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


def _csv_rows(source: Source) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, and every other row with its line number; blank lines are left out."""
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise source.error(f"this is not CSV ({error}).", line=reader.line_num) from None
    (first, header), *rows = [(line, row) for line, row in rows if any(row)]
    if header not in (COLUMNS, [*COLUMNS, "optimum"]):
        raise source.error("the header must be 'source,target' or 'source,target,optimum'.", line=first)
    if not rows:
        raise source.error("the file holds no query.")
    for line, row in rows:
        if len(row) != len(header):
            raise source.error(f"the row has {len(row)} values, but the header has {len(header)}.", line=line)
    return header, rows


def _named_vertex(source: Source, line: int, text: str, graph: Graph) -> int:
    if text not in graph.vertex_by_name:
        known = f"its vertices have names such as {quoted(graph.vertex_name(0))}"
        raise source.error(f"{quoted(text)} is not a vertex of the graph {graph.name!r}; {known}.", line=line)
    return graph.vertex_by_name[text]


def _vertex(source: Source, line: int, text: str, graph: Graph) -> int:
    # int() would also take 1_000, +5 and digits of other scripts.
    if not (text.isascii() and text.isdigit()):
        raise source.error(f"{text!r} is not a vertex; vertices are whole numbers from 0.", line=line)
    if len(text) > 18 or int(text) >= graph.vertices:
        known = f"the graph has the vertices 0 to {graph.vertices - 1}"
        if text == str(graph.vertices):
            known += ", counted from 0 also where a DIMACS file counts from 1"
        raise source.error(f"vertex {text[:20]} is out of range; {known}.", line=line)
    return int(text)


def _cost(source: Source, line: int, text: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        cost = -1.0
    if not 0 <= cost < float("inf"):
        raise source.error(f"{text!r} is not an optimum; optima are numbers from 0.", line=line)
    return cost


def _cells(graph: Graph) -> Array:
    """Return the vertex of each cell as [y, x], with -1 for a cell that has none."""
    where = f"Graph {graph.name!r} is not a grid map, so no scenario fits it"
    if graph.coords is None or (graph.coords < 0).any() or (graph.coords != np.floor(graph.coords)).any():
        raise DataError(f"{where}: its vertices need whole coordinates (x, y) from 0.")
    x, y = graph.coords.astype(np.int64).T
    cells = np.full((y.max() + 1, x.max() + 1), -1, dtype=np.int64)
    cells[y, x] = np.arange(graph.vertices)
    if np.count_nonzero(cells >= 0) != graph.vertices:
        raise DataError(f"{where}: two of its vertices share a cell.")
    return cells


def _check_size(path: Path, problems: Scenario, cells: Array) -> None:
    rows, columns = cells.shape
    for i in np.flatnonzero((problems.width < columns) | (problems.height < rows))[:1]:
        raise DataError(
            f"{path.name}, line {problems.line[i]}: the scenario is for the map {problems.map_name[i]!r} of "
            f"{problems.width[i]} x {problems.height[i]} cells, but the graph's map has at least {columns} x {rows}."
        )


def _vertices(path: Path, problems: Scenario, cells: Array, end: str) -> Array:
    x, y = (problems.start_x, problems.start_y) if end == "start" else (problems.goal_x, problems.goal_y)
    rows, columns = cells.shape
    known = (x < columns) & (y < rows)  # cells beyond the last free one are blocked
    vertices = np.where(known, cells[np.minimum(y, rows - 1), np.minimum(x, columns - 1)], -1)
    for i in np.flatnonzero(vertices < 0)[:1]:
        raise DataError(
            f"{path.name}, line {problems.line[i]}: the {end} ({x[i]}, {y[i]}) is a blocked cell of the graph's map; "
            f"the scenario is for the map {problems.map_name[i]!r}."
        )
    return vertices
