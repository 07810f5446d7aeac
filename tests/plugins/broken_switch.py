"""Has a parameter named like a switch of the search."""

from aacbench.plugins import Method, Parameter, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("switchy", "nothing new", fit, build, parameters={"tie": Parameter(1)})
