"""Dijkstra ranks against a search that looks through all vertices at every step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aacbench.errors import DataError, UsageError
from aacbench.graphs import from_arcs
from aacbench.queries import QuerySet
from aacbench.queries.strata import dijkstra_ranks, sample_by_rank, strata


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


def all_pairs(size):
    sources, targets = np.divmod(np.arange(size * size), size)
    return QuerySet(sources=sources, targets=targets)


@pytest.mark.parametrize("weights", [st.integers(0, 3), st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0])])
def test_ranks_are_those_of_the_slow_search(weights):
    @settings(max_examples=60, deadline=None)
    @given(graphs(weights))
    def compare(graph):
        orders = [slow_order(graph, source) for source in range(graph.vertices)]
        wanted = [order.index(t) + 1 if t in order else -1 for order in orders for t in range(graph.vertices)]
        assert dijkstra_ranks(graph, all_pairs(graph.vertices)).tolist() == wanted

    compare()


def test_equally_near_vertices_rank_by_id_and_the_source_first():
    star = from_arcs(5, [4, 4, 4, 4], [3, 1, 0, 2], [0, 7, 7, 7])
    queries = QuerySet(sources=np.full(5, 4), targets=np.arange(5))
    assert dijkstra_ranks(star, queries).tolist() == [3, 4, 5, 2, 1]


def test_ranks_refuse_a_vertex_outside_the_graph():
    with pytest.raises(DataError, match="query 0 goes from 0 to 9"):
        dijkstra_ranks(from_arcs(2, [0], [1], [1]), QuerySet(sources=np.array([0]), targets=np.array([9])))


def test_strata_are_whole_powers_of_two_also_where_a_logarithm_would_round():
    ranks = np.array([-1, 1, 2, 3, 4, 2**29 - 1, 2**29, 2**50 - 1, 2**50])
    assert strata(ranks).tolist() == [-1, 0, 1, 1, 2, 28, 29, 49, 50]


@pytest.mark.parametrize("ranks", [[0], [-2], [1.5]])
def test_strata_refuse_what_is_not_a_rank(ranks):
    with pytest.raises(UsageError, match="ranks are whole numbers from 1"):
        strata(ranks)


def grid(side):
    cell = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    heads = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    costs = np.random.RandomState(0).randint(1, 20, len(tails))
    return from_arcs(side * side, np.r_[tails, heads], np.r_[heads, tails], np.r_[costs, costs], name="grid")


def test_targets_have_the_ranks_2_4_8_and_so_on_from_different_sources():
    graph = grid(10)
    queries = sample_by_rank(graph, 7, seed=3)
    assert queries.buckets.tolist() == [1, 2, 3, 4, 5, 6] * 7
    assert dijkstra_ranks(graph, queries).tolist() == (2**queries.buckets).tolist()
    assert len(set(queries.sources.tolist())) == 7
    assert (queries.mode, queries.seed, queries.name) == ("rank", 3, "grid")
    assert sample_by_rank(graph, 3, seed=3).digest == queries.take(slice(0, 18)).digest
    assert sample_by_rank(graph, 7, seed=4).digest != queries.digest


def test_targets_stay_in_the_component_and_in_their_stratum():
    graph = grid(10)
    component = np.arange(0, 100, 3)
    queries = sample_by_rank(graph, 20, component=component)
    assert set(queries.sources.tolist()) | set(queries.targets.tolist()) <= set(component.tolist())
    assert np.array_equal(strata(dijkstra_ranks(graph, queries)), queries.buckets)
    assert len(queries) < 20 * 6


def test_rank_sampling_refuses_what_cannot_be():
    for count in (-1, 101):
        with pytest.raises(UsageError, match=f"{count} different sources cannot be drawn from 100 vertices"):
            sample_by_rank(grid(10), count)
    with pytest.raises(UsageError, match="at least 2 vertices"):
        sample_by_rank(from_arcs(3, [0, 1], [1, 2], [1, 1]), 1)
    assert len(sample_by_rank(grid(10), 0)) == 0
