"""Rows with named columns: tables with a header, and what edges and vertices of every such file have in common."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.errors import DataError
from aacbench.graphs.readers import Source, number, quoted, whole
from aacbench.graphs.record import Graph, from_arcs, from_edges

LONGEST_NAME = 100  # names are stored in equal lengths, so one long name would fill the memory
MOST_SHOWN = 8
NO_WEIGHT = "none"  # instead of a column's name: every weight is 1
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Row:
    """A record of a file, with its line number."""

    source: Source
    line: int
    fields: Mapping[str, str]

    def number(self, name: str) -> int | float:
        try:
            return number(self.text(name))
        except ValueError as error:
            raise self.error(f"{name}: {error}; it must be a number.") from None

    def weight(self, name: str) -> int | float:
        value = self.number(name)
        if value < 0:
            raise self.error(f"{name}: the weight {quoted(self.text(name))} is negative; it must be 0 or more.")
        return value

    def whole(self, name: str) -> int:
        try:
            return whole(self.text(name))
        except ValueError as error:
            raise self.error(f"{name}: {error}; it must be a node number.") from None

    def text(self, name: str) -> str:
        if not self.fields.get(name, ""):
            raise self.error(f"{name} is missing; give every row one.")
        return self.fields[name]

    def error(self, message: str) -> DataError:
        return self.source.error(message, line=self.line)


def header_and_rows(
    source: Source, lines_above: int = 0, separator: str | None = ","
) -> tuple[list[str], Iterator[Row]]:
    """Return the columns of a table, and its rows; the separator None means any blanks."""
    records = _records(source, lines_above, separator)
    _, header = next(records)
    return header, (_row(source, line, header, record) for line, record in records)


def check_column(source: Source, header: Sequence[str], column: str, advice: str, line: int = 1) -> None:
    if header.count(column) > 1:
        raise source.error(f"several columns are {quoted(column)}; rename all but one.", line=line)
    if column not in header:
        raise source.error(f"no column is {quoted(column)}; the columns are {listed(header)}{advice}", line=line)


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(quoted, names[:MOST_SHOWN])) + more


def numbered(source: Source, ids: Sequence[str], *, in_order: bool = False) -> tuple[dict[str, int], list[str] | None]:
    """Return the vertex of each distinct id, and the ids as names, or None if they are just the vertices' numbers.

    Vertices come in the order of the ids, or in ascending order where all ids are numbers, unless `in_order` is set.
    """
    known = list(dict.fromkeys(ids))
    if not in_order and all(map(_PLAIN_NUMBER.fullmatch, known)):
        known.sort(key=int)
    longest = max(known, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise source.error(f"the id {quoted(longest)} is longer than {LONGEST_NAME} characters; use shorter ids.")
    vertex = {name: place for place, name in enumerate(known)}
    return vertex, None if known == list(map(str, range(len(known)))) else known


def build(
    source: Source,
    vertices: int,
    ends: Sequence[Sequence[int]],
    weights: Sequence[int | float],
    *,
    directed: bool,
    coords: Sequence[tuple[int | float, int | float]] | None = None,
    names: list[str] | None = None,
    name: str,
) -> Graph:
    places = None if coords is None else np.array(coords, dtype=np.float64).reshape(-1, 2)
    costs = np.array(weights, dtype=np.int64 if all(isinstance(value, int) for value in weights) else np.float64)
    make = from_arcs if directed else from_edges
    with source.named_in_errors():
        return make(vertices, ends[0], ends[1], costs, coords=places, names=names, name=name)


def _records(source: Source, lines_above: int, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that is not blank, and the line where it ends."""
    if separator is None:
        lines = ((number, line.split()) for number, line in enumerate(source.lines, 1))
        yield from ((number, fields) for number, fields in lines if fields and number > lines_above)
        return
    text = source.text.split("\n", lines_above)[-1]
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    try:
        for record in reader:
            if any(record):
                yield lines_above + reader.line_num, [field.strip() for field in record]
    except csv.Error as error:
        line = lines_above + reader.line_num
        raise source.error(f"this is not CSV ({error}); save the file as CSV.", line=line) from None


def _row(source: Source, line: int, header: list[str], record: list[str]) -> Row:
    if len(record) != len(header):
        raise source.error(f"the row has {len(record)} fields, but there are {len(header)} columns.", line=line)
    return Row(source, line, dict(zip(header, record, strict=True)))
