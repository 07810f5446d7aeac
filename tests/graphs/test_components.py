"""Components against networkx, with the rule for ties."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from aacbench.errors import UsageError
from aacbench.graphs import components, from_arcs

FOUND = {"strong": nx.strongly_connected_components, "weak": nx.weakly_connected_components}


@st.composite
def arc_lists(draw):
    size = draw(st.integers(1, 10))
    vertex = st.integers(0, size - 1)
    return size, draw(st.lists(st.tuples(vertex, vertex, st.integers(0, 3)), max_size=20))


def build(size, arcs, **extra):
    tails, heads, weights = np.array(arcs, dtype=np.int64).reshape(-1, 3).T
    return from_arcs(size, tails, heads, weights, **extra)


def reference(size, arcs):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from((tail, head) for tail, head, _ in arcs)
    return graph


@pytest.mark.parametrize("connection", ["strong", "weak"])
def test_components_are_networkxs(connection):
    @given(arc_lists())
    def compare(case):
        wanted = [sorted(c) for c in FOUND[connection](reference(*case))]
        labels = components.labels(build(*case), connection)
        assert sorted(np.flatnonzero(labels == c).tolist() for c in np.unique(labels)) == sorted(wanted)
        # The longest, and of those the one that begins lowest.
        assert components.largest(build(*case), connection).tolist() == min(wanted, key=lambda c: (-len(c), c[0]))

    compare()


@pytest.mark.parametrize("connection", ["strong", "weak"])
@pytest.mark.parametrize("arcs", [500, 1000, 1500, 4000])
def test_components_of_larger_graphs_are_scipys(connection, arcs):
    tails, heads = np.random.default_rng(arcs).integers(0, 1000, (2, arcs))
    graph = from_arcs(1000, tails, heads, np.ones(arcs, dtype=np.int64))
    pattern = csr_array((np.ones(graph.arcs), graph.indices, graph.indptr), shape=(1000, 1000))
    wanted = connected_components(pattern, connection=connection)[1]
    found = components.labels(graph, connection)
    pairs = len(np.unique(np.stack([found, wanted]), axis=1).T)
    assert pairs == len(np.unique(wanted))
    assert np.unique(found).tolist() == list(range(pairs))


@pytest.mark.parametrize("connection", ["strong", "weak"])
def test_of_equal_components_the_one_with_the_lowest_vertex_is_taken(connection):
    graph = from_arcs(6, [5, 3, 4, 1, 2, 0], [3, 5, 1, 4, 0, 2], [1] * 6)
    assert components.largest(graph, connection).tolist() == [0, 2]


def test_an_arc_of_weight_zero_connects():
    assert components.largest(from_arcs(3, [1, 2], [2, 1], [0, 0])).tolist() == [1, 2]


def test_an_unknown_connection_is_refused():
    with pytest.raises(UsageError, match="'strong' or 'weak', not 'biconnected'"):
        components.largest(from_arcs(2, [0], [1], [1]), "biconnected")
