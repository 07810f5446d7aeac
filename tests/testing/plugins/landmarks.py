"""Landmark labels in NumPy, done right: what the mutants of the suite's own tests are made of."""

import numpy as np

from aacbench.plugins import BatchHeuristic, Claims, Method, Parameter, Unsupported, hookimpl

STATE = {}
COUNT = []
CLAIMS = Claims()


def fit(budget, info, params):
    count = min(budget.values(8) // 2, info.vertices)
    if count < 1:
        return Unsupported("16 bytes a vertex hold a landmark, and fewer none")
    return {**params, "K": count}


def build(context):
    count = context.params["K"]
    landmarks = context.pools.farthest(count).landmarks
    pool = context.pools.of(landmarks)
    dtype = np.int64 if context.graph.integral else np.float64
    forward, backward = pool.forward.T.astype(dtype), pool.backward.T.astype(dtype)
    arrays = {"forward": forward, "backward": backward}
    return BatchHeuristic(arrays, many)


def many(arrays, us, t):
    forward, backward = arrays["forward"], arrays["backward"]
    ahead = np.where((forward[us] >= 0) & (forward[t] >= 0), forward[t] - forward[us], 0)
    back = np.where((backward[us] >= 0) & (backward[t] >= 0), backward[us] - backward[t], 0)
    margin = 0 if forward.dtype.kind == "i" else 4e-12 * max(forward.max(), backward.max())
    best = np.maximum(ahead, back).max(axis=1) - margin
    return np.maximum(best, 0)


@hookimpl
def aacbench_methods():
    parameters = {"K": Parameter(0, "landmarks; 0 is as many as fit", minimum=0)}
    yield Method("landmarks", "landmark labels in NumPy", fit, build, CLAIMS, parameters)
