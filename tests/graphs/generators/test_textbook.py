"""The paper's random graphs to the last digit, grids, mazes, and the random integers that all generators use."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.graphs.components import largest
from aacbench.graphs.generators import grid, maze, p7
from aacbench.graphs.generators.dice import Dice
from aacbench.graphs.load import load


@pytest.fixture(scope="module")
def sbm():
    return load("sbm-10k")  # from the cache, which the code of the generator and the version of networkx key


@pytest.fixture(scope="module")
def ba():
    return load("ba-10k")


def test_sbm_has_the_recorded_arcs_and_weight_sum(sbm):
    assert (sbm.vertices, sbm.arcs) == (10_000, 1_079_192)
    # The published sum was added up in floating point; the exact one, rounded once, ends in 5.
    assert math.fsum(sbm.weights) == 5938569.881091255
    assert float(sbm.weights.sum()) == pytest.approx(5938569.881091254, rel=1e-15)


def test_sbm_weights_follow_the_order_of_networkx_edges(sbm):
    first = np.random.RandomState(42).uniform(1, 10, size=3)
    assert sbm.indices[:3].tolist() == [2, 10, 13]
    assert np.array_equal(sbm.weights[:3], first)


def test_ba_has_the_recorded_arcs_and_weight_sum(ba):
    assert (ba.vertices, ba.arcs) == (10_000, 99_950)
    assert math.fsum(ba.weights) == 548689.0583542984


@pytest.mark.parametrize("name", ["sbm", "ba"])
def test_both_are_undirected_and_connected(name, request):
    graph = request.getfixturevalue(name)
    assert graph.symmetric
    assert not graph.declared_directed
    assert not graph.integral
    assert len(largest(graph)) == graph.vertices


def test_p7_is_the_path_on_seven_vertices():
    graph = p7()
    assert [(int(a), int(b)) for a, b in zip(graph.sources, graph.indices, strict=True) if a < b] == [
        (v, v + 1) for v in range(6)
    ]
    assert graph.symmetric
    assert not graph.declared_directed
    assert graph.integral
    assert set(graph.weights.tolist()) == {1}


def test_grid_joins_each_cell_to_its_four_neighbours():
    graph = grid(5)
    assert (graph.vertices, graph.arcs) == (25, 2 * 2 * 5 * 4)
    steps = np.abs(graph.coords[graph.sources] - graph.coords[graph.indices])
    assert (steps.sum(axis=1) == 1).all()


def test_grid_weights_are_the_integers_one_to_ten():
    graph = grid(40)
    assert graph.integral
    assert set(graph.weights.tolist()) == set(range(1, 11))


@pytest.mark.parametrize("side", [2, 3, 17])
def test_maze_is_connected_with_one_wall_in_fifty_opened(side):
    graph = maze(side)
    cells, lattice_edges = side**2, 2 * side * (side - 1)
    walls = lattice_edges - (cells - 1)
    assert len(largest(graph)) == cells
    assert graph.arcs == 2 * (cells - 1 + walls // 50)
    assert set(graph.weights.tolist()) == {1}


def test_maze_passages_join_neighbouring_cells():
    graph = maze(9)
    steps = np.abs(graph.coords[graph.sources] - graph.coords[graph.indices])
    assert (steps.sum(axis=1) == 1).all()


@pytest.mark.parametrize("make", [grid, maze])
def test_both_are_undirected_and_given_by_their_seed(make):
    graph = make(12, seed=3)
    assert graph.symmetric
    assert not graph.declared_directed
    assert graph.digest == make(12, seed=3).digest
    assert graph.digest != make(12, seed=4).digest


@pytest.mark.parametrize(
    ("make", "digest"),
    [
        (grid, "73a5a8f46bfd97b6e9e3a2301d4d7659c4d33d728402bd19f9deba16751dfd4b"),
        (maze, "5e82fc272a30d7da0ed186610df9cb0a16c6af4fb59347bc7f54ad5e39194495"),
    ],
)
def test_recorded_digest_of_side_eight(make, digest):
    assert make(8).digest == digest


@given(st.integers(-50, 50), st.integers(1, 100), st.integers(0, 2**70))
def test_between_stays_in_its_range(low, width, seed):
    drawn = Dice(seed).between(low, low + width, (7, 3))
    assert drawn.shape == (7, 3)
    assert low <= drawn.min()
    assert drawn.max() < low + width


def test_between_is_even():
    counts = np.bincount(Dice(1).between(0, 7, 70_000))
    assert len(counts) == 7
    assert np.abs(counts - 10_000).max() < 500


@given(st.integers(0, 200))
def test_order_is_a_permutation(count):
    assert sorted(Dice(5).order(count).tolist()) == list(range(count))


def test_recorded_stream():
    dice = Dice(500, 0)
    assert dice.between(0, 1000, 5).tolist() == [566, 853, 645, 411, 468]
    assert dice.one(0, 1000) == 821


def test_negative_seed_is_refused():
    with pytest.raises(UsageError, match="A seed must be zero or more, not -1"):
        Dice(500, -1)
