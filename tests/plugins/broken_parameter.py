"""Has a default that is not among its own choices."""

from aacbench.plugins import Method, Parameter, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("choosy", "nothing new", fit, build, parameters={"tie-break": Parameter("c", choices=("a", "b"))})
