"""The grid's Dijkstra equals its plain twin, and its costs are those of a graph whose edges weigh both cells."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aacbench.maps.grid import distance_gradient, reach, reach_slowly, solve

# Few distinct costs, so that ties are common.
grids = st.integers(2, 7).flatmap(lambda side: arrays(np.int64, (side, side), elements=st.sampled_from([1, 2, 3, 8])))


@given(grids, st.integers(0, 48))
def test_costs_and_predecessors_are_those_of_the_twin(costs, source):
    source %= costs.size
    total, parent = reach(costs, source)
    slow_total, slow_parent = reach_slowly(costs, source)
    assert total.tolist() == slow_total.tolist()
    assert parent.tolist() == slow_parent.tolist()


@given(grids)
def test_the_cells_of_a_solution_cost_the_optimum_and_are_connected(costs):
    found = solve(costs[None])
    total, parent = reach(costs, 0)
    cells = np.flatnonzero(found.paths[0].reshape(-1))
    assert (costs.reshape(-1)[cells]).sum() == found.optima[0] == total[-1]
    walk = [costs.size - 1]
    while parent[walk[-1]] >= 0:
        walk.append(int(parent[walk[-1]]))
    assert sorted(walk) == cells.tolist()


@given(grids, st.integers(0, 48), st.integers(0, 48))
def test_the_gradient_of_a_distance_lies_between_its_one_sided_differences(costs, source, target):
    """A distance is a minimum of sums, so it is concave in each cost: it rises less than it falls."""
    costs = costs + 1  # so that a cost can be lowered
    source, target = source % costs.size, target % costs.size
    wanted = np.zeros(costs.size)
    wanted[target] = 1.0
    here, gradient = distance_gradient(costs, source, wanted)
    for cell in range(costs.size):
        step = np.zeros(costs.size, dtype=int)
        step[cell] = 1
        raised, lowered = (
            distance_gradient(costs + sign * step.reshape(costs.shape), source, wanted)[0] for sign in (1, -1)
        )
        assert raised[target] - here[target] <= gradient[cell] <= here[target] - lowered[target]


def test_gradients_of_several_distances_add_up():
    costs, rng = np.random.default_rng(1).integers(1, 9, (6, 6)), np.random.default_rng(2)
    weights = rng.normal(size=36)
    one_by_one = sum(weights[cell] * distance_gradient(costs, 7, np.eye(36)[cell])[1] for cell in range(36))
    assert np.allclose(distance_gradient(costs, 7, weights)[1], one_by_one)


def test_of_equal_paths_the_one_over_lower_rows_and_columns_is_taken():
    assert solve(np.ones((1, 3, 3), dtype=int)).paths[0].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    through_top = np.array([[1, 1, 9], [1, 9, 1], [9, 1, 1]])  # two ways around the middle, of equal cost
    assert solve(through_top[None]).paths[0].tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 1]]
