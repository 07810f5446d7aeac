"""The compiled parser against a slow one that uses regular expressions and Python's own integers."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import example_count

from aacbench.graphs.readers import table
from aacbench.graphs.readers.table import Layout

ARCS = Layout(ord("a"), ord("c"), ord("c"), table.BLANK, 1, 12, 0)
COORDINATES = Layout(ord("v"), ord("c"), ord("c"), table.BLANK, 1, 12, -table.LARGEST)
EDGES = Layout(0, ord("#"), ord("%"), ord(","), 0, table.LARGEST, 0)

BLANKS = re.compile(rb"[ \t\r]*")
PIECES = [b"a", b"v", b"c", b"#", b"%", b"p", b" ", b" ", b"\t", b"\r", b",", b"\n", b"\n", b"0", b"1", b"7", b"12"]
PIECES += [b"-", b"+", b".5", b"1e3", b"nan", b"\x00", b"\xff", b"9223372036854775807", b"9223372036854775808"]
ROWS = [b"a 1 2 3\n", b"a 2 1 0.5\n", b"v 1 -2 3\n", b"1 2\n", b"0,4\n", b"3\t5\t7\n", b"c x\n", b"# x\n"]
TEXTS = st.lists(st.sampled_from(PIECES + ROWS * 2), max_size=12).map(b"".join)


def slow_rows(data: bytes, layout: Layout) -> list[tuple[int, bytes]]:
    """Each row with the place where it begins."""
    found, place = [], 0
    for line in data.split(b"\n"):
        begin = BLANKS.match(line).end()
        if line[begin:] and line[begin] not in (layout.comment, layout.other_comment):
            found.append((place + begin, line[begin:]))
        place += len(line) + 1
    return found


def slow_read(data, layout, id_columns, number_columns, texts):
    """What `read_rows` gives: status, place, ids, numbers and the texts of the numbers."""
    separator = b"" if layout.separator == table.BLANK else bytes([layout.separator])
    field = re.compile(rb"[^ \t\r" + separator + rb"]+")
    all_ids, all_numbers, all_texts = [], [], []
    for begin, line in slow_rows(data, layout):
        ids, numbers, spans, at = [], [], [], 0
        if layout.mark:
            if field.match(line) is None or field.match(line)[0] != bytes([layout.mark]):
                return table.UNKNOWN_ROW, begin, [], [], []
            at = 1
        for column in range(id_columns + number_columns):
            at = BLANKS.match(line, at).end()
            if column and separator and line[at : at + 1] == separator:
                at = BLANKS.match(line, at + 1).end()
            found = field.match(line, at)
            if found is None:
                return table.MISSING_FIELD, begin + at, [], [], []
            is_whole = re.fullmatch(rb"[+-]?[0-9]+", found[0])
            value = int(found[0]) if is_whole else 0
            status = table.OK
            if abs(value) > table.LARGEST:
                status = table.ID_OVERFLOW if column < id_columns else table.OVERFLOW
            elif column < id_columns:
                if not is_whole:
                    status = table.BAD_ID
                elif not layout.low <= value <= layout.high:
                    status = table.OUT_OF_RANGE
                ids.append(value)
            else:
                if not is_whole and not texts:
                    status = table.FRACTION
                elif is_whole and value < layout.smallest:
                    status = table.TOO_SMALL
                numbers.append(value)
                spans.append(found[0])
            if status != table.OK:
                return status, begin + at, [], [], []
            at = found.end()
        at = BLANKS.match(line, at).end()
        if at < len(line):
            return table.EXTRA_FIELD, begin + at, [], [], []
        all_ids.append(ids)
        all_numbers.append(numbers)
        all_texts.append(spans)
    return table.OK, len(data), all_ids, all_numbers, all_texts


@pytest.mark.parametrize(
    ("layout", "id_columns", "number_columns"), [(ARCS, 2, 1), (COORDINATES, 1, 2), (EDGES, 2, 0), (EDGES, 2, 1)]
)
@pytest.mark.parametrize("texts", [False, True])
@example_count(300)
@given(data=TEXTS)
@example(data=b"a 1 2 9223372036854775807\na 1 2 9223372036854775808")
@example(data=b"1,2,\n")
@example(data=b",1,2\n")
@example(data=b"1,,2\n")
@example(data=b"a")
def test_compiled_parser_agrees_with_the_slow_one(layout, id_columns, number_columns, texts, data):
    buffer = np.frombuffer(data, dtype=np.uint8)
    rows, end = table.skip_rows(buffer, 0, layout, len(data))
    assert (rows, end) == (len(slow_rows(data, layout)), len(data))
    ids = np.empty((rows, id_columns), dtype=np.int64)
    numbers = np.empty((rows, number_columns), dtype=np.int64)
    spans = np.empty((rows if texts else 0, number_columns, 2), dtype=np.int64)
    # With no rows at all, `spans` cannot ask for texts, and nothing depends on it.
    expected = slow_read(data, layout, id_columns, number_columns, texts)
    status, at = table.read_rows(buffer, 0, layout, ids, numbers, spans)
    assert (status, at) == expected[:2]
    if status == table.OK:
        assert ids.tolist() == expected[2]
        if texts:
            assert [[data[a:b] for a, b in row] for row in spans.tolist()] == expected[4]
        else:
            assert numbers.tolist() == expected[3]


@example_count(100)
@given(data=TEXTS, row=st.integers(0, 5))
def test_a_row_is_found_by_its_number(data, row):
    found = [begin for begin, _ in slow_rows(data, EDGES)]
    expected = found[row] if row < len(found) else len(data)
    assert table.skip_rows(np.frombuffer(data, dtype=np.uint8), 0, EDGES, row)[1] == expected
