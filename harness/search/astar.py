"""Compiled A*: lazy deletion, reopening on demand, ties by policy, and counts that are the same on every machine."""

from typing import Any, NamedTuple

import numpy as np

from aacbench.compiled import kernel
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.layouts import bind, bound
from aacbench.search.policy import TIES, Policy

NO_PARENT = -1

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
        count[:] = 0
        cost[:] = 0
        if s == t:
            continue
        unknown = numbers.zero - 1
        fits, heap = search_one(arcs, layout, memo, work, heap, rules, numbers, s, t, unknown, cost, count)
        if not fits:
            # Some f exceeded the cost found, so h is not admissible here: count again with that cost known.
            optimum = cost[COST]
            _, heap = search_one(arcs, layout, memo, work, heap, rules, numbers, s, t, optimum, cost, count)
        trace(arcs, work, s, t, cost, count)
    return heap


@kernel
def search_one(arcs, layout, memo, work, heap, rules, numbers, source, target, optimum, cost, count):
    """One A* search from source to another vertex. Returns whether no f exceeded the cost found, and the heap."""
    state = work.state
    settled = bind(layout, memo, arcs, work, target)
    stamp = next_stamp(work)
    start = state[source]
    touch(start, stamp, bound(layout, memo, source), numbers.infinity)
    start.g = numbers.zero
    start.sequence = 1
    cost[H_SOURCE] = start.h
    sift_up(heap, 0, start.h, numbers.zero, np.uint32(1), source)
    size, sequence, h_calls, stale, expanded, reexpanded = 1, 1, 1, 0, settled, 0
    # f never exceeds the optimum where h is admissible, so its running maximum ends as the optimum.
    known = optimum >= 0
    ceiling, slack, below, level = optimum, numbers.zero, settled, 0
    if known:
        slack = optimum * numbers.tolerance
    found = numbers.zero - 1

    while size > 0:
        f, popped, u = heap[0].f, heap[0].sequence, heap[0].vertex
        size -= 1
        sift_down(heap, size)
        here = state[u]
        if (rules.reopen and popped != here.sequence) or (here.closed != 0 and not rules.reopen):
            stale += 1
            continue
        expanded += 1
        reexpanded += here.closed
        here.closed = 1
        if f < ceiling - slack:
            below += 1
        elif f <= ceiling + slack:
            level += 1
        elif not known:
            below += level
            level = 1
            ceiling = f
            slack = f * numbers.tolerance
        g = here.g
        if u == target:
            found = g
            break
        if rules.bpmx:
            h_calls += lift(arcs, layout, memo, state, stamp, u, numbers)
        for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = arcs.heads[arc]
            there = state[v]
            through = g + arcs.weights[arc]
            if there.stamp != stamp:
                touch(there, stamp, bound(layout, memo, v), numbers.infinity)
                h_calls += 1
            if through >= there.g or (there.closed != 0 and not rules.reopen):
                continue
            sequence += 1
            there.g = through
            there.parent = u
            there.sequence = sequence
            tie = through * rules.tie_g + rules.tie_sequence * sequence
            if size == len(heap):
                heap = grown(heap)
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
    return known or found < 0 or ceiling <= found + slack, heap


@kernel
def next_stamp(work):
    """Make every vertex record out of date; the records themselves are cleared once in 2^32 searches."""
    if work.stamp[0] == np.uint32(0xFFFFFFFF):
        for v in range(len(work.state)):
            work.state[v].stamp = 0
        work.stamp[0] = 0
    work.stamp[0] += np.uint32(1)
    return work.stamp[0]


@kernel
def touch(record, stamp, h, infinity):
    """Make a vertex's record current: not reached yet, not closed, its bound known."""
    record.stamp = stamp
    record.g = infinity
    record.h = h
    record.parent = NO_PARENT
    record.closed = 0


@kernel
def lift(arcs, layout, memo, state, stamp, u, numbers):
    """BPMX(1) at u, which is not the target: raise its bound from its successors' and theirs from its.

    h(v) - h(u) may exceed w(v, u) only if h(u) is too low, so the weight of the *reverse* arc is what counts.
    Returns how many bounds had to be computed.
    """
    here = state[u]
    h, least, calls = here.h, numbers.infinity, 0
    for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
        v = arcs.heads[arc]
        there = state[v]
        if there.stamp != stamp:
            touch(there, stamp, bound(layout, memo, v), numbers.infinity)
            calls += 1
        if arcs.back[arc] >= 0:
            h = max(h, there.h - arcs.back[arc])
        least = min(least, there.h + arcs.weights[arc])
    if least < numbers.infinity:
        h = max(h, least)
    here.h = h
    for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
        there = state[arcs.heads[arc]]
        there.h = max(there.h, h - arcs.weights[arc])
    return calls


@kernel
def grown(heap):
    """The same heap in twice the room."""
    larger = np.empty(2 * len(heap), dtype=heap.dtype)
    larger[: len(heap)] = heap
    return larger


@kernel
def trace(arcs, work, source, target, cost, count):
    """Write the path found into `work.path`, and its length and its cost, summed anew arc by arc, into the row."""
    cost[PATH_COST] = cost[COST]
    if cost[COST] < 0:
        return
    edges, v = 0, target
    while v != source:
        work.path[len(work.path) - 1 - edges] = v
        v = work.state[v].parent
        edges += 1
    count[PATH_EDGES] = edges
    total, u = cost[COST] - cost[COST], source
    for step in range(len(work.path) - edges, len(work.path)):
        v = work.path[step]
        arc = arcs.indptr[u]
        while arcs.heads[arc] != v:
            arc += 1
        total += arcs.weights[arc]
        u = v
    cost[PATH_COST] = total
