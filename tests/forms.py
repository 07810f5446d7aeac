"""The differential bound in the three forms an author may give, each from label rows only."""

import numba
import numpy as np

from aacbench.contract.method import BatchHeuristic, LabelHeuristic, ScalarHeuristic


@numba.njit
def kernel(labels, u, t):
    """The bound of ALT without unreachable labels."""
    best = labels.rows[u, 0] - labels.rows[u, 0]
    for k in range(labels.rows.shape[1]):
        here, there = labels.rows[u, k], labels.rows[t, k]
        if here >= 0 and there >= 0:
            if k < labels.both + labels.forward:
                best = max(best, there - here)
            if k < labels.both or k >= labels.both + labels.forward:
                best = max(best, here - there)
    return best


def bound(rows, both, forward, u, t):
    """The same in plain Python."""
    best = 0
    for k, (here, there) in enumerate(zip(rows[u], rows[t], strict=True)):
        if here >= 0 and there >= 0:
            if k < both + forward:
                best = max(best, there - here)
            if k < both or k >= both + forward:
                best = max(best, here - there)
    return best


def many(arrays, us, t):
    """The same for many vertices in NumPy; the numbers of columns are in an array."""
    rows, (both, forward) = arrays["rows"].astype(np.result_type(arrays["rows"], np.int64)), arrays["columns"]
    there = rows[t]
    known = (rows[us] >= 0) & (there >= 0)
    rise, fall = there - rows[us], rows[us] - there
    column = np.arange(rows.shape[1])
    rise[~known | (column >= both + forward)] = 0
    fall[~known | ((column >= both) & (column < both + forward))] = 0
    return np.maximum(rise, fall).max(axis=1, initial=0)


def every_form(rows, both, forward):
    """The bound as built-in kernel, own kernel, batch and scalar."""
    settings = {"both": both, "forward": forward}
    table = rows.tolist()
    return [
        LabelHeuristic({"rows": rows}, "differential", settings),
        LabelHeuristic({"rows": rows}, kernel, settings),
        BatchHeuristic({"rows": rows, "columns": np.array([both, forward])}, many),
        ScalarHeuristic(lambda u, t: bound(table, both, forward, u, t)),
    ]
