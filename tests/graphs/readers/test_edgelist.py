"""Edge lists are read with the line of what is wrong; citations get the weights that networkx's edge order gives."""

import gzip

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError, UsageError
from aacbench.graphs.readers.edgelist import read_citations, read_edge_list, weighted_citations


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


def test_ids_that_are_not_the_numbers_from_0_are_names_whatever_id_base_is(tmp_path):
    for base in (None, 1):
        assert read(tmp_path, "9 10 5\n10 11 5\n", id_base=base, directed=False).names.tolist() == ["9", "10", "11"]
    assert read(tmp_path, "1 2\n2 3\n", id_base=1).names.tolist() == ["1", "2", "3"]
    assert read(tmp_path, "1 0\n0 2\n").names is None
    named, counted = read(tmp_path, "1 2\n2 3\n"), read(tmp_path, "0 1\n1 2\n")
    assert named.digest == counted.digest  # so results of either are the same


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
        ("# none\n", r"^x\.txt: the file holds no edge"),
        ("1\n", r"line 1: an edge is .* but this line has 1 fields"),
        ("1 2 3 4\n", r"line 1: an edge is .* but this line has 4 fields"),
        ("1 2\n1 2 3\n", r"line 2: the row has an extra field, '3'"),
        ("1 2 3\n1 2\n", r"line 2: the row has too few fields; a row here is '<from> <to> <weight>'"),
        ("1,2,3\n1,,3\n", r"line 2: the row has too few fields"),
        ("1,2\n1,2,\n", r"line 2: the row has an extra field"),
        (",1,2\n", r"line 1: the row has too few fields"),
        ("Linz,Graz,5\n", r"line 1: 'Linz' is not a vertex number; .* put a line such as source,target,weight above"),
        ("0 1\n-1 2\n", r"line 2: vertex '-1' is out of range \(ids count from 0\)"),
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
    with pytest.raises(DataError, match=r"line 1: vertex '0' is out of range .*count from 1"):
        read(tmp_path, "0 1\n", id_base=1)
    with pytest.raises(UsageError):
        read(tmp_path, "0 1\n", id_base=-1)


PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60)


def by_networkx(pairs):
    """The recipe as one writes it with networkx, filled line by line."""
    whole = nx.Graph()
    whole.add_nodes_from(sorted({end for pair in pairs for end in pair}))
    whole.add_edges_from(pairs)
    vertices = sorted(max(nx.connected_components(whole), key=len))
    place = {vertex: number for number, vertex in enumerate(vertices)}
    kept = nx.Graph()
    kept.add_nodes_from(range(len(vertices)))
    kept.add_edges_from((place[u], place[v]) for u, v in pairs if u in place)
    draw = np.random.RandomState(42)
    weights = {edge: draw.uniform(1, 10) for edge in kept.edges()}
    return len(vertices), {(u, v): w for a, b in weights for u, v, w in _both(a, b, weights[a, b])}


def _both(a, b, weight):
    return [] if a == b else [(a, b, weight), (b, a, weight)]


def arcs_of(graph):
    return dict(
        zip(zip(graph.sources.tolist(), graph.indices.tolist(), strict=True), graph.weights.tolist(), strict=True)
    )


@given(PAIRS)
def test_weights_are_drawn_in_networkx_edge_order(pairs):
    vertices, arcs = by_networkx(pairs)
    graph = weighted_citations(*zip(*pairs, strict=True))
    assert graph.vertices == vertices
    assert arcs_of(graph) == arcs
    assert graph.symmetric
    assert not graph.declared_directed


def test_a_subgraph_copied_and_relabelled_by_networkx_lists_its_edges_in_the_same_order():
    random = np.random.RandomState(7)
    pairs = [*map(tuple, random.randint(0, 60, (150, 2)).tolist()), (90, 91)]
    whole = nx.Graph()
    whole.add_nodes_from(range(92))
    whole.add_edges_from(pairs)
    largest = max(nx.connected_components(whole), key=len)
    kept = nx.convert_node_labels_to_integers(whole.subgraph(largest).copy())
    draw = np.random.RandomState(42)
    expected = {edge: draw.uniform(1, 10) for edge in kept.edges()}
    found = arcs_of(weighted_citations(*zip(*pairs, strict=True)))
    assert found == {(u, v): w for a, b in expected for u, v, w in _both(a, b, expected[a, b])}


def test_the_order_of_the_lines_matters():
    ahead, back = weighted_citations([0, 0], [1, 2]), weighted_citations([0, 0], [2, 1])
    assert arcs_of(ahead)[0, 1] == arcs_of(back)[0, 2]
    assert ahead.digest != back.digest


@pytest.mark.parametrize("text", ["# papers\n1001\t9304045\n9304045 17\n", "1001,9304045\n9304045,17\n"])
def test_blanks_commas_and_comments_are_read(tmp_path, text):
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    graph = read_citations(plain, name="papers")
    assert (graph.name, graph.vertices, graph.arcs) == ("papers", 3, 4)
    assert read_citations(packed).digest == graph.digest


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"1 x\n", b"1\n", b"\xff\xfe\n"])
def test_what_is_no_list_of_citations_is_refused_by_its_path(tmp_path, content):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.txt"):
        read_citations(path)


def test_a_cut_gzip_is_refused(tmp_path):
    path = tmp_path / "cut.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n" * 5000)[:-12])
    with pytest.raises(DataError, match=r"cut\.txt\.gz"):
        read_citations(path)
