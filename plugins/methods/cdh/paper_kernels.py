"""Compiled parts of the paper's CDH: labels of the farthest pivots, compared if both ends store them.

The memo holds the goal's labels d(p,t) by pivot, -1 if missing, followed on directed graphs by d(t,p).
"""

from numba import njit


@njit
def start(labels, memo, t):
    kept = labels.index.shape[1]
    memo[:] = -1
    for k in range(kept):
        memo[labels.index[t, k]] = labels.rows[t, k]
        if labels.directed:
            memo[labels.pivots + labels.index[t, k]] = labels.rows[t, kept + k]


@njit
def shared(labels, memo, u, t):
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
    """The shared bound, improved by pivots p that only u stores; a shared pivot q bounds their distance to the goal.

    On directed graphs d(p,t) >= d(q,t) - d(q,p), d(p,t) >= d(p,q) - d(t,q), and d(t,p) <= d(t,q) + d(q,p). The
    published absolute difference is not a bound there. On symmetric graphs all of these hold in both directions.
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
            p_to_q, q_to_p = labels.between[p, q], labels.between[q, p]
            best = max(best, (substitute(away, back, p_to_q, q_to_p, from_q, to_q) - labels.margin) * labels.scale)
    return best


@njit
def substitute(away, back, p_to_q, q_to_p, from_q, to_q):
    """The bound by one pivot p through one q: away is d(p,u), back d(u,p), from_q d(q,t), to_q d(t,q)."""
    best = from_q * 0
    if away >= 0 and q_to_p >= 0 and from_q >= 0:
        best = max(best, from_q - q_to_p - away)
    if away >= 0 and p_to_q >= 0 and to_q >= 0:
        best = max(best, p_to_q - to_q - away)
    if back >= 0 and q_to_p >= 0 and to_q >= 0:
        best = max(best, back - to_q - q_to_p)
    return best
