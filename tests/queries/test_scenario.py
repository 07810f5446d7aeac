"""Scenario queries: cells become vertices, and whatever does not fit names its line."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError, UsageError
from aacbench.graphs import from_arcs
from aacbench.queries import QuerySet
from aacbench.queries.scenario import from_scenario, spread

# A map of 4 x 3 cells, of which the last column and (1, 1) are blocked.
FREE = [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)]


def grid_map(cells=FREE):
    return from_arcs(len(cells), [0], [1], [1.0], coords=cells, name="map")


def scenario(**changes):
    values = {
        "bucket": [0, 0, 1],
        "start_x": [0, 2, 1],
        "start_y": [0, 1, 2],
        "goal_x": [1, 2, 0],
        "goal_y": [0, 2, 1],
        "optimum": [1.0, 1.0, 2.5],
        "width": [4, 4, 4],
        "height": [3, 3, 3],
    }
    return SimpleNamespace(**{key: np.array(value) for key, value in {**values, **changes}.items()})


@pytest.mark.parametrize("size", [{}, {"width": 4, "height": 3}])
def test_cells_become_the_vertices_at_them(size):
    queries = from_scenario(grid_map(), scenario(**size))
    assert queries.sources.tolist() == [0, 4, 6]
    assert queries.targets.tolist() == [1, 7, 3]
    assert (queries.optima.tolist(), queries.buckets.tolist()) == ([1.0, 1.0, 2.5], [0, 0, 1])
    assert (queries.name, queries.mode, queries.seed) == ("map", "scenario", None)
    assert from_scenario(grid_map(), scenario(), name="mine").name == "mine"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start_x": [0, 1, 1]}, r"line 3 of the scenario: the start \(1, 1\) is a blocked cell"),
        ({"goal_x": [1, 2, 3]}, r"line 4 of the scenario: the goal \(3, 1\) is a blocked cell"),
        ({"goal_x": [4, 2, 0]}, r"line 2 of the scenario: the goal \(4, 0\) lies outside"),
        ({"start_y": [0, -1, 2]}, r"line 3 of the scenario: the start \(2, -1\) lies outside"),
        ({"start_y": [0, 1, 3]}, r"line 4 of the scenario: the start \(1, 3\) lies outside"),
        ({"width": [4, 4, 2]}, "line 4 of the scenario is for a map of 2 x 3 cells, .* at least 3 x 3"),
        ({"height": [4, 2, 3]}, "line 3 of the scenario is for a map of 4 x 2 cells, .* at least 3 x 3"),
    ],
)
def test_a_line_that_does_not_fit_the_map_is_named(changes, message):
    with pytest.raises(DataError, match=message):
        from_scenario(grid_map(), scenario(**changes))


@pytest.mark.parametrize("cells", [[(0, 0), (0.5, 0)], [(0, 0), (-1, 0)], [(0, 0), (0, 0)], None])
def test_a_graph_that_is_no_grid_is_refused(cells):
    graph = from_arcs(2, [0], [1], [1.0], coords=cells, name="roads")
    with pytest.raises(DataError, match="graph 'roads' is no grid map"):
        from_scenario(graph, scenario())


def bucketed(buckets):
    places = np.arange(len(buckets))
    return QuerySet(sources=places, targets=places, buckets=np.array(buckets, dtype=np.int64))


@given(st.lists(st.integers(0, 6), max_size=40), st.data())
def test_spread_takes_as_many_of_each_bucket_as_can_be(buckets, data):
    count = data.draw(st.integers(0, len(buckets)))
    chosen = spread(bucketed(buckets), count)
    assert len(chosen) == count == len(set(chosen.sources.tolist()))
    assert chosen.sources.tolist() == sorted(chosen.sources.tolist())
    taken = {b: chosen.buckets.tolist().count(b) for b in set(buckets)}
    most = max(taken.values(), default=0)
    assert all(taken[b] >= most - 1 for b in taken if taken[b] < buckets.count(b))


def test_spread_is_even_within_a_bucket_and_over_buckets():
    assert spread(bucketed([0] * 10), 2).sources.tolist() == [2, 7]
    assert spread(bucketed(range(9)), 3).buckets.tolist() == [1, 4, 7]
    assert spread(bucketed([0, 1, 1, 1, 1, 2, 2, 2, 2]), 5).buckets.tolist() == [0, 1, 1, 2, 2]


def test_spread_refuses_what_cannot_be():
    with pytest.raises(UsageError, match="3 queries cannot be chosen from 2"):
        spread(bucketed([0, 1]), 3)
    with pytest.raises(UsageError, match="-1 queries cannot be chosen"):
        spread(bucketed([0, 1]), -1)
    with pytest.raises(UsageError, match="no buckets"):
        spread(QuerySet(sources=np.array([0]), targets=np.array([1])), 1)
