"""Has a method named like a built-in one."""

from aacbench.plugins import Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("dijkstra", "nothing new", fit, build)
