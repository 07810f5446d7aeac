"""Wants an argument that the hook does not give."""

from aacbench.plugins import Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods(graph):
    yield Method("nosy", "nothing new", fit, build)
