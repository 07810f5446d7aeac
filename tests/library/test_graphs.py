"""Graphs from what researchers have in memory: the same arcs, the same names, or one sentence that says why not."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

import aacbench
from aacbench.errors import AacbenchError, DataError

ARCS = [(0, 1, 3), (1, 2, 4), (2, 0, 5)]
TABLE = pd.DataFrame(ARCS, columns=["source", "target", "weight"])
LETTERS = TABLE.replace({"source": dict(enumerate("abc")), "target": dict(enumerate("abc"))})


def arcs(graph):
    name = str if graph.names is None else graph.vertex_name
    return {(name(u), name(v), w) for u, v, w in zip(graph.sources, graph.indices, graph.weights.tolist(), strict=True)}


def written(edges):
    return {(str(u), str(v), w) for u, v, w in edges}


def matrix():
    tails, heads, weights = zip(*ARCS, strict=True)
    return sparse.coo_array((weights, (tails, heads)), shape=(4, 4))


@pytest.mark.parametrize(
    "data",
    [tuple(zip(*ARCS, strict=True)), tuple(TABLE[column].to_numpy() for column in TABLE), matrix(), TABLE],
    ids=["lists", "arrays", "sparse", "table"],
)
def test_every_form_gives_the_same_arcs(data):
    graph = aacbench.as_graph(data, name="three")
    assert arcs(graph) == written(ARCS)
    assert (graph.name, graph.integral, graph.declared_directed, graph.names) == ("three", True, True, None)


def test_a_graph_and_a_name_are_graphs_already():
    graph = aacbench.as_graph("p7")
    assert (graph.name, aacbench.as_graph(graph)) == ("p7", graph)


def test_undirected_edges_go_both_ways():
    assert arcs(aacbench.as_graph(TABLE, directed=False)) == written(ARCS + [(v, u, w) for u, v, w in ARCS])


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_are_what_their_class_says(kind):
    made = kind([("x", "y", {"km": 2}), ("y", "z", {"km": 3}), ("y", "x", {"km": 1})])
    found = arcs(aacbench.as_graph(made, weight="km"))
    there = [("x", "y", 2), ("y", "z", 3), ("y", "x", 1)]
    both = [("x", "y", 1), ("y", "x", 1), ("y", "z", 3), ("z", "y", 3)]
    assert found == written(there if made.is_directed() else both)


def test_nodes_that_are_numbers_keep_them_and_bring_their_coordinates():
    made = nx.Graph([(2, 0), (0, 1)])
    for node in made:
        made.nodes[node]["pos"] = (node, 10.5)
    graph = aacbench.as_graph(made, weight=None)
    assert arcs(graph) == written([(0, 1, 1), (1, 0, 1), (0, 2, 1), (2, 0, 1)])
    assert graph.coords.tolist() == [[0, 10.5], [1, 10.5], [2, 10.5]]


def test_ids_are_kept_as_names_in_ascending_order():
    graph = aacbench.as_graph(LETTERS)
    assert graph.names.tolist() == ["a", "b", "c"]
    assert arcs(graph) == written([("abc"[u], "abc"[v], w) for u, v, w in ARCS])
    far = TABLE.assign(source=TABLE.source * 10, target=TABLE.target * 10)
    assert aacbench.as_graph(far).names.tolist() == ["0", "10", "20"]


def test_arrays_without_weights_weigh_1():
    ones = written([(u, v, 1) for u, v, _ in ARCS])
    sources, targets, weights = zip(*ARCS, strict=True)
    for data, options in (
        ((sources, targets), {"weight": None}),
        ((sources, targets, None), {}),
        ((sources, targets, weights), {"weight": None}),
    ):
        assert arcs(aacbench.as_graph(data, **options)) == ones


def test_entries_of_one_place_add_up_and_explicit_zeros_are_arcs():
    made = sparse.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert arcs(aacbench.as_graph(made)) == written([(0, 1, 3), (1, 0, 0)])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (sparse.csr_array(np.ones((2, 3))), "A matrix of shape (2, 3) is no graph; it must be square."),
        (([0], [1], [-2]), "arc 0 has the negative weight -2."),
        (TABLE.assign(weight=[1, np.nan, 2]), "arc 1 has a weight that is not finite."),
        (([0, 1], [1, -3], [1, 1]), "arc 1 names the vertex -3, but vertices are 0 to 1."),
        (([0], [1]), "Sources and targets alone are no graph; give weights too, or weight=None for weights of 1."),
        (TABLE.drop(columns="weight"), "weight=: source, target, or give weight=None for edges that all weigh 1."),
        (TABLE.assign(source=[0, None, 1]), "The ids of vertices are not whole"),
        (LETTERS.assign(source=["a", 1, "b"]), "The ids of vertices are of several types"),
        (
            nx.path_graph(2),
            "The edge (0, 1) has no attribute 'weight'; name another one with weight=, or give weight=None",
        ),
        (np.eye(2), "A value of type ndarray is no graph; give a graph's name, (sources, targets, weights)"),
        ("gird-8", "Unknown graph 'gird-8'"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_sentence(data, sentence):
    with pytest.raises(AacbenchError) as caught:
        aacbench.as_graph(data)
    assert sentence in str(caught.value)


def test_a_wrong_end_is_named_by_its_edge():
    with pytest.raises(DataError, match=r"^arc 1 names the vertex -3, but vertices are 0 to 1\.$"):
        aacbench.as_graph(([0, 1], [1, -3], [1, 1]), directed=False)
