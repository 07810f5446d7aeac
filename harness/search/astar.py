"""Compiled A*: lazy deletion, reopening on demand, ties by policy, and counts that are the same on every machine."""

from typing import Any, NamedTuple

import numpy as np

from aacbench.search.heap import sift_down, sift_up
from aacbench.search.layouts import bind, bound
from aacbench.search.policy import TIES, Policy
from aacbench.util.compiled import inlined, kernel

NO_PARENT = np.uint32(0xFFFFFFFF)

# Columns of the two tables a batch fills.
COSTS = ("cost", "path_cost", "h_source")
COST, PATH_COST, H_SOURCE = range(3)
COUNTS = (
    "path_edges",
    "expanded",
    "reexpanded",
    "generated",
    "stale_pops",
    "h_calls",
    "below_optimum",
    "on_optimum",
)
PATH_EDGES, EXPANDED, REEXPANDED, GENERATED, STALE_POPS, H_CALLS, BELOW_OPTIMUM, ON_OPTIMUM = range(8)

_NEXT = np.uint32(1)
NOT_FINITE = -2  # in place of a cost: a bound on the way was NaN, infinite or beyond what integers hold
_FINISHED, _HEAP_FULL, _MISCOUNTED, _BAD_BOUND = range(4)

# Distances on float weights are equal up to this relative rounding; on integer weights they are exact.
RELATIVE_TOLERANCE = 1e-12


class Rules(NamedTuple):
    """A policy as the kernel reads it."""

    reopen: bool
    bpmx: bool
    tie_g: int
    tie_sequence: int


class Numbers(NamedTuple):
    """Constants in the type of a graph's weights."""

    zero: Any
    infinity: Any
    tolerance: Any


def rules(policy: Policy) -> Rules:
    """Translate a policy for the kernel."""
    return Rules(policy.reopen, policy.bpmx, *TIES[policy.tie])


def numbers(weight: np.dtype[Any]) -> Numbers:
    """The constants for integer or float weights."""
    if weight.kind == "i":
        return Numbers(np.int64(0), np.int64(2**62), np.int64(0))
    return Numbers(np.float64(0), np.float64(np.inf), np.float64(RELATIVE_TOLERANCE))


@kernel
def search_all(arcs, layout, memo, work, rules, numbers, sources, targets, costs, counts):
    """Answer each query and fill its row of `costs` and `counts`; the cost of an unreachable target is -1.

    Returns the heap, which has grown where re-expansions needed more room than it had.
    """
    heap = work.heap
    for query in range(len(sources)):
        s, t, cost, count = sources[query], targets[query], costs[query], counts[query]
        cost[:] = 0
        count[:] = 0
        if s == t:
            continue
        optimum = numbers.zero - 1
        ended = _HEAP_FULL
        while ended != _FINISHED:
            ended = search_one(arcs, layout, memo, work, heap, rules, numbers, s, t, optimum, cost, count)
            if ended == _HEAP_FULL:
                heap = np.empty(2 * len(heap), dtype=heap.dtype)
            elif ended == _MISCOUNTED:
                optimum = cost[COST]
            elif ended == _BAD_BOUND:
                cost[COST] = NOT_FINITE
                ended = _FINISHED
        trace(arcs, work, s, t, cost, count)
    return heap


@kernel
def search_one(arcs, layout, memo, work, heap, rules, numbers, source, target, optimum, cost, count):
    """One A* search from source to another vertex; fills its rows and says how it ended.

    Expansions are counted below and on the cost `optimum`. Where it is not known (-1) they are counted against the
    running maximum of f, which ends as the optimum when h is admissible. When it does not, or when rounding makes it
    doubtful what was below and what on it, the search ends as `_MISCOUNTED`, to be done again with the cost known.
    """
    state, indptr, heads, weights = work.state, arcs.indptr, arcs.heads, arcs.weights
    reopen, bpmx, tie_g, tie_sequence = rules
    infinity, tolerance = numbers.infinity, numbers.tolerance
    settled = bind(layout, memo, arcs, work, target)
    stamp = next_stamp(work)
    start, h = state[source], bound(layout, memo, source)
    if not -infinity < h < infinity:
        return _BAD_BOUND
    touch(start, stamp, h, infinity)
    start.g = numbers.zero
    start.sequence = 1
    cost[H_SOURCE] = start.h
    sift_up(heap, 0, start.h, numbers.zero, np.uint32(1), np.uint32(source))
    size, sequence, h_calls, stale, expanded, reexpanded = 1, 1, 1, 0, settled, 0
    known = optimum >= 0
    ceiling, slack, below, level = optimum, numbers.zero, settled, 0
    highest_below, lowest_level = optimum, infinity
    if known:
        slack = optimum * tolerance
    found = numbers.zero - 1

    while size > 0:
        f, popped, u = heap[0].f, heap[0].sequence, heap[0].vertex
        size -= 1
        sift_down(heap, size)
        here = state[u]
        if (reopen and popped != here.sequence) or (here.closed != 0 and not reopen):
            stale += 1
            continue
        expanded += 1
        reexpanded += here.closed
        here.closed = 1
        if f < ceiling - slack:
            below += 1
            highest_below = max(highest_below, f)
        elif f <= ceiling + slack:
            level += 1
            lowest_level = min(lowest_level, f)
            if not known:
                ceiling = max(ceiling, f)
        elif not known:
            below += level
            highest_below = ceiling
            level = 1
            lowest_level = ceiling = f
            slack = f * tolerance
        g = here.g
        if u == target:
            found = g
            break
        if bpmx:
            lifted = lift(arcs, layout, memo, state, stamp, u, infinity)
            if lifted < 0:
                return _BAD_BOUND
            h_calls += lifted
        for arc in range(indptr[u], indptr[u + _NEXT]):
            v = heads[arc]
            there = state[v]
            through = g + weights[arc]
            if there.stamp != stamp:
                h = bound(layout, memo, v)
                if not -infinity < h < infinity:
                    return _BAD_BOUND
                touch(there, stamp, h, infinity)
                h_calls += 1
            if through >= there.g or (there.closed != 0 and not reopen):
                continue
            if size == len(heap):
                return _HEAP_FULL
            sequence += 1
            there.g = through
            there.parent = u
            there.sequence = sequence
            tie = through * tie_g + tie_sequence * sequence
            sift_up(heap, size, through + there.h, tie, np.uint32(sequence), v)
            size += 1

    cost[COST] = found
    count[EXPANDED] = expanded
    count[REEXPANDED] = reexpanded
    count[GENERATED] = sequence
    count[STALE_POPS] = stale
    count[H_CALLS] = h_calls
    count[BELOW_OPTIMUM] = below if found >= 0 else expanded
    count[ON_OPTIMUM] = level if found >= 0 else 0
    if known or found < 0:
        return _FINISHED
    slack = found * tolerance
    sure = highest_below < found - slack and lowest_level >= found - slack and ceiling <= found + slack
    return _FINISHED if sure else _MISCOUNTED


@kernel
def next_stamp(work):
    """Make every vertex record out of date; the records themselves are cleared once in 2^32 searches."""
    if work.stamp[0] == np.uint32(0xFFFFFFFF):
        for v in range(len(work.state)):
            work.state[v].stamp = 0
        work.stamp[0] = 0
    work.stamp[0] += np.uint32(1)
    return work.stamp[0]


@inlined
def touch(record, stamp, h, infinity):
    """Make a vertex's record current: not reached yet, not closed, its bound known."""
    record.stamp = stamp
    record.g = infinity
    record.h = h
    record.parent = NO_PARENT
    record.closed = 0


@kernel
def lift(arcs, layout, memo, state, stamp, u, infinity):
    """BPMX(1) at u, which is not the target: raise its bound from its successors' and theirs from its.

    h(v) - h(u) may exceed w(v, u) only if h(u) is too low, so the weight of the *reverse* arc is what counts.
    Returns how many bounds had to be computed, or -1 where one was not a finite number.
    """
    here = state[u]
    h, least, calls = here.h, infinity, 0
    for arc in range(arcs.indptr[u], arcs.indptr[u + _NEXT]):
        v = arcs.heads[arc]
        there = state[v]
        if there.stamp != stamp:
            bound_there = bound(layout, memo, v)
            if not abs(bound_there) < infinity:
                return -1
            touch(there, stamp, bound_there, infinity)
            calls += 1
        if arcs.back[arc] >= 0:
            h = max(h, there.h - arcs.back[arc])
        least = min(least, there.h + arcs.weights[arc])
    if least < infinity:
        h = max(h, least)
    here.h = h
    for arc in range(arcs.indptr[u], arcs.indptr[u + _NEXT]):
        there = state[arcs.heads[arc]]
        there.h = max(there.h, h - arcs.weights[arc])
    return calls


@kernel
def trace(arcs, work, source, target, cost, count):
    """Write the path found to the end of `work.path`; its length and its cost, summed anew, go into the rows."""
    cost[PATH_COST] = cost[COST]
    if cost[COST] < 0:
        return
    path = work.path
    first, v = len(path), np.uint32(target)
    while v != source:
        first -= 1
        path[first] = v
        v = work.state[v].parent
    count[PATH_EDGES] = len(path) - first
    cost[PATH_COST] = 0
    u = np.uint32(source)
    for step in range(first, len(path)):
        v = path[step]
        arc = arcs.indptr[u]
        while arcs.heads[arc] != v:
            arc += _NEXT
        cost[PATH_COST] += arcs.weights[arc]
        u = v
