"""Compiled parts of the CDH of the paper: labels of the farthest pivots, compared where both ends kept them.

The memo has the goal's labels d(p,t), -1 where there is none, and after them, on graphs that are not symmetric,
d(t,p).
"""

from numba import njit


@njit
def start(labels, memo, t):
    """Lay out the labels that the goal kept, by pivot."""
    kept = labels.index.shape[1]
    memo[:] = -1
    for k in range(kept):
        memo[labels.index[t, k]] = labels.rows[t, k]
        if labels.directed:
            memo[labels.pivots + labels.index[t, k]] = labels.rows[t, kept + k]


@njit
def shared(labels, memo, u, t):
    """The differential bound over pivots kept at both ends."""
    best = memo[0] - memo[0]
    kept = labels.index.shape[1]
    for k in range(kept):
        p, away = labels.index[u, k], labels.rows[u, k]
        goal = memo[p]
        if away >= 0 and goal >= 0:
            best = max(best, goal - away)
            if not labels.directed:
                best = max(best, away - goal)
        if labels.directed:
            back, goal = labels.rows[u, kept + k], memo[labels.pivots + p]
            if back >= 0 and goal >= 0:
                best = max(best, back - goal)
    return max(best - labels.margin, memo[0] - memo[0]) * labels.scale


@njit
def substituted(labels, memo, u, t):
    """Besides, a pivot that only u kept, with its distance at the goal bounded through a pivot q that both kept.

    On directed graphs d(p,t) >= d(q,t) - d(q,p) and d(p,q) - d(t,q), and d(t,p) <= d(t,q) + d(q,p); the published
    absolute difference is no bound there. Otherwise all of them hold both ways.
    """
    best = shared(labels, memo, u, t)
    kept = labels.index.shape[1]
    for j in range(kept):
        q = labels.index[u, j]
        if memo[q] < 0:
            continue
        from_q = memo[q]
        to_q = memo[labels.pivots + q] if labels.directed else from_q
        for k in range(kept):
            p, away = labels.index[u, k], labels.rows[u, k]
            if memo[p] >= 0:
                continue
            back = labels.rows[u, kept + k] if labels.directed else away
            there, again = labels.between[p, q], labels.between[q, p]
            best = max(best, (substitute(away, back, there, again, from_q, to_q) - labels.margin) * labels.scale)
    return best


@njit
def substitute(away, back, there, again, from_q, to_q):
    """The bound by one pivot p through one q: away d(p,u), back d(u,p), there d(p,q), again d(q,p)."""
    best = from_q * 0
    if away >= 0 and again >= 0 and from_q >= 0:
        best = max(best, from_q - again - away)
    if away >= 0 and there >= 0 and to_q >= 0:
        best = max(best, there - to_q - away)
    if back >= 0 and again >= 0 and to_q >= 0:
        best = max(best, back - to_q - again)
    return best
