"""The random integers cover their range evenly, and are the recorded ones on every machine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.graphs.generators.dice import Dice


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
    with pytest.raises(UsageError, match="a seed is zero or more, not -1"):
        Dice(500, -1)
