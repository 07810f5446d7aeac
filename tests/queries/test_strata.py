"""Dijkstra ranks against a search that looks through all vertices at every step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import example_count

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.queries.strata import sample_by_rank, settle


def slow_order(graph, source):
    """The settling order, by definition: always the nearest reached vertex, of equals the lowest."""
    arcs = list(zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True))
    reached, order = {source: 0}, []
    while open_vertices := [v for v in reached if v not in order]:
        u = min(open_vertices, key=lambda v: (reached[v], v))
        order.append(u)
        for tail, head, weight in arcs:
            if tail == u and (head not in reached or reached[u] + weight < reached[head]):
                reached[head] = reached[u] + weight
    return order


@st.composite
def graphs(draw, weights):
    size = draw(st.integers(2, 12))
    vertex = st.integers(0, size - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, weights), min_size=1, max_size=50))
    tails, heads, costs = zip(*arcs, strict=True)
    return from_arcs(size, tails, heads, costs)


@pytest.mark.parametrize("weights", [st.integers(0, 3), st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0])])
def test_vertices_are_settled_as_in_the_slow_search(weights):
    @example_count(60)
    @given(graphs(weights))
    def compare(graph):
        order = np.empty(graph.vertices, dtype=np.int64)
        for source in range(graph.vertices):
            count = settle(graph.indptr, graph.indices, graph.weights, source, order)
            assert order[:count].tolist() == slow_order(graph, source)

    compare()


def grid(side):
    cell = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    heads = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    costs = np.random.RandomState(0).randint(1, 20, len(tails))
    return from_arcs(side * side, np.r_[tails, heads], np.r_[heads, tails], np.r_[costs, costs], name="grid")


def ranks(graph, queries):
    """The Dijkstra rank of each target."""
    orders = {source: slow_order(graph, source) for source in set(queries.sources.tolist())}
    return [orders[s].index(t) + 1 for s, t in zip(queries.sources.tolist(), queries.targets.tolist(), strict=True)]


def test_targets_have_the_ranks_2_4_8_and_so_on_from_different_sources():
    graph = grid(10)
    queries = sample_by_rank(graph, 7, seed=3)
    assert queries.buckets.tolist() == [1, 2, 3, 4, 5, 6] * 7
    assert ranks(graph, queries) == (2**queries.buckets).tolist()
    assert len(set(queries.sources.tolist())) == 7
    assert (queries.mode, queries.seed, queries.name) == ("strata", 3, "grid")
    assert sample_by_rank(graph, 3, seed=3).digest == queries.take(slice(0, 18)).digest
    assert sample_by_rank(graph, 7, seed=4).digest != queries.digest


def test_targets_stay_in_the_component_and_in_their_stratum():
    graph = grid(10)
    component = np.arange(0, 100, 3)
    queries = sample_by_rank(graph, 20, component=component)
    assert set(queries.sources.tolist()) | set(queries.targets.tolist()) <= set(component.tolist())
    assert [rank.bit_length() - 1 for rank in ranks(graph, queries)] == queries.buckets.tolist()
    assert len(queries) < 20 * 6


def test_rank_sampling_refuses_what_cannot_be():
    for count in (-1, 101):
        with pytest.raises(UsageError, match=f"Cannot draw {count} different sources .* 100 vertices"):
            sample_by_rank(grid(10), count)
    with pytest.raises(UsageError, match="at least 2 vertices"):
        sample_by_rank(from_arcs(3, [0, 1], [1, 2], [1, 1]), 1)
    assert len(sample_by_rank(grid(10), 0)) == 0
