"""A kernel that does not compile is told by its own name and line, whichever of an author's functions it is."""

import re

import numpy as np
import pytest
from numba import njit

from aacbench.bundle.deploy import deploy
from aacbench.contract.method import GoalSearch, LabelHeuristic, MaxHeuristic, ScalarHeuristic
from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.search import network


@njit
def writes(labels, u, t):
    labels.rows[u] = 3
    return 0


@njit
def misspells(labels, u, t):
    return labels.row[u]


@njit
def unknown(labels, u, t):
    return nowhere(u)  # noqa: F821


@njit
def two(labels, u, t):
    return u, t


@njit
def nothing(labels, u, t):
    pass


@njit
def lacks_one(labels, u):
    return 0


@njit
def either(labels, u, t):
    return (u, t) if u else 0


@njit
def start(labels, memo, t):
    memo[0] = 1


@njit
def bad_start(labels, memo, t):
    labels.rows[t] = 1


@njit
def bad_visit(labels, memo, x, distance):
    return True


@njit
def visit(labels, memo, x, distance, towards):
    return True


@njit
def lent(labels, memo, u, t):
    return memo.rows


ALONE = {
    writes: r"^The kernel writes does not compile \(test_compile_errors.py, line \d+\): Cannot modify readonly array",
    misspells: r"^The kernel misspells does not compile \(.*\): Unknown attribute 'row' of type labels\.$",
    unknown: r"^The kernel unknown does not compile \(.*\): name 'nowhere' is not defined\.$",
    two: r"^The kernel two must return a number, not UniTuple\(int64 x 2\)\.$",
    nothing: r"^The kernel nothing must return a number, not none\.$",
    lacks_one: r"^The kernel lacks_one must take 3 arguments\.$",
    either: r"^The kernel either does not compile",
}
WITH_A_GOAL = {
    (bad_start, visit, lent): r"^The kernel bad_start does not compile \(.*\): Cannot modify readonly array",
    (start, bad_visit, lent): r"^The kernel bad_visit must take 5 arguments\.$",
    (start, visit, lent): r"^The kernel lent does not compile \(.*\): Unknown attribute 'rows'",
}


def _refused(kernel, goal=None):
    rows = np.zeros(3, dtype=np.int32)
    with pytest.raises(UsageError) as refused:
        deploy(LabelHeuristic({"rows": rows}, kernel, goal=goal), network(from_arcs(3, [0, 1], [1, 2], [1, 1])))
    return str(refused.value)


@pytest.mark.parametrize(("kernel", "sentence"), ALONE.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_kernel_is_told_with_its_line(kernel, sentence):
    assert re.search(sentence, _refused(kernel))


@pytest.mark.parametrize(("functions", "sentence"), WITH_A_GOAL.items(), ids=("start", "visit", "kernel"))
def test_so_is_each_function_of_a_goal_search(functions, sentence):
    start, visit, kernel = functions
    assert re.search(sentence, _refused(kernel, GoalSearch(start, visit, memo=2)))


@njit
def nought(labels, u, t):
    return 0


@pytest.mark.parametrize(
    "beside",
    [
        LabelHeuristic({"rows": np.zeros((3, 1), np.int32)}, "differential"),
        LabelHeuristic({"rows": np.zeros(3, np.int32)}, nought),
        ScalarHeuristic(lambda u, t: 0),
    ],
    ids=("built in", "compiled", "in Python"),
)
def test_in_a_maximum_it_is_the_part_that_is_told(beside):
    part = LabelHeuristic({"rows": np.zeros(3, np.int32)}, misspells)
    with pytest.raises(UsageError, match=r"^The kernel misspells does not compile"):
        deploy(MaxHeuristic((beside, part)), network(from_arcs(3, [0, 1], [1, 2], [1, 1])))
