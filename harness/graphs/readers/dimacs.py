"""DIMACS 9 shortest-path graphs: arcs in a `.gr` file, coordinates in a `.co` file."""

from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.readers import ISOLATED_VERTICES, Source, open_source, quoted, table, whole
from aacbench.graphs.readers.table import Layout
from aacbench.graphs.record import MAX_VERTICES, Array, Graph, from_arcs

_ARC_ROW = "'a <from> <to> <weight>'"
_COORDINATE_ROW = "'v <vertex> <x> <y>'"


def read_dimacs(path: Path, coords: Path | None = None, *, name: str = "", id_base: int | None = None) -> Graph:
    """Read a `.gr` file, plain or gzip, and the `.co` file of the same graph where one is given.

    Ids count from 1. A file whose ids count from 0 is refused unless `id_base=0` says so. Coordinates stay in the
    units of the file (the challenge's road graphs have longitude and latitude in millionths of a degree).
    """
    if id_base not in (None, 0, 1):
        raise UsageError(f"id_base of a DIMACS file must be 0 or 1, not {id_base!r}.")
    source = open_source(path)
    vertices, arcs, start = _header(source, ("p", "sp"), ("vertices", "arcs"))
    ids, weights = _rows(source, start, "a", 2, vertices, id_base)
    if len(ids) != arcs:
        raise source.error(f"the header says {arcs} arcs, but the file has {len(ids)}; fetch it again.")
    if vertices > 2 * arcs + ISOLATED_VERTICES:
        raise source.error(f"the header says {vertices} vertices, too many for {arcs} arcs; correct it.")
    places = None if coords is None else _coordinates(open_source(coords), source, vertices, id_base)
    ids -= _base(id_base)
    with source.named_in_errors():
        return from_arcs(vertices, ids[:, 0], ids[:, 1], weights[:, 0], coords=places, name=name)


def _coordinates(source: Source, graph: Source, vertices: int, id_base: int | None) -> Array:
    count, start = _header(source, ("p", "aux", "sp", "co"), ("vertices",))
    if count != vertices:
        raise source.error(
            f"the file has coordinates of {count} vertices, but {graph.path.name} has {vertices};"
            " give the .co file of the same graph."
        )
    ids, places = _rows(source, start, "v", 1, vertices, id_base)
    found = ids[:, 0] - _base(id_base)
    order = np.argsort(found, kind="stable")
    repeated = np.flatnonzero(np.diff(found[order]) == 0)
    if len(repeated):
        row = int(order[repeated + 1].min())
        at = table.skip_rows(source.buffer, start, _layout("v", vertices, id_base), row)[1]
        raise source.error(f"vertex {ids[row, 0]} has a second coordinate; keep one row for each vertex.", at=at)
    if len(ids) != vertices:
        missing = int(np.setdiff1d(np.arange(len(ids) + 1), found)[0]) + _base(id_base)
        raise source.error(
            f"the header says {vertices} vertices, but the file has {len(ids)}; vertex {missing} is missing;"
            " fetch it again."
        )
    return places[order]


def _header(source: Source, words: tuple[str, ...], counts: tuple[str, ...]) -> tuple[int, ...]:
    """Return the counts of the header, then the offset of the rows."""
    at = table.next_row(source.buffer, 0, _layout("p", 0, None))
    line = table.line_text(source, at)
    fields = line.split()
    wanted = " ".join((*words, *(f"<{count}>" for count in counts)))
    if fields[: len(words)] != list(words) or len(fields) != len(words) + len(counts):
        instead = f", not {quoted(line)}" if line else ""
        raise source.error(f"the header '{wanted}' must come before all rows{instead}.", at=at)
    try:
        found = [whole(field) for field in fields[len(words) :]]
    except ValueError as error:
        raise source.error(f"{error}; the header is '{wanted}'.", at=at) from None
    if not 0 < found[0] <= MAX_VERTICES:
        raise source.error(f"a graph must have between 1 and {MAX_VERTICES} vertices, not {found[0]}.", at=at)
    return (*found, at + len(line))


def _rows(
    source: Source, start: int, mark: str, id_columns: int, vertices: int, id_base: int | None
) -> tuple[Array, Array]:
    layout = _layout(mark, vertices, id_base)

    def explain(status: int, field: str) -> str:
        if status == table.OUT_OF_RANGE and id_base is None and whole(field) == 0:
            return "the ids of this file start at 0, not 1; write file:PATH?id_base=0 to read it."
        if status == table.UNKNOWN_ROW and field == "p":
            return "the file has a second header; it must have one."
        return table.explain_row(
            status, field, _ARC_ROW if mark == "a" else _COORDINATE_ROW, f"{layout.low} to {layout.high}"
        )

    return table.read_table(source, start, layout, id_columns, 3 - id_columns, explain)


def _layout(mark: str, vertices: int, id_base: int | None) -> Layout:
    low = _base(id_base)
    return Layout(
        mark=ord(mark),
        comment=ord("c"),
        other_comment=ord("c"),
        separator=table.BLANK,
        low=low,
        high=low + vertices - 1,
        smallest=0 if mark == "a" else -table.LARGEST,
    )


def _base(id_base: int | None) -> int:
    return 1 if id_base is None else id_base
