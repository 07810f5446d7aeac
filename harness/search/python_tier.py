"""A* in plain Python: the slow tier for callables, and the twin every compiled count is compared with."""

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.search.answers import Answers, from_tables
from aacbench.search.astar import COSTS, COUNTS, RELATIVE_TOLERANCE
from aacbench.search.policy import TIES, Policy

Bound = Callable[[int, int], Any]

_FAR = 2**62  # what the compiled kernel takes for infinite on integer weights


@dataclass(slots=True)
class _Search:
    """The state of one search, and what it counted."""

    g: dict[int, Any] = field(default_factory=dict)
    h: dict[int, Any] = field(default_factory=dict)
    parent: dict[int, int] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    popped: list[Any] = field(default_factory=list)
    reexpanded: int = 0
    pushed: int = 0
    stale: int = 0
    settled: int = 0  # around the goal, before the search


def search_python(
    graph: Graph, bound: Bound, sources: Array, targets: Array, policy: Policy, *, paths: bool = False
) -> Answers:
    """A* for each query with h(u, t) from a callable; the counts are those of the compiled kernel.

    A callable with a method `bind(t)` is told each target first, and answers how many vertices it settled to prepare.
    """
    successors = _adjacency(graph)
    prepare = getattr(bound, "bind", _no_preparation)
    bound = _finite(bound, graph.integral)
    costs = np.zeros((len(sources), len(COSTS)), dtype=graph.weights.dtype)
    counts = np.zeros((len(sources), len(COUNTS)), dtype=np.int64)
    found = []
    for query, (s, t) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        path = [s]
        if s != t:
            settled = prepare(t)
            run = _run(successors, bound, s, t, policy)
            run.settled = settled
            path = _path(run, s, t)
            _fill(costs[query], counts[query], graph, successors, run, bound(s, t), path, t)
        found.append(np.array(path, dtype=np.int64))
    return from_tables(costs, counts, found if paths else None)


def _no_preparation(target: int) -> int:
    return 0


def _finite(bound: Bound, integral: bool) -> Bound:
    """The bound as the compiled kernel takes it: finite, and an integer on integer weights."""

    def checked(u: int, t: int) -> Any:
        h = bound(u, t)
        if isinstance(h, np.floating):
            h = h.item()  # a short one cannot be held against 2^62
        if not math.isfinite(h):
            raise UsageError(f"h({u}, {t}) is {h}, which is not a finite number.")
        if integral and not abs(h) < _FAR:
            raise UsageError(f"h({u}, {t}) is {h}, which is beyond 2^62.")
        return int(h) if integral else float(h)

    return checked


def _adjacency(graph: Graph) -> Callable[[int], list[tuple[int, Any]]]:
    known: dict[int, list[tuple[int, Any]]] = {}

    def successors(u: int) -> list[tuple[int, Any]]:
        if u not in known:
            row = slice(graph.indptr[u], graph.indptr[u + 1])
            known[u] = list(zip(graph.indices[row].tolist(), graph.weights[row].tolist(), strict=True))
        return known[u]

    return successors


def _run(successors: Callable[[int], list[tuple[int, Any]]], bound: Bound, s: int, t: int, policy: Policy) -> _Search:
    run = _Search()
    tie_g, tie_sequence = TIES[policy.tie]
    open_list: list[tuple[Any, Any, int, int]] = []

    def h_of(v: int) -> Any:
        if v not in run.h:
            run.h[v] = bound(v, t)
        return run.h[v]

    def push(v: int, g: Any) -> None:
        run.pushed += 1
        run.g[v] = g
        run.latest[v] = run.pushed
        heapq.heappush(open_list, (g + h_of(v), tie_g * g + tie_sequence * run.pushed, run.pushed, v))

    push(s, 0)
    while open_list:
        f, _, sequence, u = heapq.heappop(open_list)
        if sequence != run.latest[u] if policy.reopen else u in run.closed:
            run.stale += 1
            continue
        run.popped.append(f)
        run.reexpanded += u in run.closed
        run.closed.add(u)
        if u == t:
            break
        if policy.bpmx:
            _lift(successors, run.h, h_of, u)
        for v, weight in successors(u):
            h_of(v)
            through = run.g[u] + weight
            if through < run.g.get(v, math.inf) and (policy.reopen or v not in run.closed):
                run.parent[v] = u
                push(v, through)
    return run


def _lift(
    successors: Callable[[int], list[tuple[int, Any]]], h: dict[int, Any], h_of: Callable[[int], Any], u: int
) -> None:
    ahead = successors(u)
    raised = [h_of(u)] + [h_of(v) - back for v, _ in ahead for x, back in successors(v) if x == u]
    if ahead:
        raised.append(min(h_of(v) + weight for v, weight in ahead))
    h[u] = max(raised)
    for v, weight in ahead:
        h[v] = max(h[v], h[u] - weight)


def _path(run: _Search, s: int, t: int) -> list[int]:
    if t not in run.closed:
        return []
    path = [t]
    while path[-1] != s:
        path.append(run.parent[path[-1]])
    return path[::-1]


def _fill(
    cost: Array,
    count: Array,
    graph: Graph,
    successors: Callable[[int], list[tuple[int, Any]]],
    run: _Search,
    h_source: Any,
    path: list[int],
    t: int,
) -> None:
    found = run.g[t] if path else -1
    again = sum(dict(successors(u))[v] for u, v in itertools.pairwise(path)) if path else -1
    slack = 0 if graph.integral else found * RELATIVE_TOLERANCE
    below = run.settled + (sum(f < found - slack for f in run.popped) if path else len(run.popped))
    level = sum(found - slack <= f <= found + slack for f in run.popped) if path else 0
    cost[:] = found, again, h_source
    count[:] = (
        max(0, len(path) - 1),
        run.settled + len(run.popped),
        run.reexpanded,
        run.pushed,
        run.stale,
        len(run.h),
        below,
        level,
    )
