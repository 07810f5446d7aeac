"""A method of a file whose heuristic is rebuilt from its arrays, so that its process must find the file again."""

import numpy as np

from aacbench.plugins import BatchHeuristic, Method, hookimpl


def many(arrays, us, t):
    return np.abs(arrays["rows"][us] - arrays["rows"][t])


def build(context):
    return BatchHeuristic({"rows": np.zeros(context.graph.vertices, dtype=np.int32)}, many)


@hookimpl
def aacbench_methods():
    yield Method("bounds", "zero, the long way round", lambda budget, info, params: params, build)
