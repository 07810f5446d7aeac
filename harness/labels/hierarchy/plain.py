"""The plain form: offsets, and heads beside weights, in arrays of 4-byte numbers; and the bound from them.

`value` has a number for each vertex of the hierarchy. A negative one is ~d, where d is the length of a path to the goal
that only leads downwards, of those found so far. One that is not negative is the distance to the goal.
"""

import math
from typing import Any

import numpy as np

from aacbench.contract.method import GoalSearch, Scratch
from aacbench.graphs.record import Array
from aacbench.labels.hierarchy.fields import low_bits, packed, window
from aacbench.labels.hierarchy.heaps import pop, push
from aacbench.labels.hierarchy.numbering import Hierarchy, Rows
from aacbench.search.scratch import add_work, get, inline, is_set, put
from aacbench.util.compiled import allocation_free

_NONE, _ONE, _TWO, _FRAME = (np.uint64(number) for number in range(4))
FAR = np.int64(2**62 - 1)  # ~fill: no path

SCRATCH = {
    "value": Scratch(1, "int", -math.inf),
    "heap": Scratch(1, "int", None),
    "stack": Scratch(3, "int", None),
}
SHORT = Scratch(1, "int32", -math.inf)  # for distances below 2^30


def plain_arrays(made: Hierarchy) -> tuple[dict[str, Array], dict[str, int]]:
    """Return what the plain form deploys: arrays and settings."""
    words, width = packed(made.place)
    up = _plain_rows(made.up)
    down = up if made.down is made.up else _plain_rows(made.down)
    arrays = {"place": words, "up": up[0], "up_arcs": up[1], "down": down[0], "down_arcs": down[1]}
    return arrays, {"width": width}


def _plain_rows(rows: Rows) -> tuple[Array, Array]:
    """The arcs of each vertex, smallest heads first: their distances are known most often, and later arcs skipped."""
    first, last = rows.first[:-1], rows.first[1:] - 1
    turned = np.repeat(first + last, np.diff(rows.first)) - np.arange(len(rows.heads))
    narrow = rows.weights.max(initial=0) < 2**31
    arcs = np.stack([rows.heads[turned], rows.weights[turned]], axis=1).reshape(-1)
    return rows.first.astype(np.int32), arcs.astype(np.int32 if narrow else np.int64)


@inline
def number_of(labels: Any, v: Any) -> Any:
    """The hierarchy's number of a vertex of the graph."""
    width = np.uint64(labels.width)
    return low_bits(window(labels.place, np.uint64(v) * width), width)


@inline
def in_weights(labels: Any, found: Any) -> Any:
    """A bound in the unit of the graph's weights; `beyond` where there is no path."""
    return min(found, labels.beyond) * labels.scale


@allocation_free
def start(labels: Any, scratch: Any, t: Any) -> None:
    """Search upwards from the goal against the arcs: each vertex after all those below it, by its number."""
    value, heap, work = scratch.value, scratch.heap, 0
    goal = number_of(labels, t)
    put(value, goal, 0, ~np.int64(0))
    size = push(heap, 0, ~np.int64(goal))
    while size > 0:
        v = np.uint64(~heap[0])
        size = pop(heap, size)
        work += 1
        d = ~get(value, v)
        for arc in range(np.uint64(labels.down[v]), np.uint64(labels.down[v + _ONE])):
            x, through = np.uint64(labels.down_arcs[_TWO * arc]), d + labels.down_arcs[_TWO * arc + _ONE]
            if not is_set(value, x):
                size = push(heap, size, ~np.int64(x))
                put(value, x, 0, ~through)
            elif ~through > get(value, x):
                put(value, x, 0, ~through)
    add_work(scratch, work)


@inline
def evaluate(labels: Any, scratch: Any, v: Any) -> Any:
    """The least of the way down from v and of each arc upwards with the distance from its head.

    A head without a distance is evaluated first; a frame of the stack is a vertex, its arc and its least so far.
    """
    value, stack, depth, work = scratch.value, scratch.stack, _NONE, 0
    up, arcs = labels.up, labels.up_arcs
    least, arc, end = ~get(value, v), np.uint64(up[v]), np.uint64(up[v + _ONE])
    while True:
        while arc < end:
            x, length = np.uint64(arcs[_TWO * arc]), np.int64(arcs[_TWO * arc + _ONE])
            known = get(value, x)
            if known >= 0:
                least = min(least, length + known)
            elif length < least:
                stack[depth], stack[depth + _ONE], stack[depth + _TWO] = np.int64(v), np.int64(arc), least
                depth += _FRAME
                v, least, arc, end = x, ~known, np.uint64(up[x]), np.uint64(up[x + _ONE])
                continue
            arc += _ONE
        put(value, v, 0, least)
        work += 1
        if depth == _NONE:
            break
        depth -= _FRAME
        v, arc = np.uint64(stack[depth]), np.uint64(stack[depth + _ONE])
        least = min(stack[depth + _TWO], np.int64(arcs[_TWO * arc + _ONE]) + least)
        arc, end = arc + _ONE, np.uint64(up[v + _ONE])
    add_work(scratch, work)
    return least


@inline
def distance(labels: Any, scratch: Any, u: Any, t: Any) -> Any:
    """The distance from u to the goal; `beyond` where there is no path."""
    v = number_of(labels, u)
    known = get(scratch.value, v)
    return in_weights(labels, known if known >= 0 else evaluate(labels, scratch, v))


GOAL = GoalSearch(start, scratch=SCRATCH)
SHORT_GOAL = GoalSearch(start, scratch=SCRATCH | {"value": SHORT})
