"""An author's own goal search: the exact distance of the few vertices nearest to the goal, a table's bound elsewhere.

The memo holds how many vertices were seen towards the goal and away from it, then pairs of a vertex and its distance.
"""

import numba

SEEN, AWAY, LIMIT, PAIRS = 0, 1, 2, 3


@numba.njit
def start(labels, memo, t):
    """How many to look at, which differs from goal to goal."""
    memo[LIMIT] = labels.look[t]


@numba.njit
def visit(labels, memo, x, distance, towards):
    """Note a vertex that still fits; going away from the goal, only count."""
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
    """The distance where it was seen, and at least what the table says."""
    for k in range(int(memo[SEEN])):
        if memo[PAIRS + 2 * k] == u:
            return memo[PAIRS + 2 * k + 1]
    return labels.table[u, t]


@numba.njit
def count(labels, memo, u, t):
    """What was counted on the way, as a number."""
    return memo[SEEN] + 1000 * memo[AWAY]


@numba.njit
def label_at_goal(labels, memo, t):
    """Only what lies at the goal itself."""
    memo[0] = labels.look[t]


@numba.njit
def stored(labels, memo, u, t):
    """What was stored for the goal."""
    return memo[0] if u != t else memo[0] * 0
