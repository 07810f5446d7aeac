"""The bound from the packed form, evaluated for the vertices asked, with or without a core that has labels.

`value` is as in the plain form; `away` has the same for paths upwards from the goal, which only a directed core needs.
`goal` has the goal's labels.

Correctness. Let G(0) be the graph and G(i + 1) what is left after the i-th vertex v is contracted; the last one is the
core. h(u) of a core vertex is the ALT bound between it and the goal t. For the others, from the last contracted to the
first, h(u) = min(r(u), min over arcs u -> x upwards of w(u, x) + h(x)), where r(u) is the least length of a path from u
to t that only leads downwards. A shortest path from u either leads downwards all the way, or begins (in G(0) with its
shortcuts) with an arc upwards, so the same formula with d for h gives d(u, t), and h <= d by induction. With no core
h = d.

h is consistent on every arc of every G(i), so on the graph. In the core, ALT is: its labels are distances, t's too. A
label that is missing must count, or a vertex x that does not reach t would have a bound that is too low for those that
lead to it: if d(l, x) is known and d(l, t) is not, or d(t, l) is known and d(x, l) is not, then h(x) is infinite.
Let it be so on G(i + 1). An arc of G(i) between others is in G(i + 1), perhaps with a smaller weight. For v -> x it
holds by definition. For u -> v, h(v) is r(v) or w(v, x) + h(x). If it is r(v), then h(u) <= r(u) <= w(u, v) + r(v),
since r is least over downward arcs (in the core, h(u) <= d(u, t) <= w(u, v) + r(v)). If it is w(v, x) + h(x), then x
= u, and h(u) <= h(v); or G(i + 1) has a path from u to x, a shortcut or a witness, that is no longer than w(u, v) +
w(v, x), and h rises by no more than its length along it.

The goal's labels: a shortest path between t and a landmark l, which is in the core, enters or leaves the core once, so
d(l, t) is the least d(l, a) + r(a) over core vertices a, and d(t, l) likewise upwards.
"""

import math
from typing import Any

import numpy as np

from aacbench.contract.method import GoalSearch, Scratch
from aacbench.labels.hierarchy.heaps import pop, push
from aacbench.labels.hierarchy.packed import arc_at, record_of
from aacbench.labels.hierarchy.plain import FAR, SHORT, in_weights, number_of
from aacbench.search.scratch import add_work, get, inline, is_set, put
from aacbench.util.compiled import allocation_free

SCRATCH = {
    "value": Scratch(1, "int", -math.inf),
    "away": Scratch(1, "int", -math.inf),
    "heap": Scratch(1, "int", None),
    "stack": Scratch(4, "int", None),
    "goal": Scratch(2, "int", None),
}
_NONE, _ONE, _TWO, _THREE, _FRAME = (np.uint64(number) for number in range(5))
_SHORTEST = np.uint64(8)  # bits of an arc, at least; fewer are left to fill the last byte of a record


@inline
def climb(labels: Any, scratch: Any, value: Any, bits: Any, block: Any, rel: Any, wide: Any, t: Any, from_: Any) -> Any:
    """Search upwards from the goal over these records; lower the goal's labels from the column `from_` on.

    Vertices come in the order of their numbers, the largest first, so the core comes last.
    """
    heap, goal, core, settled = scratch.heap, scratch.goal, np.uint64(labels.core), 0
    first = number_of(labels, t)
    put(value, first, 0, ~np.int64(0))
    size = push(heap, 0, ~np.int64(first))
    until = labels.columns if from_ > 0 else labels.forward
    while size > 0:
        v = np.uint64(~heap[0])
        size = pop(heap, size)
        settled += 1
        d = ~get(value, v)
        if v < core:
            for k in range(from_, until):
                label = np.int64(labels.rows[np.int64(v) * labels.columns + k])
                if label >= 0 and (goal[k] < 0 or label + d < goal[k]):
                    goal[k] = label + d
            continue
        at, end, head_width, weight_width = record_of(bits, block, rel, wide, labels.widths, v - core)
        x, step = v, max(head_width + weight_width, _SHORTEST)
        while at + step <= end:
            x, length = arc_at(bits, at, head_width, weight_width, x)
            at += step
            through = d + length
            if not is_set(value, x):
                size = push(heap, size, ~np.int64(x))
                put(value, x, 0, ~through)
            elif ~through > get(value, x):
                put(value, x, 0, ~through)
    return settled


@allocation_free
def start(labels: Any, scratch: Any, t: Any) -> None:
    """Search upwards from the goal against the arcs, and on a directed graph with a core along them, too."""
    for k in range(labels.columns):
        scratch.goal[k] = -1
    down = labels.down_bits, labels.down_block, labels.down_rel, labels.down_wide
    work = climb(labels, scratch, scratch.value, down[0], down[1], down[2], down[3], t, 0)
    if labels.forward < labels.columns:
        up = labels.up_bits, labels.up_block, labels.up_rel, labels.up_wide
        work += climb(labels, scratch, scratch.away, up[0], up[1], up[2], up[3], t, labels.forward)
    add_work(scratch, work)


@inline
def least_at_first(labels: Any, scratch: Any, v: Any, known: Any) -> Any:
    """The bound before any arc is looked at: of the way down or, in the core, by landmarks.

    A label of one of the two that the other lacks may show that there is no path.
    """
    if v >= np.uint64(labels.core):
        return ~known
    best, turn, goal = np.int64(0), labels.forward, scratch.goal
    for k in range(labels.columns):
        label = np.int64(labels.rows[np.int64(v) * labels.columns + k])
        if k < turn:
            if label >= 0 and goal[k] < 0:
                return FAR
            if label >= 0:
                best = max(best, goal[k] - label)
        if k >= turn or labels.columns == turn:
            if label < 0 and goal[k] >= 0:
                return FAR
            if label >= 0 and goal[k] >= 0:
                best = max(best, label - goal[k])
    return best


@inline
def evaluate(labels: Any, scratch: Any, v: Any) -> Any:
    """As in the plain form; a frame of the stack is a vertex, the bit behind its arc, its least so far, the weight."""
    value, stack, depth, work, core = scratch.value, scratch.stack, _NONE, 0, np.uint64(labels.core)
    bits, block, rel, wide, widths = labels.up_bits, labels.up_block, labels.up_rel, labels.up_wide, labels.widths
    least, x, at, end, head_width, weight_width = _open(labels, scratch, v, get(value, v))
    while True:
        step = max(head_width + weight_width, _SHORTEST)
        entered = False
        while at + step <= end:
            x, length = arc_at(bits, at, head_width, weight_width, x)
            at += step
            known = get(value, x)
            if known >= 0:
                least = min(least, length + known)
            elif length < least:
                entered = True
                break
        if entered:
            stack[depth], stack[depth + _ONE], stack[depth + _TWO] = np.int64(v), np.int64(at), least
            stack[depth + _THREE] = length
            depth += _FRAME
            v = x
            least, x, at, end, head_width, weight_width = _open(labels, scratch, v, known)
            continue
        put(value, v, 0, least)
        work += 1
        if depth == _NONE:
            break
        depth -= _FRAME
        x, v = v, np.uint64(stack[depth])
        least = min(stack[depth + _TWO], stack[depth + _THREE] + least)
        at, end, head_width, weight_width = record_of(bits, block, rel, wide, widths, v - core)
        at = np.uint64(stack[depth + _ONE])
    add_work(scratch, work)
    return least


@inline
def _open(labels: Any, scratch: Any, v: Any, known: Any) -> Any:
    """The least at first, then where the arcs of a vertex are: the number before, begin, end and widths."""
    least, core = least_at_first(labels, scratch, v, known), np.uint64(labels.core)
    if v < core:
        return least, v, _NONE, _NONE, _NONE, _NONE
    bits, block, rel, wide = labels.up_bits, labels.up_block, labels.up_rel, labels.up_wide
    at, end, head_width, weight_width = record_of(bits, block, rel, wide, labels.widths, v - core)
    return least, v, at, end, head_width, weight_width


@inline
def packed_bound(labels: Any, scratch: Any, u: Any, t: Any) -> Any:
    """The bound on the distance from u to the goal, exact without a core."""
    v = number_of(labels, u)
    known = get(scratch.value, v)
    return in_weights(labels, known if known >= 0 else evaluate(labels, scratch, v))


GOAL = GoalSearch(start, scratch=SCRATCH)
SHORT_GOAL = GoalSearch(start, scratch=SCRATCH | {"value": SHORT})
