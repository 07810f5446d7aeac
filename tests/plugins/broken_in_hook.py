"""Raises in a hook, after a first good record."""

from aacbench.plugins import Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def build(context):
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("half-done", "nothing new", fit, build)
    raise ValueError("two\nlines")
