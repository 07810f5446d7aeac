import gzip
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import example_count

from aacbench.errors import DataError, UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.readers.dimacs import read_dimacs

GRAPH = "c a caf\xe9\np sp 3 4\nc\na 1 2 5\na 2 1 5\na 1 2 4\na 3 3 1\n"
COORDINATES = "c\np aux sp co 3\nv 1 -7 8\nv 3 0 1\nv 2 4 5\n"


def read(folder, graph=GRAPH, coordinates=None, **options):
    path = folder / "x.gr"
    path.write_bytes(graph.encode("latin-1"))
    coords = None
    if coordinates is not None:
        coords = folder / "x.co"
        coords.write_bytes(coordinates.encode("latin-1"))
    return read_dimacs(path, coords, **options)


def test_arcs_and_coordinates_are_read(tmp_path):
    graph = read(tmp_path, coordinates=COORDINATES, name="tiny")
    assert graph.indptr.tolist() == [0, 1, 2, 2]
    assert graph.indices.tolist() == [1, 0]
    assert graph.weights.tolist() == [4, 5]
    assert graph.weights.dtype == np.int64
    assert graph.coords.tolist() == [[-7, 8], [4, 5], [0, 1]]
    assert graph.declared_directed
    assert graph.name == "tiny"


def test_plain_gzip_and_windows_files_give_the_same_graph(tmp_path):
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(GRAPH.encode("latin-1")))
    assert read_dimacs(packed).digest == read(tmp_path).digest
    assert read(tmp_path, GRAPH.replace("\n", "\r\n").replace(" ", "\t")).digest == read(tmp_path).digest
    assert read(tmp_path, GRAPH.rstrip("\n")).digest == read(tmp_path).digest


def test_one_fraction_makes_all_weights_float(tmp_path):
    graph = read(tmp_path, "p sp 2 2\na 1 2 3\na 2 1 0.1\n")
    assert graph.weights.dtype == np.float64
    assert graph.weights.tolist() == [3.0, 0.1]


def test_ids_from_zero_are_never_guessed(tmp_path):
    text = "p sp 2 2\na 1 0 3\na 0 1 3\n"
    with pytest.raises(DataError, match=r"^x\.gr, line 2: the ids of this file start at 0, .*file:PATH\?id_base=0"):
        read(tmp_path, text)
    with pytest.raises(DataError, match=r"^x\.co, line 2: the ids of this file start at 0"):
        read(tmp_path, "p sp 2 1\na 1 2 3\n", "p aux sp co 2\nv 0 1 1\nv 1 2 2\n")
    assert read(tmp_path, text, "p aux sp co 2\nv 0 1 1\nv 1 2 2\n", id_base=0).coords.tolist() == [[1, 1], [2, 2]]
    with pytest.raises(DataError, match=r"line 2: vertex '0' is out of range \(1 to 2\)"):
        read(tmp_path, text, id_base=1)
    with pytest.raises(UsageError, match="must be 0 or 1"):
        read(tmp_path, text, id_base=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p sp 3 2\na 1 2 3\n", r"^x\.gr: the header says 2 arcs, but the file has 1"),
        ("p sp 3 1\na 1 2 3\na 1 2 3\n", r"^x\.gr: the header says 1 arcs, but the file has 2"),
        ("p sp 3 1\na 1 4 3\n", r"^x\.gr, line 2: vertex '4' is out of range \(1 to 3\)"),
        ("p sp 3 1\na -1 2 3\n", r"line 2: vertex '-1' is out of range"),
        ("p sp 3 1\n\nc\na 1 2 -3\n", r"line 4: the weight '-3' is negative"),
        ("p sp 3 1\na 1 2 -0.5\n", r"line 2: the weight '-0.5' is negative"),
        ("p sp 3 1\na 1 2 nan\n", r"line 2: 'nan' is not a finite number"),
        ("p sp 3 1\na 1 2 -inf\n", r"line 2: '-inf' is not a finite number"),
        ("p sp 3 1\na 1 2 1e999\n", r"line 2: '1e999' is too large"),
        ("p sp 3 1\na 1 2 1_0\n", r"line 2: '1_0' is not a number"),
        ("p sp 3 1\na 1 2 9223372036854775808\n", r"line 2: '9223372036854775808' does not fit"),
        ("p sp 3 2\na 1 2 0.5\na 1 2 9223372036854775808\n", r"line 3: '9223372036854775808' does not fit"),
        ("p sp 3 1\na 99999999999999999999 2 1\n", r"line 2: the vertex number '99999999999999999999' does not fit"),
        ("p sp 3 2\na 1 2 9223372036854775807\na 2 1 9223372036854775807\n", r"^x\.gr: .*2\^62"),
        ("p sp 3 1\na 1.0 2 3\n", r"line 2: '1.0' is not a vertex number"),
        ("p sp 3 1\na 1 2\n", r"line 2: the row has too few fields"),
        ("p sp 3 1\na 1 2 3 4\n", r"line 2: the row has an extra field, '4'"),
        ("p sp 3 1\na 1 2 3\np sp 3 1\n", r"line 3: the file has a second header"),
        ("p sp 3 1\nb 1 2 3\n", r"line 2: 'b' does not begin a row"),
        ("p sp 3 1\na1 2 3\n", r"line 2: 'a1' does not begin a row"),
        ("p sp 3 1\n\x00\x01\xff\n", r"line 2: .* does not begin a row"),
        ("c only\n", r"the header 'p sp <vertices> <arcs>' must come before all rows\.$"),
        ("c\na 1 2 3\np sp 3 1\n", r"line 2: the header .* must come before all rows, not 'a 1 2 3'"),
        ("p max 3 1\na 1 2 3\n", r"line 1: the header 'p sp <vertices> <arcs>'"),
        ("p sp 3\n", r"line 1: the header 'p sp <vertices> <arcs>'"),
        ("p sp x 1\n", r"line 1: 'x' is not a whole number; the header is"),
        ("p sp 0 0\n", r"line 1: a graph must have between 1 and \d+ vertices, not 0"),
        ("p sp 3 -1\na 1 2 3\n", r"the header says -1 arcs, but the file has 1"),
        ("p sp 999999999999 5\na 1 2 3\n", r"line 1: a graph must have between 1 and \d+ vertices, not 999999999999"),
    ],
)
def test_a_bad_graph_file_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith("x.gr")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p aux sp co 4\n", r"coordinates of 4 vertices, but x\.gr has 3; give the \.co file of the same graph"),
        ("p aux sp co 3\nv 1 1 1\nv 3 1 1\n", r"header says 3 vertices, but the file has 2; vertex 2 is missing"),
        ("p aux sp co 3\nv 1 1 1\nc\nv 2 1 1\nv 1 1 1\n", r"line 5: vertex 1 has a second coordinate"),
        ("p aux sp co 3\nv 1 1 1\nv 2 1 1\nv 3 1 1\nv 2 1 1\n", r"line 5: vertex 2 has a second coordinate"),
        ("p aux sp co 3\nv 1 1 nan\n", r"line 2: 'nan' is not a finite number"),
        ("p aux sp co 3\nv 4 1 1\n", r"line 2: vertex '4' is out of range"),
        ("p aux sp co 3\nv 1 1\n", r"line 2: the row has too few fields; a row here is 'v <vertex> <x> <y>'"),
        ("p sp 3 3\n", r"line 1: the header 'p aux sp co <vertices>'"),
    ],
)
def test_bad_coordinates_are_named_with_their_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, GRAPH, text)
    assert str(caught.value).startswith("x.co")


@pytest.mark.parametrize("header", ["p sp 999999999999 5", "p sp 2000000000 1", "p sp 5 999999999999"])
def test_a_header_that_claims_absurd_sizes_takes_no_memory(tmp_path, header):
    read(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(DataError):
            read(tmp_path, header + "\na 1 2 3\n")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


ARCS = st.tuples(st.integers(0, 5), st.integers(0, 5))
WHOLE, REAL = st.integers(0, 2**40), st.floats(0, 1e300, allow_nan=False)


@example_count(100)
@given(
    arcs=st.lists(ARCS, max_size=8), data=st.data(), base=st.sampled_from([0, 1]), kind=st.sampled_from([WHOLE, REAL])
)
def test_what_is_written_is_what_is_read(arcs, data, base, kind):
    weights = data.draw(st.lists(kind, min_size=len(arcs), max_size=len(arcs)))
    rows = [f"a {s + base} {t + base} {w!r}\n" for (s, t), w in zip(arcs, weights, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        graph = read(Path(folder), f"p sp 6 {len(rows)}\n" + "".join(rows), id_base=base)
    sources, targets = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    dtype = np.float64 if kind is REAL and arcs else np.int64
    assert graph.digest == from_arcs(6, sources, targets, np.array(weights, dtype=dtype)).digest
