"""One landmark with the author's own compiled kernel and one setting."""

import numba

from aacbench.contract.method import LabelHeuristic
from aacbench.labels import label_rows, of_landmarks


@numba.njit
def bound(labels, u, t):
    """The triangle inequality, and a constant that the author thinks fit to subtract."""
    return max(abs(labels.rows[u, 0] - labels.rows[t, 0]) - labels.slack, 0)


def build(network):
    """The labels of vertex 0."""
    return LabelHeuristic({"rows": label_rows(of_landmarks(network, [0]))}, bound, {"slack": 1})
