"""Good methods beside a bad graph: all or nothing."""

from aacbench.plugins import GraphSource, Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("better-half", "nothing new", fit, build)


@hookimpl
def aacbench_graphs():
    return [GraphSource("worse-half", "no loader", None)]
