"""The compiled bounds of `hops` and `chebyshev`."""

from typing import Any

from numba import njit


@njit
def steps(labels: Any, u: int, t: int) -> Any:
    """Return the weight of a map's lightest edge for each step from u to t."""
    return labels.least[u // (labels.side * labels.side)] * king_steps(labels.side, u, t)


@njit
def unit_steps(labels: Any, u: int, t: int) -> Any:
    return labels.step * king_steps(labels.side, u, t)


@njit
def king_steps(side: int, u: int, t: int) -> int:
    """Return the steps that a king needs from u to t, cells of one map."""
    cells = side * side
    rows = abs(u % cells // side - t % cells // side)
    columns = abs(u % side - t % side)
    return max(rows, columns)
