"""The compiled bound of `hops`."""

from typing import Any

from numba import njit


@njit
def steps(labels: Any, u: int, t: int) -> Any:
    """Return the weight of a map's lightest edge for each step that a king needs from u to t."""
    side = labels.side
    cells = side * side
    rows = abs(u % cells // side - t % cells // side)
    columns = abs(u % side - t % side)
    return labels.least[u // cells] * max(rows, columns)
