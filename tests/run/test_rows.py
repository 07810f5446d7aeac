"""The tables of a cell: fixed bytes, read by column name, errors that name file and line."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.run import rows
from aacbench.run.layout import QUERIES_FILE
from aacbench.run.matched import by_query, expansions
from aacbench.run.records import TEST
from aacbench.run.rows import QUERIES, TIMINGS, read_queries, read_timings, totals_of, write_queries, write_timings
from aacbench.run.store import Cell, read_counts

INT64 = st.integers(-(2**63), 2**63 - 1)


def queries(count=2, **columns):
    made = {
        name: ["test"] * count if kind == rows.TEXT else np.arange(count, dtype=np.int64)
        for name, kind in QUERIES.items()
    }
    return made | columns


def test_columns_and_bytes_are_fixed():
    data = write_queries(
        queries(
            outcome=["ok", "error"],
            cost=np.array([0.1 + 0.2, -1.0]),
            path_cost=np.array([3.0, 1e-7]),
            h_source=np.array([np.inf, np.nan]),
            h_calls=np.array([7, 8], dtype=np.int32),
        )
    )
    assert data == (
        b"query,split,source,target,outcome,cost,reference_cost,path_cost,path_edges,expanded,reexpanded,generated,"
        b"stale_pops,h_calls,h_source,below_optimum,on_optimum,h_work\n"
        b"0,test,0,0,ok,0.30000000000000004,0,3.0,0,0,0,0,0,7,inf,0,0,0\n"
        b"1,test,1,1,error,-1.0,1,1e-07,1,1,1,1,1,8,nan,1,1,1\n"
    )
    assert write_timings({name: [i] for i, name in enumerate(TIMINGS)}) == (
        b"query,repetition,order,wall_ns\n0,1,2,3\n"
    )


@given(st.data(), st.integers(0, 5))
def test_reading_gives_back_what_was_written(data, count):
    column = {
        rows.TEXT: st.lists(st.sampled_from(["ok", "test", "", "out-of-memory"]), min_size=count, max_size=count),
        rows.WHOLE: st.lists(INT64, min_size=count, max_size=count).map(lambda x: np.array(x, np.int64)),
        rows.NUMBER: st.lists(st.floats(), min_size=count, max_size=count).map(lambda x: np.array(x, np.float64))
        | st.lists(INT64, min_size=count, max_size=count).map(lambda x: np.array(x, np.int64)),
    }
    written = {name: data.draw(column[kind]) for name, kind in QUERIES.items()}
    read = read_queries(write_queries(written))
    assert list(read) == list(QUERIES)
    for name, values in written.items():
        assert read[name].tolist() == list(values) or np.array_equal(read[name], values, equal_nan=True)
        if count and isinstance(values, np.ndarray):
            assert read[name].dtype == values.dtype
    assert write_queries(read) == write_queries(written) or not count


def test_rows_of_older_versions_have_no_work():
    header, *lines = write_queries(queries(count=2)).decode().splitlines()
    assert header.endswith(",h_work")
    older = "\n".join(line.rpartition(",")[0] for line in (header, *lines)).encode()
    assert read_queries(older)["h_work"].tolist() == [0, 0]
    assert read_queries(older)["on_optimum"].tolist() == [0, 1]


def test_other_order_and_more_columns_are_read():
    names = [*reversed(TIMINGS), "remark"]
    text = io.StringIO()
    csv.writer(text).writerows([names, [40, 30, 20, 10, 'a "quoted", remark'], [4, 3, 2, 1, ""]])
    read = read_timings(b"\xef\xbb\xbf" + text.getvalue().encode())
    assert {name: list(values) for name, values in read.items()} == {
        "query": [10, 1],
        "repetition": [20, 2],
        "order": [30, 3],
        "wall_ns": [40, 4],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the column 'query'"),
        ("query,repetition,order\n1,2,3\n", "line 1: the column 'wall_ns'"),
        ("query,query,repetition,order,wall_ns\n", "line 1: the column 'query'"),
        ("query,repetition,order,wall_ns\n1,2,3,4\n1,2,3\n", "line 3: 3 values where 4 are expected"),
        ("query,repetition,order,wall_ns\n1,2,3,4\n\n1,2,3.0,4\n", "line 4: the order '3.0' is not a whole number"),
        ("query,repetition,order,wall_ns\n1_0,2,3,4\n", "line 2: the query '1_0'"),
        ("query,repetition,order,wall_ns\n1,2,3,9223372036854775808\n", "line 2: .* too large"),
        ('query,repetition,order,wall_ns\n1,2,3,"4\n', "cannot be read"),
    ],
)
def test_what_cannot_be_read_names_file_and_line(text, message):
    with pytest.raises(DataError, match=rf"here/timings\.csv.*{message}"):
        read_timings(text.encode(), "here/timings.csv")


def test_costs_are_checked():
    data = write_queries(queries(cost=np.array([1.5, 2.5])))
    for bad in (b"1,5", b"1.5 ", b"0x1", b"", b"1.", b"infinity"):
        with pytest.raises(DataError, match=r"x\.csv, line 2"):
            read_queries(data.replace(b"1.5", bad, 1), "x.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_queries(data.replace(b"test", b"\xff", 1))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"extra": [1, 2]}, "must have the columns"),
        ({"cost": [1, 2, 3]}, "same length"),
        ({"query": 5}, "same length"),
        ({"expanded": [1.0, 2.0]}, "Column expanded of queries.csv: 1.0 is not a whole number"),
        ({"expanded": [True, False]}, "True is not a whole number"),
        ({"cost": ["1", "2"]}, "'1' is not a number"),
        ({"split": [1, 2]}, "1 is not a text"),
        ({"outcome": ["a,b", "c"]}, "'a,b' is not one plain word"),
        ({"outcome": ["a\nb", "c"]}, "is not one plain word"),
    ],
)
def test_what_has_no_place_in_a_table_is_refused(columns, message):
    with pytest.raises(DataError, match=message):
        write_queries(queries(**columns))


WORDS = st.sampled_from([*rows.USUAL_WORDS, "other", ""])
WHOLES = st.one_of(st.integers(-20, 20), st.integers(-(2**40), 2**40), INT64)


@given(st.lists(st.tuples(*[WORDS if kind == rows.TEXT else WHOLES for kind in QUERIES.values()]), max_size=4))
def test_tables_of_whole_numbers_are_read_as_any_table_is(lines):
    text = [",".join(QUERIES), *(",".join(map(str, line)) for line in lines)]
    data = ("\n".join(text) + "\n").encode()
    read, slowly = read_queries(data), rows.read_any(QUERIES, data, "queries.csv")
    assert list(read) == list(slowly)
    for name, values in slowly.items():
        assert read[name].tolist() == values.tolist()
        assert read[name].dtype == values.dtype


@pytest.mark.parametrize(
    "field",
    [
        "",
        " 1",
        "+1",
        "1.0",
        "1e3",
        "1_0",
        "--1",
        "0x1",
        "1,1",
        "nan",
        "test",
        "te5st",
        "9" * 19,
        "9" * 30,
        "-" + "9" * 30,
    ],
)
@pytest.mark.parametrize("column", ["query", "expanded"])
def test_what_is_no_whole_number_is_refused_beside_usual_words(column, field):
    made = {name: b"test" if kind == rows.TEXT else b"1" for name, kind in QUERIES.items()}
    data = b",".join(map(str.encode, QUERIES)) + b"\n" + b",".join((made | {column: field.encode()}).values()) + b"\n"
    with pytest.raises(DataError, match=r"queries\.csv, line 2"):
        read_queries(data)


@pytest.mark.parametrize("word", ["te5st", "5test", "test5", "5", "testok", "tes", ""])
@pytest.mark.parametrize("column", ["split", "outcome"])
def test_other_words_come_back_as_they_are(column, word):
    assert read_queries(write_queries(queries() | {column: ["test", word]}))[column].tolist() == ["test", word]


@pytest.mark.parametrize("end", [b"\r\n", b"\n\n"])
def test_other_line_ends_are_read_too(end):
    data = write_queries(queries(split=["test", "validation"]))
    assert write_queries(read_queries(data.replace(b"\n", end))) == data


def test_a_column_that_there_is_not_is_a_key_error_as_in_a_dict():
    read = read_queries(write_queries(queries(split=["test", "test"], outcome=["ok", "ok"])))
    assert type(read) is not dict
    with pytest.raises(KeyError):
        read["nothing"]
    assert "nothing" not in read
    assert len(read) == len(QUERIES)


SPLITS, COLUMNS = ("validation", "test"), ("expanded", "h_work")
TABLES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["validation", "test", "train", "tests", "tes"]),
            st.integers(0, 10**12 - 1),
            st.integers(0, 11),
        ),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=4,
)


def _table(lines, **more):
    split, expanded, work = zip(*lines, strict=True)
    return write_queries(queries(len(lines), split=split, expanded=expanded, h_work=work, **more))


def _totals(table):
    columns = read_queries(table)
    found = {}
    for split in SPLITS:
        inside = columns["split"] == split
        found |= {(split, name): (columns[name][inside].sum(), inside.sum()) for name in COLUMNS}
    return found


@given(TABLES)
def test_totals_of_many_tables_at_once_are_those_of_each(tables):
    data = [_table(lines, cost=np.full(len(lines), 0.5)) for lines in tables]
    assert totals_of(data, SPLITS, COLUMNS) == list(map(_totals, data))


@given(TABLES, st.data())
def test_counts_of_many_cells_at_once_are_those_of_each(tables, data):
    outcomes = [data.draw(st.lists(st.sampled_from(["ok"] * 9 + ["o", "unreachable"]), min_size=4)) for _ in tables]
    made = [_table(lines, outcome=some[: len(lines)]) for lines, some in zip(tables, outcomes, strict=True)]
    cells = [Cell("", {}, {QUERIES_FILE: table}) for table in made]
    alone = [by_query(cell, "expanded") for cell in cells]
    read_counts(cells)
    assert [dict(expansions(cell)) for cell in cells] == alone
    assert [TEST in cell.counts for cell in cells] == [None not in counts.values() for counts in alone]


@pytest.mark.parametrize("lines", ["0,test,1,2,ok{}\n0,test,1,2,ok{}\n", "0,test,1,2,ok{}\n-1,test,1,2,ok{}\n"])
def test_counts_that_are_unlike_the_usual_are_read_one_by_one(lines):
    header, rest = USUAL.partition(b"\n")[0], "," + ",".join("0" * (len(QUERIES) - 5))
    cell = Cell("", {}, {QUERIES_FILE: header + b"\n" + lines.format(rest, rest).encode()})
    read_counts([cell])
    assert not cell.counts
    assert expansions(cell) == by_query(cell, "expanded")


USUAL = _table([("test", 10, 0), ("validation", 7, 3)])


@pytest.mark.parametrize(
    "unusual",
    [
        USUAL.replace(b",test,", b',"test",'),
        USUAL.replace(b"\n", b"\r\n"),
        USUAL.replace(b",10,", b",-10,"),
        USUAL.replace(b",10,", b",1e1,"),
        USUAL.replace(b",10,", b",,"),
        USUAL.replace(b",10,", b",10000000000000,"),
        USUAL.replace(b",10,", b",10,10,"),
        USUAL.replace(b",10,", b",10\n"),
        USUAL.replace(b"expanded", b"generated", 1),
        USUAL.removesuffix(b"\n"),
        USUAL.partition(b"\n")[0] + b"\n",
        b"",
    ],
)
def test_a_table_unlike_the_usual_is_left_to_the_reader_of_any(unusual):
    assert unusual != USUAL
    assert totals_of([USUAL, unusual], SPLITS, COLUMNS) is None
