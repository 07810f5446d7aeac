"""Pivots as in a compressed differential heuristic: each vertex knows one pivot, and a table joins any two of them.

d(p, q) <= d(p, u) + d(u, t) + d(t, q), where p is the pivot of u and q that of t, so the direction of the table counts.
"""

import numpy as np

from aacbench.plugins import BatchHeuristic, Claims, Method, Unsupported, hookimpl

PIVOTS = 3


def fit(budget, info, params):
    if not info.integral or budget.values(8) < 4 or info.vertices < PIVOTS:
        return Unsupported("whole numbers, 32 bytes a vertex and three vertices are needed")
    return params


def build(context):
    vertices = np.arange(context.graph.vertices)
    pool = context.pools.farthest(PIVOTS)
    home = vertices % len(pool)
    away, back = pool.forward[home, vertices], pool.backward[home, vertices]
    table = pool.forward[:, pool.landmarks]
    arrays = {"away": away, "back": back, "table": table.astype(np.int32), "pivots": np.array([len(pool)])}
    return BatchHeuristic({name: array.astype(_narrow(array)) for name, array in arrays.items()}, many)


def _narrow(array):
    return np.int32 if array.max() < 2**31 else np.int64


def many(arrays, us, t):
    count = int(arrays["pivots"][0])
    p, q = us % count, t % count
    between = arrays["table"][p, q].astype(np.int64)
    away, back = arrays["away"][us].astype(np.int64), int(arrays["back"][t])
    known = (between >= 0) & (away >= 0) & (back >= 0)
    return np.where(known & (us != t), np.maximum(between - away - back, 0), 0)


@hookimpl
def aacbench_methods():
    yield Method("pivots", "one pivot a vertex", fit, build, Claims(consistent=False))
