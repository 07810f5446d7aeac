"""The label width in GraphInfo fits every distance of the graph."""

import pytest
from hypothesis import given
from support import example_count, graphs, true_distances

from aacbench.graphs import from_arcs
from aacbench.labels import graph_info as info
from aacbench.labels.graph_info import distance_bound, graph_info
from aacbench.search import network


@given(graphs(integral=True))
@example_count(150)
def test_no_distance_exceeds_the_bound(graph):
    assert true_distances(graph).max() <= distance_bound(network(graph))


@given(graphs(integral=True))
@example_count(100)
def test_a_detour_through_the_core_is_a_bound_too(graph):
    net = network(graph)
    assert true_distances(graph).max() <= info._bound_by_detour(net, info._heaviest_arcs_out(net))


@pytest.mark.parametrize(("heavy", "expected"), [(2**31 - 1, 4), (2**31, 8)])
def test_the_width_changes_where_int32_ends(heavy, expected):
    found = graph_info(network(from_arcs(2, [0], [1], [heavy], name="arc")))
    assert (found.label_bytes, found.integral, found.symmetric) == (expected, True, False)
    assert (found.name, found.vertices, found.arcs, found.declared_directed) == ("arc", 2, 1, True)


def test_long_distances_are_told_from_heavy_arcs():
    # A star: every arc is heavy, so that they add up to more than 32 bits, but no two leaves are far apart.
    leaves = list(range(1, 6))
    star = from_arcs(6, leaves + [0] * 5, [0] * 5 + leaves, [2**29] * 10)
    assert distance_bound(network(star)) == 2**30
    assert graph_info(network(star)).label_bytes == 4


def test_float_labels_are_four_bytes():
    assert graph_info(network(from_arcs(2, [0], [1], [0.5]))).label_bytes == 4
