"""Kernels that add up what every label tells, for labels that do not tell the same thing twice."""

from typing import Any

from numba import njit


@njit
def l1(labels: Any, u: int, t: int) -> Any:
    """The sum of the differences of all coordinates."""
    total = labels.rows[u, 0] - labels.rows[u, 0]  # zero, in the type of a difference
    for k in range(labels.rows.shape[1]):
        total += abs(labels.rows[u, k] - labels.rows[t, k])
    return total * labels.scale


@njit
def one_sided(labels: Any, u: int, t: int) -> Any:
    """The sum, where positive, of d(u, l) - d(t, l)."""
    total = labels.rows[u, 0] - labels.rows[u, 0]
    for k in range(labels.rows.shape[1]):
        total += max(labels.rows[u, k] - labels.rows[t, k], 0)
    return total * labels.scale
