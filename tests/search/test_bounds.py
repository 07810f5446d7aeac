"""Bounds asked for directly are those A* starts from."""

import numpy as np
import pytest
from author_kernel import table_bound
from hypothesis import given, settings
from support import all_pairs, graphs, random_bound

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.labels import alt_layout, label_rows, of_landmarks
from aacbench.search import network, search
from aacbench.search.author import author_layout
from aacbench.search.bounds import bounds


def assert_as_in_search(net, layout):
    sources, targets = all_pairs(net.graph)
    seen = search(net, layout, sources, targets).h_source.reshape(net.graph.vertices, -1)
    for t in range(net.graph.vertices):
        others = np.delete(np.arange(net.graph.vertices), t)  # a search from the target to itself asks for no bound
        assert bounds(net, layout, others, t).tolist() == seen[others, t].tolist()


@given(graphs())
@settings(max_examples=60)
def test_differential_bounds_are_the_searchs(graph):
    net = network(graph)
    pool = of_landmarks(net, [0, graph.vertices - 1])
    assert_as_in_search(net, alt_layout(net, label_rows(pool), 2))


@given(graphs())
@settings(max_examples=40)
def test_an_authors_bounds_are_the_searchs(graph):
    net = network(graph)
    assert_as_in_search(net, author_layout(net, {"table": random_bound(graph, 1)}, table_bound))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -1e30, 2.0**62])
def test_what_no_integer_can_hold_is_refused_by_searches_and_audits_alike(value):
    net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
    table = np.full((3, 3), value)
    layout = author_layout(net, {"table": table}, table_bound)
    with pytest.raises(UsageError, match="not a finite number"):
        bounds(net, layout, np.arange(3), 2)
    with pytest.raises(UsageError, match="not a finite number"):
        search(net, layout, [0], [2])
    with pytest.raises(UsageError, match=r"not a finite number|beyond"):
        search(net, lambda u, t: float(table[u, t]), [0], [2])
