"""The estimate of the time left: by planned work, at the speed of each method."""

import pytest

from aacbench.library.time_left import OVERHEAD, TimeLeft


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def finished(left, clock, *cells):
    for cell, seconds in cells:
        clock.now += seconds
        left.done(cell)


def test_nothing_is_said_before_something_is_known(clock):
    left = TimeLeft(clock)
    left.plan({str(number): ("alt", 0) for number in range(5)})
    finished(left, clock, ("0", 100), ("1", 2))
    assert left.text() == ""
    finished(left, clock, ("2", 2))
    assert left.text() == "about 4 s left"  # the first cell waited for workers and compilation
    finished(left, clock, ("3", 2), ("4", 2))
    assert left.text() == ""


def test_large_graphs_slow_methods_and_cells_to_be_chosen_count_as_such(clock):
    left = TimeLeft(clock)
    work = {"a": ("alt", 0), "b": ("alt", 0), "c": ("aac", 0), "d": ("alt", 99 * OVERHEAD), "e": ("aac", 9 * OVERHEAD)}
    left.plan(work | {"f": ("cdh", 0), "g": ("alt", 0)}, later=2)
    finished(left, clock, ("a", 1), ("b", 1), ("c", 60))
    left.skip("g")
    expected = 100 * 1 + 10 * 60 + 61 / 2 + 2 * 61 / 2
    assert left.seconds() == pytest.approx(expected)
    assert left.text() == "about 13 min left"
    left.plan({"h": ("aac", 999 * OVERHEAD)})
    assert left.text() == "about 16.9 h left"
