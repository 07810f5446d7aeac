"""A* and the landmark bound as they are usually written in Python: labels in lists, in rows, in masked tables."""

import heapq
from collections.abc import Callable
from itertools import count
from operator import sub
from typing import Any

import numpy as np

from aacbench.graphs import Graph
from aacbench.labels import Pool

Bound = Callable[[int, int], Any]
Neighbours = list[list[tuple[int, int]]]


def neighbours(graph: Graph) -> Neighbours:
    """For each vertex its (head, weight) pairs."""
    arcs = list(zip(graph.indices.tolist(), graph.weights.tolist(), strict=True))
    return [arcs[first:end] for first, end in zip(graph.indptr[:-1].tolist(), graph.indptr[1:].tolist(), strict=True)]


def astar(adjacent: Neighbours, bound: Bound, source: int, target: int) -> tuple[int, int]:
    """The cost, -1 where there is no path, and the number of expansions: closed set, ties first in, first out."""
    order = count()
    g = {source: 0}
    parent: dict[int, int] = {}
    closed: set[int] = set()
    open_list = [(bound(source, target), next(order), source)]
    expanded = 0
    while open_list:
        _, _, u = heapq.heappop(open_list)
        if u in closed:
            continue
        closed.add(u)
        expanded += 1
        if u == target:
            return g[u], expanded
        for v, weight in adjacent[u]:
            if v in closed:
                continue
            through = g[u] + weight
            if v not in g or through < g[v]:
                g[v] = through
                parent[v] = u
                heapq.heappush(open_list, (through + bound(v, target), next(order), v))
    return -1, expanded


def list_bound(pool: Pool) -> Bound:
    """The landmark bound from lists of Python integers."""
    ahead = pool.forward.T.tolist()
    if pool.symmetric:
        return lambda u, t: max(map(abs, map(sub, ahead[u], ahead[t])))
    behind = pool.backward.T.tolist()
    return lambda u, t: max(0, *map(sub, ahead[t], ahead[u]), *map(sub, behind[u], behind[t]))


def numpy_bound(pool: Pool) -> Bound:
    """The landmark bound from a row of labels for each vertex."""
    ahead = np.ascontiguousarray(pool.forward.T)
    if pool.symmetric:
        return lambda u, t: int(np.max(np.abs(ahead[u] - ahead[t])))
    behind = np.ascontiguousarray(pool.backward.T)
    return lambda u, t: int(max(0, np.max(ahead[t] - ahead[u]), np.max(behind[u] - behind[t])))


def masked_bound(pool: Pool) -> Bound:
    """The landmark bound from a float64 table each way, a row a landmark, unreachable labels masked at every call."""
    ahead, behind = (np.where(table < 0, np.inf, table) for table in (pool.forward, pool.backward))

    def bound(u: int, t: int) -> int:
        best = 0.0
        for table, first, second in ((ahead, t, u), (behind, u, t)):
            a, b = table[:, first], table[:, second]
            known = np.isfinite(a) & np.isfinite(b)
            if known.any():
                best = max(best, float(np.max(a[known] - b[known])))
        return int(best)

    return bound
