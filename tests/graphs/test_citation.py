"""The citation recipe draws the weights that networkx's edge order would."""

import gzip

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.graphs.citation import read_citations, weighted_citations

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
