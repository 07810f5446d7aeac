"""The goal search in plain Python: a callable bound for the slow tier, and the twin of the compiled one."""

import heapq
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from aacbench.contract.method import GoalSearch
from aacbench.graphs.record import Graph
from aacbench.search.goal import sides


class GoalBound:
    """h(u, t) as a callable whose `bind(t)` says how many vertices were settled for it."""

    def __init__(self, graph: Graph, labels: Any, kernel: Callable[..., Any], goal: GoalSearch) -> None:
        self._graph, self._labels, self._goal = graph, labels, goal
        self._kernel, self._start, self._visit = (_plain(f) for f in (kernel, goal.start, goal.visit))
        self._memo = np.zeros(goal.memo, dtype=graph.weights.dtype)
        self._target = -1

    def bind(self, target: int) -> int:
        """Prepare for a target by searching around it."""
        self._target = target
        self._memo[:] = 0
        self._start(self._labels, self._memo, target)
        return sum(self._settle(target, side == 0) for side in range(*sides(self._graph, self._goal)))

    def __call__(self, u: int, t: int) -> Any:
        """The bound, whichever target it was last prepared for."""
        if t != self._target:
            self.bind(t)
        return self._kernel(self._labels, self._memo, u, t)

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
            if self._visit(self._labels, self._memo, u, g, towards):
                break
            row = slice(graph.indptr[u], graph.indptr[u + 1])
            for v, weight in zip(graph.indices[row].tolist(), graph.weights[row], strict=True):
                if v not in best or g + weight < best[v][0]:
                    sequence += 1
                    best[v] = (g + weight, sequence)
                    heapq.heappush(waiting, (g + weight, sequence, v))
        return settled


def _plain(function: Any, seen: frozenset[Any] = frozenset()) -> Callable[..., Any]:
    """The Python function behind a compiled one, which calls Python functions in turn."""
    if function is None or not hasattr(function, "py_func"):
        return function
    inner, within = function.py_func, seen | {function}
    names = [name for name in inner.__code__.co_names if hasattr(inner.__globals__.get(name), "py_func")]
    helpers = {name: inner.__globals__[name] for name in names if inner.__globals__[name] not in within}
    around = {**inner.__globals__, **{name: _plain(helper, within) for name, helper in helpers.items()}}
    return FunctionType(inner.__code__, around, inner.__name__, inner.__defaults__, inner.__closure__)
