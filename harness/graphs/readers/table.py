"""Numeric tables through the compiled parser: arrays out, or an error that names the line."""

from collections.abc import Callable

import numpy as np

from aacbench.graphs import parse
from aacbench.graphs.parse import Layout
from aacbench.graphs.readers.source import Source
from aacbench.graphs.readers.values import number, quoted
from aacbench.graphs.record import Array

Explain = Callable[[int, str], str]
"""From a status of the parser, and the field it is about, to a sentence for a person."""


def read_table(
    source: Source, start: int, layout: Layout, id_columns: int, number_columns: int, explain: Explain
) -> tuple[Array, Array]:
    """Every row from `start` on: its ids, and its numbers as int64 where all are whole, else as float64."""
    # Room is made for the rows that are there, whatever a header promises.
    rows, _ = parse.skip_rows(source.buffer, start, layout, len(source.data))
    ids = np.empty((rows, id_columns), dtype=np.int64)
    numbers = np.empty((rows, number_columns), dtype=np.int64)
    spans = np.empty((0, number_columns, 2), dtype=np.int64)
    status, at = parse.read_rows(source.buffer, start, layout, ids, numbers, spans)
    if status == parse.FRACTION:
        spans = np.empty((rows, number_columns, 2), dtype=np.int64)
        status, at = parse.read_rows(source.buffer, start, layout, ids, numbers, spans)
    if status != parse.OK:
        raise source.error(explain(status, field_at(source, at, layout)), at=at)
    return ids, _from_text(source, spans, layout, explain) if len(spans) else numbers


def first_row(source: Source, layout: Layout) -> int:
    """Where the first row begins."""
    return int(parse.next_row(source.buffer, 0, layout))


def row_start(source: Source, start: int, layout: Layout, row: int) -> int:
    """Where a row begins, counted from 0 at `start`."""
    return int(parse.skip_rows(source.buffer, start, layout, row)[1])


def line_text(source: Source, at: int) -> str:
    """The rest of the line from this place on."""
    return source.data[at : parse.line_end(source.buffer, at)].decode("latin-1")


def field_at(source: Source, at: int, layout: Layout) -> str:
    """The field that begins at this place."""
    fields = line_text(source, at).replace(chr(layout.separator), " ").split(maxsplit=1)
    return fields[0] if fields else ""


def explain_row(status: int, field: str, row: str, ids: str) -> str:
    """The usual explanations; `row` shows what a row looks like, `ids` says which ids there are."""
    if status == parse.BAD_ID:
        return f"{quoted(field)} is not a vertex number; a row here is {row}."
    if status == parse.OUT_OF_RANGE:
        return f"vertex {quoted(field)} is outside the vertices of this file, {ids}; correct the row."
    if status == parse.OVERFLOW:
        return f"{quoted(field)} does not fit a whole number of 64 bits; use smaller units."
    if status == parse.ID_OVERFLOW:
        return f"the vertex number {quoted(field)} does not fit 64 bits; number the vertices from 0 or 1."
    if status == parse.TOO_SMALL:
        return f"the weight {quoted(field)} is negative; weights must be 0 or more."
    if status == parse.MISSING_FIELD:
        return f"the row has too few fields; a row here is {row}."
    if status == parse.EXTRA_FIELD:
        return f"the row has a field too many, {quoted(field)}; a row here is {row}."
    return f"{quoted(field)} begins no known row; a row here is {row}."


def _from_text(source: Source, spans: Array, layout: Layout, explain: Explain) -> Array:
    values = np.empty(spans.shape[:2], dtype=np.float64)
    for place, (begin, end) in zip(np.ndindex(values.shape), spans.reshape(-1, 2).tolist(), strict=True):
        text = source.data[begin:end].decode("latin-1")
        try:
            value = number(text)
        except ValueError as error:
            raise source.error(f"{error}; write it in digits, as in 12.5.", at=begin) from None
        if value < layout.smallest:
            raise source.error(explain(parse.TOO_SMALL, text), at=begin)
        values[place] = value
    return values
