"""Dijkstra as a method: no labels, h = 0. Every other method is compared with it."""

from collections.abc import Iterable

from aacbench.plugins import Budget, BuildContext, GraphInfo, LabelHeuristic, Method, Params, hookimpl


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Return the params: nothing is stored, so every budget suffices."""
    return params


def build(context: BuildContext) -> LabelHeuristic:
    """Return a table without columns."""
    import numpy as np

    dtype = np.int32 if context.graph.integral else np.float64
    return LabelHeuristic({"rows": np.empty((context.graph.vertices, 0), dtype=dtype)}, "differential")


@hookimpl
def aacbench_methods() -> Iterable[Method]:
    """Yield Dijkstra."""
    yield Method("dijkstra", "no heuristic: h = 0 everywhere", fit, build)
