"""A* in plain Python: the tier for callables, and the reference for every count of the compiled tier."""

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from aacbench.contract.method import GoalSearch
from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.search.astar import COSTS, COUNTS, RELATIVE_TOLERANCE, Answers, answers_from_tables
from aacbench.search.author import scratch_class
from aacbench.search.goal import sides
from aacbench.search.policy import TIES, Policy
from aacbench.search.scratch import new_memo

Bound = Callable[[int, int], Any]

_INFINITY = 2**62  # the compiled kernel's infinity on integer weights


@dataclass(slots=True)
class _Search:
    """The state and the counts of one search."""

    g: dict[int, Any] = field(default_factory=dict)
    h: dict[int, Any] = field(default_factory=dict)
    parent: dict[int, int] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    popped: list[Any] = field(default_factory=list)
    reexpanded: int = 0
    pushed: int = 0
    stale: int = 0
    settled: int = 0  # by the goal search
    work: int = 0  # as the heuristic reports it


def search_python(
    graph: Graph, bound: Bound, sources: Array, targets: Array, policy: Policy, *, paths: bool = False
) -> Answers:
    """Run A* for each query with a callable h(u, t); all counts equal those of the compiled kernel.

    If the callable has a method `bind(t)`, it is called once per query and returns how many vertices it settled; if it
    has a method `work()`, that returns the work of its bounds since then.
    """
    successors = _adjacency(graph)
    prepare, work = getattr(bound, "bind", lambda target: 0), getattr(bound, "work", lambda: 0)
    bound = _finite(bound, graph.integral)
    costs = np.zeros((len(sources), len(COSTS)), dtype=graph.weights.dtype)
    counts = np.zeros((len(sources), len(COUNTS)), dtype=np.int64)
    found_paths = []
    for query, (s, t) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        path = [s]
        if s != t:
            settled = prepare(t)
            run = _run(successors, bound, s, t, policy)
            run.settled, run.work = settled, work()
            path = _path(run, s, t)
            _fill(costs[query], counts[query], graph, successors, run, bound(s, t), path, t)
        found_paths.append(np.array(path, dtype=np.int64))
    return answers_from_tables(costs, counts, found_paths if paths else None)


def closed_python(graph: Graph, bound: Bound, source: int, target: int, policy: Policy) -> Array:
    """Return the vertices that one search expands, in ascending order."""
    getattr(bound, "bind", lambda target: 0)(target)
    run = _run(_adjacency(graph), _finite(bound, graph.integral), source, target, policy)
    return np.array(sorted(run.closed), dtype=np.int64)


def _finite(bound: Bound, integral: bool) -> Bound:
    """Return the bound as the compiled kernel uses it: finite, and cut to an integer on integer weights."""

    def checked(u: int, t: int) -> Any:
        h = bound(u, t)
        if isinstance(h, np.floating):
            h = h.item()  # float16 cannot be compared with 2^62
        if not math.isfinite(h):
            raise UsageError(f"h({u}, {t}) is {h}, which is not a finite number.")
        if integral and not abs(h) < _INFINITY:
            raise UsageError(f"h({u}, {t}) is {h}, beyond 2^62.")
        return int(h) if integral else float(h)

    return checked


def _adjacency(graph: Graph) -> Callable[[int], list[tuple[int, Any]]]:
    @cache
    def successors(u: int) -> list[tuple[int, Any]]:
        row = slice(graph.indptr[u], graph.indptr[u + 1])
        return list(zip(graph.indices[row].tolist(), graph.weights[row].tolist(), strict=True))

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
    path_cost = sum(dict(successors(u))[v] for u, v in itertools.pairwise(path)) if path else -1
    slack = 0 if graph.integral else found * RELATIVE_TOLERANCE
    below = run.settled + (sum(f < found - slack for f in run.popped) if path else len(run.popped))
    level = sum(found - slack <= f <= found + slack for f in run.popped) if path else 0
    cost[:] = found, path_cost, h_source
    edges, expanded = max(0, len(path) - 1), run.settled + len(run.popped)
    count[:] = edges, expanded, run.reexpanded, run.pushed, run.stale, len(run.h), below, level, run.work


class GoalBound:
    """A heuristic with a goal search as a callable h(u, t); `bind(t)` runs the goal search in plain Python."""

    def __init__(self, graph: Graph, labels: Any, kernel: Callable[..., Any], goal: GoalSearch) -> None:
        self._graph, self._labels, self._goal = graph, labels, goal
        self._kernel, self._start, self._visit = (
            _uncompiled(function) for function in (kernel, goal.start, goal.visit)
        )
        weight, record = graph.weights.dtype, scratch_class(goal)
        self._memo = new_memo(goal.memo, weight, graph.vertices, goal.scratch or {}, record)
        self._target = -1

    def bind(self, target: int) -> int:
        self._target = target
        self._memo.numbers[:] = 0
        self._memo.stamp[0] += 1
        self._memo.work[0] = 0
        self._start(self._labels, self._memo.given, target)
        return sum(self._settle(target, side == 0) for side in range(*sides(self._graph, self._goal)))

    def __call__(self, u: int, t: int) -> Any:
        if t != self._target:
            self.bind(t)
        return self._kernel(self._labels, self._memo.given, u, t)

    def work(self) -> int:
        return int(self._memo.work[0])

    def _settle(self, target: int, towards: bool) -> int:
        graph = self._graph.reverse if towards else self._graph
        zero = graph.weights.dtype.type(0)
        best: dict[int, tuple[Any, int]] = {target: (zero, 1)}
        waiting = [(zero, 1, target)]
        sequence, settled = 1, 0
        while waiting:
            g, popped, u = heapq.heappop(waiting)
            if popped != best[u][1]:
                continue
            settled += 1
            if self._visit(self._labels, self._memo.given, u, g, towards):
                break
            row = slice(graph.indptr[u], graph.indptr[u + 1])
            for v, weight in zip(graph.indices[row].tolist(), graph.weights[row], strict=True):
                if v not in best or g + weight < best[v][0]:
                    sequence += 1
                    best[v] = (g + weight, sequence)
                    heapq.heappush(waiting, (g + weight, sequence, v))
        return settled


def _uncompiled(function: Any, seen: frozenset[Any] = frozenset()) -> Callable[..., Any]:
    """Return the Python function behind a compiled one; compiled functions that it calls are replaced too."""
    if function is None or not hasattr(function, "py_func"):
        return function
    inner, within = function.py_func, seen | {function}
    names = [name for name in inner.__code__.co_names if hasattr(inner.__globals__.get(name), "py_func")]
    helpers = {name: inner.__globals__[name] for name in names if inner.__globals__[name] not in within}
    around = {**inner.__globals__, **{name: _uncompiled(helper, within) for name, helper in helpers.items()}}
    return FunctionType(inner.__code__, around, inner.__name__, inner.__defaults__, inner.__closure__)
