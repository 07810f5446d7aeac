"""Landmark labels with the built-in kernel, given once more in NumPy and once more in plain Python."""

import numpy as np

from aacbench.labels import label_rows
from aacbench.plugins import LabelHeuristic, Method, Unsupported, hookimpl


def fit(budget, info, params):
    if not info.integral or not info.symmetric:
        return Unsupported("only whole numbers and two-way arcs")
    return params


def build(context):
    rows = label_rows(context.pools.farthest(1)).astype(np.int64)

    def h(u, t):
        return int(many({"rows": rows}, np.array([u]), t)[0])

    return LabelHeuristic({"rows": rows}, "differential", {"both": rows.shape[1]}, many=many, h=h)


def many(arrays, us, t):
    rows = arrays["rows"]
    known = (rows[us] >= 0) & (rows[t] >= 0)
    return np.where(known, np.abs(rows[us] - rows[t]), 0).max(axis=1)


@hookimpl
def aacbench_methods():
    from aacbench.plugins import Claims

    yield Method("forms", "one landmark in three forms", fit, build, Claims(directed=False))
