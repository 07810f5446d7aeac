"""Dijkstra as a method: labels of no width, h = 0, what every other method is compared with."""

from collections.abc import Iterable

from aacbench.plugins import Budget, BuildContext, GraphInfo, LabelHeuristic, Method, Params, hookimpl


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Nothing is stored, so every budget will do."""
    return params


def build(context: BuildContext) -> LabelHeuristic:
    """A table without columns."""
    import numpy as np

    dtype = np.int32 if context.graph.integral else np.float64
    return LabelHeuristic({"rows": np.empty((context.graph.vertices, 0), dtype=dtype)}, "differential")


@hookimpl
def aacbench_methods() -> Iterable[Method]:
    """The one method of this plugin."""
    yield Method("dijkstra", "no heuristic: h = 0 everywhere", fit, build)
