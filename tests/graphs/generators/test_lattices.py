"""Grids are open and weighted by seed; mazes are connected and have few loops."""

import numpy as np
import pytest

from aacbench.graphs.components import largest
from aacbench.graphs.generators import grid, maze


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
