"""Forgets to mark its hook."""

from aacbench.plugins import Method, ScalarHeuristic


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


def aacbench_methods():
    yield Method("unmarked", "nothing new", fit, build)
