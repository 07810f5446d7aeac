"""Numeric tables: a compiled parser for rows of vertex ids and numbers, and errors that name the line.

The parser reads whole numbers only. It reports a number of another form, or notes its place in the text, so that Python
converts it: Python rounds decimal fractions correctly.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aacbench.graphs.readers import Source, number, quoted
from aacbench.graphs.record import Array
from aacbench.util.compiled import kernel

# What the parser may report about a row.
OK, UNKNOWN_ROW, MISSING_FIELD, EXTRA_FIELD, BAD_ID, OUT_OF_RANGE, OVERFLOW, FRACTION, TOO_SMALL, ID_OVERFLOW = range(
    10
)

NEWLINE, RETURN, TAB, BLANK, PLUS, MINUS, ZERO = 10, 13, 9, 32, 43, 45, 48
LARGEST = 2**63 - 1


class Layout(NamedTuple):
    """What rows look like; characters are given by their byte values."""

    mark: int  # the first character of each row, as in "a 1 2 803"; 0 where rows begin with their first field
    comment: int
    other_comment: int
    separator: int  # between fields besides blanks, such as a comma; a blank where there is no other
    low: int  # the smallest and the largest id
    high: int
    smallest: int  # the smallest number


@kernel
def _ends_field(byte: Any, layout: Any) -> Any:
    return byte in (NEWLINE, BLANK, TAB, RETURN) or byte == layout.separator


@kernel
def _skip_blanks(buffer: Any, at: Any) -> Any:
    while at < len(buffer) and (buffer[at] == BLANK or buffer[at] == TAB or buffer[at] == RETURN):
        at += 1
    return at


@kernel
def line_end(buffer: Any, at: Any) -> Any:
    while at < len(buffer) and buffer[at] != NEWLINE:
        at += 1
    return at


@kernel
def next_row(buffer: Any, at: Any, layout: Any) -> Any:
    """Return the offset of the next row, after blank lines and comments; the buffer's length where there is none."""
    while at < len(buffer):
        at = _skip_blanks(buffer, at)
        if at == len(buffer):
            break
        if buffer[at] == layout.comment or buffer[at] == layout.other_comment:
            at = line_end(buffer, at)
        elif buffer[at] == NEWLINE:
            at += 1
        else:
            break
    return at


@kernel
def skip_rows(buffer: Any, at: Any, layout: Any, limit: Any) -> Any:
    """Return how many rows there are, up to a limit, and the offset of the row after them."""
    rows = 0
    at = next_row(buffer, at, layout)
    while at < len(buffer) and rows < limit:
        rows += 1
        at = next_row(buffer, line_end(buffer, at), layout)
    return rows, at


@kernel
def _read_field(buffer: Any, at: Any, layout: Any) -> Any:
    """Return status, value and end of the whole number at this offset."""
    negative = buffer[at] == MINUS
    if negative or buffer[at] == PLUS:
        at += 1
    first = at
    status, value = OK, np.int64(0)
    while at < len(buffer) and not _ends_field(buffer[at], layout):
        digit = np.int64(buffer[at]) - ZERO
        if digit < 0 or digit > 9:
            status = FRACTION
        elif status == OK:
            if value > LARGEST // 10 or (value == LARGEST // 10 and digit > LARGEST % 10):
                status = OVERFLOW
            else:
                value = value * 10 + digit
        at += 1
    if at == first:
        status = FRACTION
    return status, -value if negative else value, at


@kernel
def read_rows(buffer: Any, at: Any, layout: Any, ids: Any, numbers: Any, spans: Any) -> Any:
    """Fill `ids` and `numbers`, one row each; return a status and the offset that it is about.

    Where `spans` has rows, the begin and end of each number's text is written there, and fractions are accepted.
    """
    row = 0
    at = next_row(buffer, at, layout)
    while at < len(buffer):
        if layout.mark != 0:
            marked = buffer[at] == layout.mark
            if not marked or (at + 1 < len(buffer) and not _ends_field(buffer[at + 1], layout)):
                return UNKNOWN_ROW, at
            at += 1
        for column in range(ids.shape[1] + numbers.shape[1]):
            at = _skip_blanks(buffer, at)
            if column > 0 and at < len(buffer) and buffer[at] == layout.separator:
                at = _skip_blanks(buffer, at + 1)
            if at == len(buffer) or buffer[at] == NEWLINE or buffer[at] == layout.separator:
                return MISSING_FIELD, at
            status, value, end = _read_field(buffer, at, layout)
            if status == OVERFLOW:
                return ID_OVERFLOW if column < ids.shape[1] else OVERFLOW, at
            if column < ids.shape[1]:
                if status != OK:
                    return BAD_ID, at
                if value < layout.low or value > layout.high:
                    return OUT_OF_RANGE, at
                ids[row, column] = value
            else:
                place = column - ids.shape[1]
                if status == OK and value < layout.smallest:
                    return TOO_SMALL, at
                if len(spans) > 0:
                    spans[row, place, 0], spans[row, place, 1] = at, end
                elif status != OK:
                    return FRACTION, at
                numbers[row, place] = value
            at = end
        at = _skip_blanks(buffer, at)
        if at < len(buffer) and buffer[at] != NEWLINE:
            return EXTRA_FIELD, at
        row += 1
        at = next_row(buffer, at, layout)
    return OK, at


Explain = Callable[[int, str], str]
"""From a status of the parser, and the field it is about, to an error message."""


def read_table(
    source: Source, start: int, layout: Layout, id_columns: int, number_columns: int, explain: Explain
) -> tuple[Array, Array]:
    """Return the ids of every row from `start` on, and its numbers: int64 where all are whole, else float64."""
    # Memory is reserved for the rows that exist, not for those that a header claims.
    rows, _ = skip_rows(source.buffer, start, layout, len(source.data))
    ids = np.empty((rows, id_columns), dtype=np.int64)
    numbers = np.empty((rows, number_columns), dtype=np.int64)
    spans = np.empty((0, number_columns, 2), dtype=np.int64)
    status, at = read_rows(source.buffer, start, layout, ids, numbers, spans)
    if status == FRACTION:
        spans = np.empty((rows, number_columns, 2), dtype=np.int64)
        status, at = read_rows(source.buffer, start, layout, ids, numbers, spans)
    if status != OK:
        fields = line_text(source, at).replace(chr(layout.separator), " ").split(maxsplit=1)
        raise source.error(explain(status, fields[0] if fields else ""), at=at)
    return ids, _from_text(source, spans, layout, explain) if len(spans) else numbers


def line_text(source: Source, at: int) -> str:
    return source.data[at : line_end(source.buffer, at)].decode("latin-1")


def explain_row(status: int, field: str, row: str, ids: str) -> str:
    """Return the usual message; `row` shows what a row looks like, `ids` says which ids are valid."""
    shown = quoted(field)
    return {
        UNKNOWN_ROW: f"{shown} does not begin a row; a row here is {row}.",
        MISSING_FIELD: f"the row has too few fields; a row here is {row}.",
        EXTRA_FIELD: f"the row has an extra field, {shown}; a row here is {row}.",
        BAD_ID: f"{shown} is not a vertex number; a row here is {row}.",
        OUT_OF_RANGE: f"vertex {shown} is out of range ({ids}); correct the row.",
        OVERFLOW: f"{shown} does not fit a whole number of 64 bits; use smaller units.",
        TOO_SMALL: f"the weight {shown} is negative; weights must be 0 or more.",
        ID_OVERFLOW: f"the vertex number {shown} does not fit 64 bits; number the vertices from 0 or 1.",
    }[status]


def _from_text(source: Source, spans: Array, layout: Layout, explain: Explain) -> Array:
    values = np.empty(spans.shape[:2], dtype=np.float64)
    for place, (begin, end) in zip(np.ndindex(values.shape), spans.reshape(-1, 2).tolist(), strict=True):
        text = source.data[begin:end].decode("latin-1")
        try:
            value = number(text)
        except ValueError as error:
            raise source.error(f"{error}; write it in digits, as in 12.5.", at=begin) from None
        if value < layout.smallest:
            raise source.error(explain(TOO_SMALL, text), at=begin)
        values[place] = value
    return values
