"""An author's goal search: exact distances for the few vertices nearest to the goal, a table of bounds elsewhere.

The memo holds the number of vertices visited towards the goal and away from it, then pairs of vertex and distance.
"""

import numba

SEEN, AWAY, LIMIT, PAIRS = 0, 1, 2, 3


@numba.njit
def start(labels, memo, t):
    """Set how many vertices to visit, which depends on the goal."""
    memo[LIMIT] = labels.look[t]


@numba.njit
def visit(labels, memo, x, distance, towards):
    """Store a vertex if there is room; away from the goal, only count."""
    if not towards:
        memo[AWAY] += 1
        return memo[AWAY] >= memo[LIMIT]
    at = PAIRS + 2 * int(memo[SEEN])
    if at + 1 < len(memo):
        memo[at] = x
        memo[at + 1] = distance
        memo[SEEN] += 1
    return memo[SEEN] >= memo[LIMIT]


@numba.njit
def bound(labels, memo, u, t):
    """The distance if the vertex was visited, else the table's bound."""
    for k in range(int(memo[SEEN])):
        if memo[PAIRS + 2 * k] == u:
            return memo[PAIRS + 2 * k + 1]
    return labels.table[u, t]


@numba.njit
def count(labels, memo, u, t):
    """Both counts in one number."""
    return memo[SEEN] + 1000 * memo[AWAY]


@numba.njit
def label_at_goal(labels, memo, t):
    """Read the goal's own label, without a search."""
    memo[0] = labels.look[t]


@numba.njit
def stored(labels, memo, u, t):
    """The goal's label."""
    return memo[0] if u != t else memo[0] * 0
