"""Dijkstra as a method: no labels, h = 0. Every other method is compared with it."""

from collections.abc import Iterable

from aacbench.plugins import Budget, BuildContext, GraphInfo, LabelHeuristic, Method, Params, hookimpl


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    return params


def build(context: BuildContext) -> LabelHeuristic:
    import numpy as np

    dtype = np.int32 if context.graph.integral else np.float64
    return LabelHeuristic({"rows": np.empty((context.graph.vertices, 0), dtype=dtype)}, "differential")


@hookimpl
def aacbench_methods() -> Iterable[Method]:
    yield Method("dijkstra", "no heuristic: h = 0 everywhere", fit, build, docs="docs/methods/alt.md")
