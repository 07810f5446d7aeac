"""Declares one name twice."""

from aacbench.plugins import Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("twice", "nothing new", fit, build)
    yield Method("twice", "once more", fit, build)
