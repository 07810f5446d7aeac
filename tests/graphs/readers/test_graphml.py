"""GraphML that networkx wrote is read as networkx reads it: with names, any weights, and coordinates or none."""

import networkx as nx
import pytest
from graphs.readers.test_headed import named_arcs
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.graphs.readers.graphml import read_graphml

NODES = st.one_of(st.integers(-3, 9), st.text("ab \u2603&<", min_size=1, max_size=3).map(str.strip).filter(bool))
EDGES = st.lists(st.tuples(NODES, NODES, st.one_of(st.integers(0, 99), st.floats(0, 99))), max_size=15)


@pytest.fixture
def written(tmp_path):
    def write(network):
        nx.write_graphml(network, tmp_path / "x.graphml")
        return tmp_path / "x.graphml"

    return write


@given(edges=EDGES, alone=NODES, kind=st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
def test_a_graph_is_read_as_networkx_reads_it(tmp_path_factory, edges, alone, kind):
    network = kind()
    network.add_node(alone)
    network.add_weighted_edges_from(edges)
    path = tmp_path_factory.getbasetemp() / "x.graphml"
    nx.write_graphml(network, path)
    graph, expected = read_graphml(path), nx.read_graphml(path, force_multigraph=True).to_directed()
    assert [graph.vertex_name(v) for v in range(graph.vertices)] == list(expected)
    least = {}
    for a, b, weight in expected.edges(data="weight"):
        least[a, b] = min(weight, least.get((a, b), weight))
    assert named_arcs(graph) == {(a, b): weight for (a, b), weight in least.items() if a != b}
    assert graph.coords is None
    assert graph.declared_directed == network.is_directed()


def test_numbers_from_zero_in_order_are_no_names(written):
    assert read_graphml(written(nx.path_graph(3))).names is None
    assert read_graphml(written(nx.path_graph([0, 2, 1]))).names.tolist() == ["0", "2", "1"]


def test_without_attributes_every_weight_is_one_and_with_others_one_is_chosen(written):
    assert set(named_arcs(read_graphml(written(nx.path_graph(3)))).values()) == {1}
    network = nx.DiGraph()
    network.add_edge("a", "b", minutes=4)
    path = written(network)
    with pytest.raises(DataError, match=r"no attribute 'length' or 'weight'; .* 'minutes', or weight=none"):
        read_graphml(path)
    assert named_arcs(read_graphml(path, weight="minutes")) == {("a", "b"): 4}
    assert named_arcs(read_graphml(path, weight="none")) == {("a", "b"): 1}


def test_the_default_of_an_attribute_stands_for_missing_ones(written):
    network = nx.DiGraph(edge_default={"weight": 9})
    network.add_edge("a", "b", weight=4)
    network.add_edge("b", "a")
    assert named_arcs(read_graphml(written(network))) == {("a", "b"): 4, ("b", "a"): 9}
    del network.graph["edge_default"]
    with pytest.raises(DataError, match=r"^x\.graphml, line \d+: weight is missing; give every row one"):
        read_graphml(written(network))
