"""Methods for families of maps: bounds from steps alone, and the same landmark cells on every map."""

from collections.abc import Iterable
from typing import Any

from aacbench.contract.landmarks import does_not_fit, values_that_fit
from aacbench.plugins import (
    Budget,
    BuildContext,
    Claims,
    GraphInfo,
    LabelHeuristic,
    MapsContext,
    Method,
    Parameter,
    Params,
    Unsupported,
    hookimpl,
)

DOCS = "docs/contextual.md"
ONLY_MAPS = Unsupported("It needs maps: run a protocol of the kind context")


@hookimpl
def aacbench_methods() -> Iterable[Method]:
    summary = "on maps: twice the least cost of the map for each step; four bytes a map"
    yield Method("hops", summary, fit_hops, build, build_maps=build_hops, docs=DOCS)
    summary = "on maps: one unit of cost for each step, as Neural A* searches a guidance map; not admissible"
    nothing = Claims(admissible=False, consistent=False)
    yield Method("chebyshev", summary, fit_hops, build, nothing, build_maps=build_chebyshev, docs=DOCS)
    which = Parameter("fps", "farthest cells of the unit grid, or random ones", choices=("fps", "random"))
    yield Method(
        "cells",
        "on maps: the same landmark cells on every map",
        fit_cells,
        build,
        Claims(deterministic=False),
        {"which": which, "m": Parameter(0, "cells; 0 means as many as fit", minimum=0)},
        build_maps=build_cells,
        docs=DOCS,
    )


def build(context: BuildContext) -> Unsupported:
    return ONLY_MAPS


def fit_hops(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    return params if info.side else ONLY_MAPS


def fit_cells(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with m, the cells whose labels fill the budget."""
    if not info.side:
        return ONLY_MAPS
    fits = values_that_fit(budget, info, "exact")
    if isinstance(fits, Unsupported):
        return fits
    if fits < params["m"]:
        return does_not_fit("labels", params["m"], budget, fits)
    count = params["m"] or fits
    if count > info.vertices:
        return Unsupported(f"{count} cells cannot be chosen from the {info.vertices} cells of a map")
    return {**params, "m": count}


def build_hops(context: MapsContext) -> LabelHeuristic:
    import numpy as np

    from aacbench.plugins.methods.maps.kernels import steps

    graph, cells = context.test.network.graph, context.test.cells
    # The lightest edge of a map is at least twice its cheapest cell, and is what a step costs at least.
    lightest = np.minimum.reduceat(graph.weights, graph.indptr[:-1:cells])
    dtype = np.int32 if graph.integral else np.float64
    return LabelHeuristic({"least": lightest.astype(dtype)}, steps, {"side": context.test.side})


def build_chebyshev(context: MapsContext) -> LabelHeuristic:
    from aacbench.maps.atlas import SCALE
    from aacbench.plugins.methods.maps.kernels import unit_steps

    # By the rule of cells an edge weighs both its cells, so twice what a step costs; by the paper's, their mean.
    step = 2 * SCALE if context.test.network.graph.integral else SCALE
    return LabelHeuristic({}, unit_steps, {"side": context.test.side, "step": step})


def build_cells(context: MapsContext) -> LabelHeuristic:
    import numpy as np

    from aacbench.labels.blocks import farthest_cells

    count, cells = context.params["m"], context.test.cells
    if context.params["which"] == "random":
        chosen: Any = np.random.default_rng(context.seed).choice(cells, count, replace=False)
    else:
        chosen = farthest_cells(context.test.side, count)
    return LabelHeuristic({"rows": context.label(chosen)}, "differential", {"both": count})
