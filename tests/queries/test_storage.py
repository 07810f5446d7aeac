"""Query files: what is written comes back, and a bad line is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.graphs import from_arcs
from aacbench.queries import QuerySet
from aacbench.queries.storage import read_csv, write_csv

GRAPH = from_arcs(1000, [0], [1], [1], name="g")
vertex = st.integers(0, 999)
rows = st.lists(st.tuples(vertex, vertex, st.floats(0, 1e300)))


@given(rows, st.booleans())
def test_what_is_written_comes_back(tmp_path_factory, given_rows, with_optima):
    path = tmp_path_factory.mktemp("queries") / "mine.csv"
    sources, targets, optima = zip(*given_rows, strict=True) if given_rows else ((), (), ())
    queries = QuerySet(
        sources=np.array(sources), targets=np.array(targets), optima=np.array(optima) if with_optima else None
    )
    write_csv(queries, path)
    back = read_csv(path, GRAPH)
    assert back.digest == queries.digest
    assert (back.name, back.mode) == ("mine", "file")


def test_the_file_is_plain_text_in_the_order_of_the_set(tmp_path):
    path = tmp_path / "q.csv"
    write_csv(QuerySet(sources=np.array([7, 2]), targets=np.array([3, 9]), optima=np.array([0.1, 4.0])), path)
    assert path.read_bytes() == b"source,target,optimum\n7,3,0.1\n2,9,4.0\n"


def test_other_peoples_line_ends_blanks_and_byte_marks_are_read(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes("\ufeffsource, target\r\n\r\n 7, 3\r\n2,9 \r\n\r\n".encode())
    queries = read_csv(path, GRAPH, name="theirs")
    assert (queries.sources.tolist(), queries.targets.tolist(), queries.name) == ([7, 2], [3, 9], "theirs")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the first line must be"),
        ("1,2\n", "the first line must be"),
        ("target,source\n1,2\n", "the first line must be"),
        ("source,target\n1,2\n3\n", "line 3: 2 values are wanted, not 1"),
        ("source,target\n1,2,3\n", "line 2: 2 values are wanted, not 3"),
        ("source,target\n1,2\n\n1,1000\n", r"line 4: graph 'g' has the vertices 0\.\.999, and no 1000"),
        ("source,target\n1,99999999999999999999999\n", "line 2: .* and no 9999"),
        ("source,target\n-1,2\n", "line 2: '-1' is not a vertex"),
        ("source,target\n1.0,2\n", "line 2: '1.0' is not a vertex"),
        ("source,target\n1_0,2\n", "line 2: '1_0' is not a vertex"),
        ("source,target\n\u0663,2\n", "line 2: '\u0663' is not a vertex"),
        ("source,target\n1," + "9" * 5000 + "\n", "line 2: .* and no 9999"),
        ("source,target\n,2\n", "line 2: '' is not a vertex"),
        ("source,target,optimum\n1,2,\n", "line 2: '' is not an optimum"),
        ("source,target,optimum\n1,2,nan\n", "line 2: 'nan' is not an optimum"),
        ("source,target,optimum\n1,2,inf\n", "line 2: 'inf' is not an optimum"),
        ("source,target,optimum\n1,2,-3\n", "line 2: '-3' is not an optimum"),
        ('source,target\n"1,2\n', "cannot be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_csv(path, GRAPH)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv cannot be read"):
        read_csv(tmp_path / "none.csv", GRAPH)
    (tmp_path / "bytes.csv").write_bytes(b"source,target\n\xff,1\n")
    with pytest.raises(DataError, match=r"bytes\.csv cannot be read"):
        read_csv(tmp_path / "bytes.csv", GRAPH)
