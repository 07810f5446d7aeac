"""Has a method of a name that another plugin took."""

from aacbench.plugins import Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("flat", "nothing new", fit, build)
