"""Bounds without a search equal those in A*, and violations equal those of a plain loop."""

import numpy as np
import pytest
from author_kernel import table_bound
from hypothesis import given
from hypothesis import strategies as st
from support import all_pairs, example_count, graphs, random_bound, true_distances

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.labels import alt_layout, label_rows, of_landmarks
from aacbench.search import network, search
from aacbench.search.author import author_layout
from aacbench.search.bounds import bounds, violations


def assert_as_in_search(net, layout):
    sources, targets = all_pairs(net.graph)
    seen = search(net, layout, sources, targets).h_source.reshape(net.graph.vertices, -1)
    for t in range(net.graph.vertices):
        others = np.delete(np.arange(net.graph.vertices), t)  # a search from the target to itself asks for no bound
        assert bounds(net, layout, others, t).tolist() == seen[others, t].tolist()


@given(graphs())
@example_count(60)
def test_differential_bounds_are_the_searchs(graph):
    net = network(graph)
    pool = of_landmarks(net, [0, graph.vertices - 1])
    assert_as_in_search(net, alt_layout(net, label_rows(pool), 2))


@given(graphs())
@example_count(40)
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


def _by_hand(graph, h, known, distance, care):
    """The same from lists."""
    far = float("inf")
    high = [u for u in range(graph.vertices) if not known[u] or (distance[u] >= 0 and h[u] > distance[u] + care)]
    rising = []
    for arc, (u, v, w) in enumerate(zip(graph.sources, graph.indices, graph.weights, strict=True)):
        if known[u] and known[v] and distance[v] >= 0 and h[u] > w + h[v] + care:
            rising.append((w + h[v], arc))
    nearest = min(high, key=lambda u: (distance[u] if distance[u] >= 0 else far, u), default=None)
    through, arc = min(rising, default=(0, None))
    return len(high), nearest, len(rising), None if arc is None else (graph.sources[arc], graph.indices[arc], through)


@given(st.booleans().flatmap(lambda integral: graphs(integral=integral)), st.data())
def test_the_pass_finds_what_a_plain_loop_finds(graph, data) -> None:
    target = data.draw(st.integers(0, graph.vertices - 1))
    distance = true_distances(graph)[:, target].astype(graph.weights.dtype)
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    h = (np.maximum(distance, 0) * random.choice([0, 0.5, 1, 1, 1.5], graph.vertices)).astype(graph.weights.dtype)
    known = random.random(graph.vertices) < data.draw(st.sampled_from([0.5, 1]))
    care = data.draw(st.sampled_from([0, 1]))
    net = network(graph)
    found = violations(net, *(values[net.original] for values in (h, known, distance)), care)
    nearest = found.vertex if found.high else None
    arc = (found.tail, found.head, found.through) if found.rising else None
    assert (found.high, nearest, found.rising, arc) == _by_hand(graph, h, known, distance, care)
