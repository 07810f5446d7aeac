"""The compiled goal search: a Dijkstra search around the target before each query."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aacbench.contract.method import GoalSearch
from aacbench.graphs.record import Graph
from aacbench.search.astar import next_stamp
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.networks import Arcs, Network
from aacbench.search.scratch import Memo, new_memo
from aacbench.util.compiled import kernel

DISTANCES = ("both", "to", "from")
_NEXT = np.uint32(1)


class Goal(NamedTuple):
    """The goal search as a layout stores it: arcs towards the goal, the range of searches, the memo's size, a zero."""

    backward: Arcs
    first: int
    last: int
    memo: int
    zero: Any


def goal_fields(network: Network, goal: GoalSearch) -> Goal:
    zero = network.graph.weights.dtype.type(0)
    return Goal(network.backward, *sides(network.graph, goal), goal.memo, zero)


def memo_by(goal: GoalSearch, record: Any) -> Callable[[Any], Memo]:
    def memo(layout: Any) -> Memo:
        weight, vertices = layout.goal.zero.dtype, len(layout.original)
        return new_memo(layout.goal.memo, weight, vertices, goal.scratch or {}, record)

    return memo


def sides(graph: Graph, goal: GoalSearch) -> tuple[int, int]:
    """Return the range of searches to run: 0 is backward and gives d(x, t), 1 is forward and gives d(t, x).

    On a symmetric graph both are equal, so one search serves both.
    """
    if goal.visit is None:
        return 0, 0
    if graph.symmetric:
        return 0, 1
    return {"both": (0, 2), "to": (0, 1), "from": (1, 2)}[goal.distances]


@kernel
def _stop_at_once(labels, memo, x, distance, towards):
    return True


def bind_by(start: Callable[..., Any], visit: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the `bind` of a layout with these functions. They are closed over: numba does not cache arguments."""
    each = _stop_at_once if visit is None else visit

    def bind(layout, memo, arcs, work, target):
        labels, goal, given, original = layout.labels, layout.goal, memo.given, layout.original
        state, heap = work.state, work.heap
        memo.numbers[:] = 0
        memo.stamp[0] += 1
        memo.work[0] = 0
        memo.target[0] = original[target]
        start(labels, given, memo.target[0])
        settled = 0
        for side in range(goal.first, goal.last):
            towards = side == 0
            ahead = goal.backward if towards else arcs
            stamp = next_stamp(work)
            state[target].stamp = stamp
            state[target].g = goal.zero
            state[target].sequence = 1
            sift_up(heap, 0, goal.zero, goal.zero, np.uint32(1), np.uint32(target))
            size, sequence = 1, 1
            while size > 0:
                g, popped, u = heap[0].f, heap[0].sequence, heap[0].vertex
                size -= 1
                sift_down(heap, size)
                if popped != state[u].sequence:
                    continue
                settled += 1
                if each(labels, given, np.int64(original[u]), g, towards):
                    break
                for arc in range(ahead.indptr[u], ahead.indptr[u + _NEXT]):
                    there = state[ahead.heads[arc]]
                    through = g + ahead.weights[arc]
                    if there.stamp != stamp or through < there.g:
                        sequence += 1
                        there.stamp = stamp
                        there.g = through
                        there.sequence = sequence
                        sift_up(heap, size, through, goal.zero, np.uint32(sequence), ahead.heads[arc])
                        size += 1
        return settled

    return bind


def bound_by(function: Callable[..., Any]) -> Callable[..., Any]:
    def bound(layout, memo, u):
        return function(layout.labels, memo.given, np.int64(layout.original[u]), memo.target[0])

    return bound


def work_done(layout, memo):
    """The work that the author's functions have reported since the search was bound to its target."""
    return memo.work[0]
