"""Query sets as CSV files, `source,target` and perhaps `optimum`: how users bring their own."""

import csv
from pathlib import Path

import numpy as np

from aacbench.errors import DataError
from aacbench.graphs.record import Graph
from aacbench.queries.record import QuerySet

COLUMNS = ["source", "target"]


def write_csv(queries: QuerySet, path: Path) -> None:
    """Write one query a line; name, mode, seed and buckets are not kept."""
    columns = [queries.sources.tolist(), queries.targets.tolist()]
    header = list(COLUMNS)
    if queries.optima is not None:
        columns.append(queries.optima.tolist())
        header.append("optimum")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))


def read_csv(path: Path, graph: Graph, *, name: str = "") -> QuerySet:
    """Read queries on this graph; whatever cannot be one is an error that names its line."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"the query file {path} cannot be read: {error}.") from error
    rows = [(line, row) for line, row in rows if any(row)]
    header = rows[0][1] if rows else []
    if header not in (COLUMNS, [*COLUMNS, "optimum"]):
        raise DataError(f"{path}: the first line must be 'source,target' or 'source,target,optimum'.")
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise DataError(f"{path}, line {line}: {len(header)} values are wanted, not {len(row)}.")
    ends = [[_vertex(row[i], graph, f"{path}, line {line}") for line, row in rows[1:]] for i in (0, 1)]
    optima = [_cost(row[2], f"{path}, line {line}") for line, row in rows[1:]] if len(header) == 3 else None
    return QuerySet(
        sources=np.array(ends[0], dtype=np.int64),
        targets=np.array(ends[1], dtype=np.int64),
        optima=None if optima is None else np.array(optima, dtype=np.float64),
        name=name or path.stem,
        mode="file",
    )


def _vertex(text: str, graph: Graph, where: str) -> int:
    # int() would also take 1_000, +5 and digits of other scripts.
    if not (text.isascii() and text.isdigit()):
        raise DataError(f"{where}: {text!r} is not a vertex, which is a whole number from 0.")
    if len(text) > 18 or int(text) >= graph.vertices:
        raise DataError(f"{where}: graph {graph.name!r} has the vertices 0..{graph.vertices - 1}, and no {text}.")
    return int(text)


def _cost(text: str, where: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        cost = -1.0
    if not 0 <= cost < float("inf"):
        raise DataError(f"{where}: {text!r} is not an optimum, which is a number from 0.")
    return cost
