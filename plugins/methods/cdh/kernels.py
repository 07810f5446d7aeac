"""Compiled parts of CDH: bounds on the goal's missing distances, and the heuristic they give.

A vertex holds the labels of the pivots of its group, in the order of `place`. The memo has an upper bound for each
pivot (-1 until known), then a lower bound, then which groups were met, how many, and how many vertices were looked at.
"""

import math

from numba import njit

PATIENCE = 64  # vertices a group is waited for: a group may have no vertex near the goal, or none that it reaches


@njit
def group_of(labels, v):
    """Which pivots v holds: by its colour, or by its number in turn."""
    return v % labels.groups if len(labels.colour) == 0 else int(labels.colour[v])


@njit
def start(labels, memo, t):
    """No upper bound is known yet; a lower bound of zero always holds."""
    memo[: labels.groups * labels.kept] = -1


@njit
def meet(labels, memo, group):
    """Note that a vertex of this group was seen; True when nothing more is to be waited for."""
    at = 2 * labels.groups * labels.kept
    memo[at + labels.groups] += 1 - memo[at + group]
    memo[at + group] = 1
    memo[at + labels.groups + 1] += 1
    everyone = memo[at + labels.groups] == labels.groups
    return everyone or memo[at + labels.groups + 1] >= PATIENCE * labels.groups


@njit
def look(labels, memo, x, low, high):
    """Symmetric: with x between `low` and `high` from the goal, |d(x,p) - d(x,t)| <= d(p,t) <= d(x,p) + d(x,t)."""
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
def look_directed(labels, memo, x, high):
    """With x at most `high` behind the goal: d(t,p) <= d(t,x) + d(x,p), and d(p,t) >= d(p,x) - d(t,x)."""
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
def steps(labels, distance):
    """A distance in units of fixed-point labels, from above: their weights were rounded down, arc by arc."""
    return 0.0 if distance == 0 else math.floor(distance / labels.scale) + 1.0


@njit
def visit(labels, memo, x, distance, towards):
    """Labels in the unit of the weights; `care` is what rounding may have done to a distance."""
    care = distance * labels.care
    return look(labels, memo, x, distance - care, distance + care)


@njit
def visit_directed(labels, memo, x, distance, towards):
    """As `visit`, one way."""
    return look_directed(labels, memo, x, distance + distance * labels.care)


@njit
def visit_fixed(labels, memo, x, distance, towards):
    """Fixed-point labels: how many arcs were rounded is not known, so a distance has no lower end but zero."""
    return look(labels, memo, x, 0.0, steps(labels, distance))


@njit
def visit_fixed_directed(labels, memo, x, distance, towards):
    """As `visit_fixed`, one way."""
    return look_directed(labels, memo, x, steps(labels, distance))


@njit
def bound(labels, memo, u, t):
    """max over u's pivots of d(p,u) - upper(p) and lower(p) - d(p,u); at the goal 0 whatever rounding did."""
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
    """max over u's pivots of d(u,p) - upper(p), a bound on d(t,p), and lower(p) - d(p,u), with one on d(p,t)."""
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


BY_KIND = {  # by whether the graph is symmetric, and whether labels are fixed-point
    (True, False): (visit, bound),
    (True, True): (visit_fixed, bound),
    (False, False): (visit_directed, bound_directed),
    (False, True): (visit_fixed_directed, bound_directed),
}
