"""Slow twins of the compiled contraction and of the evaluation of a hierarchy."""

import heapq
import math


def distances_up(order, heads_of, graph, target):
    """d(u, target) for every u from rows of arcs upwards: `heads_of[v]` has (head, weight out, weight into) of v."""
    rank = {v: i for i, v in enumerate(order)}
    down = {target: 0}
    for v in sorted(rank, key=rank.get):
        for x, _, into in heads_of[v]:
            if v in down and down[v] + into < down.get(x, math.inf):
                down[x] = down[v] + into
    exact = {}
    for v in sorted(rank, key=rank.get, reverse=True):
        through = (out + exact[x] for x, out, _ in heads_of[v])
        exact[v] = min(down.get(v, math.inf), *through, math.inf)
    return [exact[v] for v in range(graph.vertices)]


def overlay(graph, weights, order):
    """Contract in the given order without any witness: the arcs upwards, all of them."""
    out, into = [{} for _ in range(graph.vertices)], [{} for _ in range(graph.vertices)]
    for u, v, w in zip(graph.sources.tolist(), graph.indices.tolist(), weights.tolist(), strict=True):
        out[u][v] = into[v][u] = w
    rows = {}
    for v in order:
        rows[v] = [(x, out[v].get(x, math.inf), into[v].get(x, math.inf)) for x in {*out[v], *into[v]}]
        for u, first in into[v].items():
            del out[u][v]
            for x, second in out[v].items():
                if x != u:
                    out[u][x] = into[x][u] = min(out[u].get(x, math.inf), first + second)
        for x in out[v]:
            del into[x][v]
    return rows


def distances_from(arcs, source):
    """Dijkstra over a list of (tail, head, weight)."""
    ahead = {}
    for u, v, w in arcs:
        ahead.setdefault(u, []).append((v, w))
    best, queue = {}, [(0, source)]
    while queue:
        d, u = heapq.heappop(queue)
        if u not in best:
            best[u] = d
            for v, w in ahead.get(u, ()):
                heapq.heappush(queue, (d + w, v))
    return best
