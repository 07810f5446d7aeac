"""Generated terrain has the same bytes everywhere, is a prefix of a longer set, and is as hard as it should be."""

import numpy as np
import pytest

from aacbench.errors import UsageError
from aacbench.maps import terrain
from aacbench.maps.grid import reach, solve
from aacbench.maps.load import load_maps
from aacbench.maps.record import SPLITS

ONE_OF_EACH = dict.fromkeys(SPLITS, 1)


def test_the_digest_of_four_maps_is_known():
    assert load_maps("terrain-12", ONE_OF_EACH).digest == GOLDEN
    assert load_maps("terrain-12-s42", ONE_OF_EACH).digest == GOLDEN
    assert load_maps("terrain-12-s43", ONE_OF_EACH).digest != GOLDEN


GOLDEN = "d7d0a3c2dcac0cd92489d92283f0e7c88ecfdf88e85fb8f8d1db93931a21e015"


def test_a_shorter_set_is_the_beginning_of_a_longer_one():
    short, long = terrain.generate(6, 3, "train", 2), terrain.generate(6, 3, "train", 4)
    for name, array in short.arrays().items():
        assert np.array_equal(array, long.arrays()[name][:2])
    assert not np.array_equal(short.costs, terrain.generate(6, 3, "test", 2).costs)


def test_three_hundred_maps_are_as_hard_as_described():
    maps = terrain.generate(12, 5, "test", 300)
    shares = [100 * (maps.costs == cost).mean() for cost in terrain.COSTS]
    assert np.abs(shares - terrain.SHARES).max() < 3
    solved = solve(maps.costs)
    assert np.array_equal(maps.paths, solved.paths)
    straight = solve(np.ones((1, 12, 12), dtype=int)).paths
    regret = ((straight * maps.costs).sum(axis=(1, 2)) / solved.optima - 1).mean()
    assert 0.70 < regret < 0.95
    assert 14 < solved.paths.sum(axis=(1, 2)).mean() < 16
    unique = np.mean([shortest_paths(costs) == 1 for costs in maps.costs])
    assert 0.05 < unique < 0.20


def shortest_paths(costs):
    """Count the shortest paths from corner to corner."""
    total, _ = reach(costs, 0)
    total = total.reshape(costs.shape)
    count = np.zeros(costs.shape)
    count[0, 0] = 1
    for cell in np.argsort(total, axis=None, kind="stable")[1:]:
        row, column = divmod(int(cell), len(costs))
        near = (slice(max(0, row - 1), row + 2), slice(max(0, column - 1), column + 2))
        count[row, column] = count[near][total[near] + costs[row, column] == total[row, column]].sum()
    return count[-1, -1]


def test_each_kind_of_terrain_has_a_colour_of_its_own():
    maps = terrain.generate(12, 5, "test", 50)
    means = maps.images.reshape(50, 12, 8, 12, 8, 3).mean(axis=(2, 4))
    light = means.mean(axis=(1, 2), keepdims=True)
    kinds = np.array([(means / light)[maps.costs == cost].mean(axis=0) for cost in terrain.COSTS])
    gaps = np.linalg.norm(kinds[:, None] - kinds[None], axis=2) + 9 * np.eye(5)
    assert gaps.min() > 0.1


@pytest.mark.parametrize("name", ["terrain-3", "terrain-65"])
def test_terrain_has_a_smallest_and_a_largest_size(name):
    with pytest.raises(UsageError, match="from 4 to 64 cells"):
        load_maps(name)
