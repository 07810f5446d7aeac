import gzip

import numpy as np
import pytest

from aacbench.errors import DataError, UsageError
from aacbench.graphs.readers.edgelist import read_edge_list


def read(folder, text, **options):
    path = folder / "x.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
    return read_edge_list(path, **options)


def arcs(graph):
    return list(zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True))


def test_two_columns_have_weight_one(tmp_path):
    graph = read(tmp_path, "# Caf\xe9\n% more\n0\t1\n1 2\n\n2 , 0\r\n")
    assert arcs(graph) == [(0, 1, 1), (1, 2, 1), (2, 0, 1)]
    assert graph.weights.dtype == np.int64
    assert graph.declared_directed


def test_a_third_column_is_the_weight(tmp_path):
    assert arcs(read(tmp_path, "0,1,5\n1,0,7\n")) == [(0, 1, 5), (1, 0, 7)]
    assert arcs(read(tmp_path, "0 1 5\n1 0 .1\n")) == [(0, 1, 5.0), (1, 0, 0.1)]


def test_ids_are_renumbered_in_ascending_order(tmp_path):
    graph = read(tmp_path, "9000000000 7\n7 1001\n")
    assert arcs(graph) == [(0, 1, 1), (2, 0, 1)]


def test_an_undirected_list_gives_each_edge_both_ways(tmp_path):
    graph = read(tmp_path, "0 1 5\n1 2 6\n", directed=False, name="path")
    assert arcs(graph) == [(0, 1, 5), (1, 0, 5), (1, 2, 6), (2, 1, 6)]
    assert graph.symmetric
    assert not graph.declared_directed
    assert graph.name == "path"


def test_a_vertex_that_has_only_a_self_loop_stays(tmp_path):
    graph = read(tmp_path, gzip.compress(b"1 2\n4 4\n"), id_base=1)
    assert (graph.vertices, graph.arcs) == (3, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# none\n", r"^x\.txt: there is no edge in this file"),
        ("1\n", r"line 1: an edge is .* but this line has 1 fields"),
        ("1 2 3 4\n", r"line 1: an edge is .* but this line has 4 fields"),
        ("1 2\n1 2 3\n", r"line 2: the row has a field too many, '3'"),
        ("1 2 3\n1 2\n", r"line 2: the row has too few fields; a row here is '<from> <to> <weight>'"),
        ("1,2,3\n1,,3\n", r"line 2: the row has too few fields"),
        ("1,2\n1,2,\n", r"line 2: the row has a field too many"),
        (",1,2\n", r"line 1: the row has too few fields"),
        ("source,target\n1,2\n", r"line 1: 'source' is not a vertex number"),
        ("src,dst,length\n1,2,5\n", r"an OSMnx pair; write file:EDGES\.csv\?nodes=NODES\.csv"),
        ("0 1\n-1 2\n", r"line 2: vertex '-1' is outside the vertices of this file, which count from 0"),
        ("0 1 -4\n", r"line 1: the weight '-4' is negative"),
        ("0 1 1\n0 2 Infinity\n", r"line 2: 'Infinity' is not a finite number"),
        ("0 9223372036854775808\n", r"line 1: the vertex number '9223372036854775808' does not"),
        ("PK\x03\x04\x00\n", r"line 1: an edge is"),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "this is a Matrix Market file"),
    ],
)
def test_a_bad_list_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text)


def test_an_id_below_the_base_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"line 1: vertex '0' is outside .* count from 1"):
        read(tmp_path, "0 1\n", id_base=1)
    with pytest.raises(UsageError):
        read(tmp_path, "0 1\n", id_base=-1)
