"""Compiled A*: lazy deletion, optional reopening, ties by policy, and counts that are equal on every machine."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.layouts import bind, bound, h_work
from aacbench.search.policy import TIES, Policy
from aacbench.util.compiled import allocation_free, inlined, inner

NO_PARENT = np.uint32(0xFFFFFFFF)

# Columns of the two tables that a batch of searches fills; together they are the fields of `Answers`.
COSTS = ("cost", "path_cost", "h_source")
COST, PATH_COST, H_SOURCE = range(3)
COUNTS = (
    *("path_edges", "expanded", "reexpanded", "generated", "stale_pops"),
    *("h_calls", "below_optimum", "on_optimum", "h_work"),
)
PATH_EDGES, EXPANDED, REEXPANDED, GENERATED, STALE_POPS, H_CALLS, BELOW_OPTIMUM, ON_OPTIMUM, H_WORK = range(9)

_NEXT = np.uint32(1)
NOT_FINITE = -2  # stored instead of a cost: a bound was NaN, infinite or too large for an integer
_FINISHED, _HEAP_FULL, _MISCOUNTED, _BAD_BOUND = range(4)

# Two distances on float weights are equal if they differ by at most this share; integer distances are exact.
RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class Answers:
    """The results of a batch of searches: one array per column, one row per query.

    Costs are -1, and paths empty, where the target is unreachable. `path_cost` is summed again along the path.
    `expanded` counts processed pops, the target's included; a query from a vertex to itself expands none.
    `reexpanded` counts expansions of vertices expanded before, `generated` pushes on the open list, `stale_pops`
    outdated entries popped, `h_calls` computed bounds. `below_optimum` and `on_optimum` count expansions with f < C
    and f = C, where C is the cost found. `h_work` is the work that the heuristic reported of itself.
    """

    cost: Array
    path_cost: Array
    h_source: Array
    path_edges: Array
    expanded: Array
    reexpanded: Array
    generated: Array
    stale_pops: Array
    h_calls: Array
    below_optimum: Array
    on_optimum: Array
    h_work: Array
    paths: tuple[Array, ...] | None = None

    def __len__(self) -> int:
        return len(self.cost)

    def columns(self) -> dict[str, Array]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "paths"}


def answers_from_tables(costs: Array, counts: Array, paths: list[Array] | None) -> Answers:
    """Return the answers in two filled tables, whose columns are `COSTS` and `COUNTS`; the tables become read-only."""
    for table in (costs, counts):
        table.flags.writeable = False
    columns = dict(zip(COSTS + COUNTS, (*costs.T, *counts.T), strict=True))
    return Answers(**columns, paths=None if paths is None else tuple(paths))


class Rules(NamedTuple):
    """A search policy in the form the kernel reads."""

    reopen: bool
    bpmx: bool
    tie_g: int
    tie_sequence: int


class Numbers(NamedTuple):
    """Constants in the type of the graph's weights."""

    zero: Any
    infinity: Any
    tolerance: Any


def rules(policy: Policy) -> Rules:
    return Rules(policy.reopen, policy.bpmx, *TIES[policy.tie])


def numbers(weight: np.dtype[Any]) -> Numbers:
    if weight.kind == "i":
        return Numbers(np.int64(0), np.int64(2**62), np.int64(0))
    return Numbers(np.float64(0), np.float64(np.inf), np.float64(RELATIVE_TOLERANCE))


@allocation_free
def search_all(arcs, layout, memo, work, rules, numbers, sources, targets, costs, counts, done):
    """Search the queries from number `done` on, and fill their rows of `costs` and `counts`; unreachable costs -1.

    Return how many queries are done: fewer than all if the next one needs a larger heap.
    """
    for query in range(done, len(sources)):
        s, t, cost, count = sources[query], targets[query], costs[query], counts[query]
        for column in range(len(cost)):
            cost[column] = numbers.zero
        for column in range(len(count)):
            count[column] = 0
        if s == t:
            continue
        optimum = numbers.zero - 1
        ended = _MISCOUNTED
        while ended == _MISCOUNTED:
            ended = search_one(arcs, layout, memo, work, rules, numbers, s, t, optimum, cost, count)
            optimum = cost[COST]
        if ended == _HEAP_FULL:
            return query
        if ended == _BAD_BOUND:
            cost[COST] = NOT_FINITE
        trace(arcs, work, s, t, cost, count)
    return len(sources)


@inner
def search_one(arcs, layout, memo, work, rules, numbers, source, target, optimum, cost, count):
    """Run one A* search between two different vertices, fill its rows, and return how it ended.

    Expansions are counted below and on the cost `optimum`. If it is unknown (-1), they are counted against the running
    maximum of f, which ends at the optimum if h is admissible. If it does not, or if rounding leaves a count
    uncertain, the search returns `_MISCOUNTED` and must be repeated with the cost it found.
    """
    source = np.uint32(source)
    state, heap, indptr, heads, weights = work.state, work.heap, arcs.indptr, arcs.heads, arcs.weights
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
    sift_up(heap, 0, start.h, numbers.zero, np.uint32(1), source)
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
    count[H_WORK] = h_work(layout, memo)
    if known or found < 0:
        return _FINISHED
    slack = found * tolerance
    sure = highest_below < found - slack and lowest_level >= found - slack and ceiling <= found + slack
    return _FINISHED if sure else _MISCOUNTED


@inner
def next_stamp(work):
    """Return a new stamp, which invalidates all vertex records; they are cleared only once in 2^32 searches."""
    if work.stamp[0] == np.uint32(0xFFFFFFFF):
        for v in range(len(work.state)):
            work.state[v].stamp = 0
        work.stamp[0] = 0
    work.stamp[0] += np.uint32(1)
    return work.stamp[0]


@inlined
def touch(record, stamp, h, infinity):
    """Make a vertex record current: bound h, not reached, not closed."""
    record.stamp = stamp
    record.g = infinity
    record.h = h
    record.parent = NO_PARENT
    record.closed = 0


@inner
def lift(arcs, layout, memo, state, stamp, u, infinity):
    """Apply BPMX(1) at u, which is not the target: raise h(u) from its successors, then theirs from h(u).

    h(v) - h(u) can exceed w(v, u) only if h(u) is too low, so the *reverse* arc's weight must be used.
    Return the number of bounds computed, or -1 if one was not finite.
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


@inner
def trace(arcs, work, source, target, cost, count):
    """Write the path to the end of `work.path`, and its length and re-summed cost to the rows."""
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
