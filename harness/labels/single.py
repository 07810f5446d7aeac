"""The bound of ALT in single precision, as the paper's code had it: rounding may raise it above the distance."""

from typing import Any

import numpy as np
from numba import njit


@njit
def single_precision(labels: Any, u: int, t: int) -> Any:
    """The largest difference of labels, taken in float32: of `both` columns, then `forward` ones, then the rest."""
    best = np.float32(0)
    turn = labels.both + labels.forward
    for k in range(labels.rows.shape[1]):
        here, there = labels.rows[u, k], labels.rows[t, k]
        if here >= 0 and there >= 0:
            if k < turn:
                best = max(best, there - here)
            if k < labels.both or k >= turn:
                best = max(best, here - there)
    return np.float64(best)
