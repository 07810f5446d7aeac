"""Compiled parts of CDH: the assignment of pivots to vertices, bounds on the goal's missing labels, the heuristic.

A vertex stores the labels of the pivots of its group. The memo holds an upper bound on the goal's distance for each
pivot (-1 until known), a lower bound for each pivot, a flag for each group met, the number of groups met, and the
number of vertices visited. Pivot k of a group has the position `place` = group * kept + k.
"""

import math

import numpy as np
from numba import njit

from aacbench.graphs.record import Array, Graph
from aacbench.util.compiled import kernel

PATIENCE = 64  # vertices visited per group: a group may have no vertex near the goal, or none that reaches it
_NEIGHBOUR = 2**20  # a neighbour of the same colour costs more than any number of vertices two steps away


@njit
def group_of(labels, v):
    """Return the group of v: its colour, or its number modulo the number of groups."""
    return v % labels.groups if len(labels.colour) == 0 else int(labels.colour[v])


@njit
def start(labels, memo, t):
    """Mark all upper bounds as unknown; the lower bounds stay zero."""
    memo[: labels.groups * labels.kept] = -1


@njit
def meet(labels, memo, group):
    """Record a visited vertex of this group; return True if the goal search can stop."""
    at = 2 * labels.groups * labels.kept
    memo[at + labels.groups] += 1 - memo[at + group]
    memo[at + group] = 1
    memo[at + labels.groups + 1] += 1
    everyone = memo[at + labels.groups] == labels.groups
    return everyone or memo[at + labels.groups + 1] >= PATIENCE * labels.groups


@njit
def tighten(labels, memo, x, low, high):
    """Tighten the bounds by |d(x,p) - d(x,t)| <= d(p,t) <= d(x,p) + d(x,t), where d(x,t) is in [low, high]."""
    group = group_of(labels, x)
    pivots = labels.groups * labels.kept
    for k in range(labels.kept):
        label, place = labels.rows[x, k], group * labels.kept + k
        if label >= 0:
            if memo[place] < 0 or label + high < memo[place]:
                memo[place] = label + high
            memo[pivots + place] = max(memo[pivots + place], label - high, low - label)
    return meet(labels, memo, group)


@njit
def tighten_directed(labels, memo, x, high):
    """Tighten the bounds by d(t,p) <= d(t,x) + d(x,p) and d(p,t) >= d(p,x) - d(t,x), where d(t,x) <= high."""
    group = group_of(labels, x)
    pivots = labels.groups * labels.kept
    for k in range(labels.kept):
        away, back = labels.rows[x, k], labels.rows[x, labels.kept + k]
        place = group * labels.kept + k
        if back >= 0 and (memo[place] < 0 or back + high < memo[place]):
            memo[place] = back + high
        if away >= 0:
            memo[pivots + place] = max(memo[pivots + place], away - high)
    return meet(labels, memo, group)


@njit
def in_label_units(labels, distance):
    """Return an upper bound on a distance in label units; the labels' weights were rounded down arc by arc."""
    return 0.0 if distance == 0 else math.floor(distance / labels.scale) + 1.0


@njit
def visit(labels, memo, x, distance, towards):
    """Visit a vertex, with labels in the unit of the weights; `care` is the relative rounding error of a distance."""
    care = distance * labels.care
    return tighten(labels, memo, x, distance - care, distance + care)


@njit
def visit_directed(labels, memo, x, distance, towards):
    return tighten_directed(labels, memo, x, distance + distance * labels.care)


@njit
def visit_fixed(labels, memo, x, distance, towards):
    """Visit with fixed-point labels: the number of rounded arcs is unknown, so the lower end of a distance is 0."""
    return tighten(labels, memo, x, 0.0, in_label_units(labels, distance))


@njit
def visit_fixed_directed(labels, memo, x, distance, towards):
    return tighten_directed(labels, memo, x, in_label_units(labels, distance))


@njit
def bound(labels, memo, u, t):
    """The maximum over u's pivots of d(p,u) - upper(p) and lower(p) - d(p,u); 0 at the goal despite rounding."""
    best = memo[0] - memo[0]
    if u == t:
        return best * labels.scale
    group = group_of(labels, u)
    pivots = labels.groups * labels.kept
    for k in range(labels.kept):
        label, place = labels.rows[u, k], group * labels.kept + k
        if label >= 0 and memo[place] >= 0:
            best = max(best, label - memo[place], memo[pivots + place] - label)
    return max(best - labels.margin, memo[0] - memo[0]) * labels.scale


@njit
def bound_directed(labels, memo, u, t):
    """The maximum over u's pivots of d(u,p) - upper(p) on d(t,p), and of lower(p) on d(p,t) minus d(p,u)."""
    best = memo[0] - memo[0]
    if u == t:
        return best * labels.scale
    group = group_of(labels, u)
    pivots = labels.groups * labels.kept
    for k in range(labels.kept):
        away, back = labels.rows[u, k], labels.rows[u, labels.kept + k]
        place = group * labels.kept + k
        if back >= 0 and memo[place] >= 0:
            best = max(best, back - memo[place])
        if away >= 0:
            best = max(best, memo[pivots + place] - away)
    return max(best - labels.margin, memo[0] - memo[0]) * labels.scale


BY_KIND = {  # (is the graph symmetric, are labels fixed-point): (visit, bound)
    (True, False): (visit, bound),
    (True, True): (visit_fixed, bound),
    (False, False): (visit_directed, bound_directed),
    (False, True): (visit_fixed_directed, bound_directed),
}


def colouring(graph: Graph, colours: int) -> Array:
    """Return a colour for each vertex: the rarest among its neighbours, then among vertices two steps away."""
    dtype = np.uint8 if colours <= 256 else np.uint16
    reverse = graph.reverse
    arcs = (graph.indptr, graph.indices, reverse.indptr, reverse.indices)
    return greedy_colours(*arcs, colours).astype(dtype)


@kernel
def greedy_colours(indptr, indices, rindptr, rindices, colours):
    """Colour vertices in the order of their numbers; ties go to the least used colour, then to the lowest."""
    vertices = len(indptr) - 1
    colour = np.full(vertices, -1, dtype=np.int64)
    used = np.zeros(colours, dtype=np.int64)
    cost = np.zeros(colours, dtype=np.int64)
    for v in range(vertices):
        cost[:] = 0
        for u in indices[indptr[v] : indptr[v + 1]]:
            _count_colours(cost, colour, u, indptr, indices, rindptr, rindices)
        for u in rindices[rindptr[v] : rindptr[v + 1]]:
            _count_colours(cost, colour, u, indptr, indices, rindptr, rindices)
        best = 0
        for c in range(1, colours):
            if cost[c] < cost[best] or (cost[c] == cost[best] and used[c] < used[best]):
                best = c
        colour[v] = best
        used[best] += 1
    return colour


@kernel
def _count_colours(cost, colour, u, indptr, indices, rindptr, rindices):
    if colour[u] >= 0:
        cost[colour[u]] += _NEIGHBOUR
    for w in indices[indptr[u] : indptr[u + 1]]:
        if colour[w] >= 0:
            cost[colour[w]] += 1
    for w in rindices[rindptr[u] : rindptr[u + 1]]:
        if colour[w] >= 0:
            cost[colour[w]] += 1


def farthest(table: Array, kept: int) -> Array:
    """Return for each vertex the rows of its `kept` largest distances; of equal ones the last, as in the paper."""
    return np.argsort(table.T, axis=1, kind="stable")[:, table.shape[0] - kept :]
