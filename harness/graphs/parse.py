"""The compiled parser of numeric tables: rows of vertex ids and numbers in a byte buffer, between comments.

It reads whole numbers only. A number of another form is reported, or its place is noted, so that Python converts it
from its text: decimal fractions are correctly rounded nowhere else.
"""

from typing import Any, NamedTuple

import numpy as np

from aacbench.util.compiled import kernel

OK = 0
UNKNOWN_ROW = 1
MISSING_FIELD = 2
EXTRA_FIELD = 3
BAD_ID = 4
OUT_OF_RANGE = 5
OVERFLOW = 6
FRACTION = 7
TOO_SMALL = 8
ID_OVERFLOW = 9

NEWLINE, RETURN, TAB, BLANK, PLUS, MINUS, ZERO = 10, 13, 9, 32, 43, 45, 48
LARGEST = 2**63 - 1


class Layout(NamedTuple):
    """How rows look; bytes are given by their numbers."""

    mark: int  # what each row begins with, as in "a 1 2 803"; 0 where rows begin with their first field
    comment: int
    other_comment: int
    separator: int  # what parts fields besides blanks, such as a comma; a blank where nothing else does
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
    """Where the line that goes through this place ends."""
    while at < len(buffer) and buffer[at] != NEWLINE:
        at += 1
    return at


@kernel
def next_row(buffer: Any, at: Any, layout: Any) -> Any:
    """Where the next row begins, blank lines and comments passed over; the buffer's length where there is none."""
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
    """How many rows there are, up to a limit, and where the row after them begins."""
    rows = 0
    at = next_row(buffer, at, layout)
    while at < len(buffer) and rows < limit:
        rows += 1
        at = next_row(buffer, line_end(buffer, at), layout)
    return rows, at


@kernel
def _read_field(buffer: Any, at: Any, layout: Any) -> Any:
    """The field at this place as a whole number: status, value, and where the field ends."""
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
    """Fill `ids` and `numbers`, one row each; give a status, and the place in the buffer that it is about.

    Where `spans` has rows, the begin and end of each number's text is noted there, and fractions are let pass.
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
