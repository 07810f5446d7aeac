"""An author's goal search with scratch: exact distances where it went, a table of bounds elsewhere, work counted."""

import math

import numba

from aacbench.contract.method import GoalSearch, Scratch
from aacbench.plugins.kernels import add_work, get, is_set, put

SCRATCH = {
    "seen": Scratch(2, "weight", math.inf),  # the distance, and how often it was asked for, less infinity
    "asked": Scratch(1, "int32", -7),
    "stack": Scratch(2, "int", None),
}


@numba.njit
def start(labels, scratch, t):
    """The goal is asked for once already."""
    put(scratch.asked, t, 0, 1)
    scratch.memo[0] = labels.look[t]
    add_work(scratch, 100)


@numba.njit
def visit(labels, scratch, x, distance, towards):
    """Keep the distance of the vertices nearest to the goal, the latest on a stack."""
    if towards:
        put(scratch.seen, x, 0, distance)
        scratch.stack[2 * int(scratch.memo[1])] = x
        scratch.memo[1] += 1
        add_work(scratch, 10)
    return scratch.memo[1] >= scratch.memo[0] or not towards


@numba.njit
def bound(labels, scratch, u, t):
    """The table's bound, unless the vertex was visited; what was not written must read as its fill value."""
    first = -7 if u != t else 1
    if get(scratch.asked, u) == first:
        put(scratch.asked, u, 0, first + 100)
    else:
        add_work(scratch, 1000)  # asked for twice
    if not is_set(scratch.seen, u):
        return labels.table[u, t]
    add_work(scratch, 1)
    last = scratch.stack[2 * int(scratch.memo[1]) - 2]
    wrong = get(scratch.seen, u, 1) < 2.0**61 or get(scratch.seen, last) < get(scratch.seen, u)
    return -1000 if wrong else get(scratch.seen, u)


GOAL = GoalSearch(start, visit, 2, scratch=SCRATCH)
