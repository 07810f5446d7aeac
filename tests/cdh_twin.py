"""Slow twins of the CDH methods, from the formulas alone."""

import heapq
from collections import Counter, namedtuple
from functools import cache

from aacbench.bundle.arrays import checked_settings
from aacbench.search.python_tier import GoalBound


def in_python(heuristic, graph):
    """The heuristic as a callable of the Python tier."""
    labels = {**heuristic.arrays, **checked_settings(heuristic.settings)}
    return GoalBound(graph, _class(tuple(labels))(*labels.values()), heuristic.kernel, heuristic.goal)


@cache
def _class(names):
    return namedtuple("Labels", names)


def nearest(graph, t):
    """Vertices in the order in which Dijkstra settles them from t, with their distances."""
    waiting, settled, pushed = [(0, 0, t)], {}, 0
    best = {t: 0}
    while waiting:
        g, _, u = heapq.heappop(waiting)
        if u in settled or g > best[u]:
            continue
        settled[u] = g
        row = slice(graph.indptr[u], graph.indptr[u + 1])
        for v, weight in zip(graph.indices[row], graph.weights[row], strict=True):
            if v not in best or g + weight < best[v]:
                pushed += 1
                best[v] = g + weight
                heapq.heappush(waiting, (g + weight, pushed, int(v)))
    return list(settled.items())


def cdh_bound(graph, exact, pivots, groups, group_of, t, patience):
    """h(u, t) for every u; pivot number i belongs to the group i mod groups; -1 in `exact` is unreachable."""
    seen, met = [], set()
    for x, g in nearest(graph, t):
        seen.append((x, g))
        met.add(group_of[x])
        if len(met) == groups or len(seen) == patience * groups:
            break
    h = []
    for u in range(graph.vertices):
        bounds = [0]
        for p in pivots[group_of[u] :: groups]:
            kept = [(x, g) for x, g in seen if p in pivots[group_of[x] :: groups]]
            to_pivot = [g + exact[x, p] for x, g in kept if exact[x, p] >= 0]  # d(t,p) is at most these
            from_pivot = [exact[p, x] - g for x, g in kept if exact[p, x] >= 0]  # d(p,t) is at least these
            if graph.symmetric:
                from_pivot += [g - exact[p, x] for x, g in kept if exact[p, x] >= 0]
            if exact[u, p] >= 0 and to_pivot:
                bounds.append(exact[u, p] - min(to_pivot))
            if exact[p, u] >= 0 and from_pivot:
                bounds.append(max(from_pivot) - exact[p, u])
        h.append(max(bounds))
    return h


def shared_bound(graph, exact, pivots, kept, u, t):
    """The paper's: pivots among the `kept` farthest of both ends, the last of equals."""
    first, second = (set(sorted(pivots, key=lambda p: exact[p, v])[-kept:]) for v in (u, t))
    bounds = [0]
    for p in first & second:
        if exact[p, u] >= 0 and exact[p, t] >= 0:
            bounds.append(exact[p, t] - exact[p, u])
        if exact[u, p] >= 0 and exact[t, p] >= 0:
            bounds.append(exact[u, p] - exact[t, p])
    return max(bounds)


def greedy_colouring(graph, colours):
    """Each vertex takes the colour of the fewest neighbours, then of the fewest two steps away, then the least used."""
    around = [[] for _ in range(graph.vertices)]
    for u, v in zip(graph.sources.tolist(), graph.indices.tolist(), strict=True):
        around[u].append(v)
        around[v].append(u)
    chosen = {}
    for v in range(graph.vertices):
        near = Counter(chosen.get(u) for u in around[v])
        far = Counter(chosen.get(w) for u in around[v] for w in around[u])
        used = Counter(chosen.values())
        chosen[v] = min(range(colours), key=lambda c: (near[c], far[c], used[c]))
    return list(chosen.values())
