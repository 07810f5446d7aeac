"""Compressed differential heuristics: many pivots, a few labels of them at each vertex, the goal's own bounded."""

from collections.abc import Iterator, Mapping
from typing import Any

from aacbench.contract.landmarks import LABELS, resolved, values_that_fit
from aacbench.contract.method import (
    BuildContext,
    Claims,
    GoalSearch,
    LabelHeuristic,
    Method,
    Parameter,
    Params,
    Unsupported,
)
from aacbench.plugins import Budget, GraphInfo, hookimpl
from aacbench.plugins.methods.cdh import paper

ROUND_ROBIN, COLOURING = "round-robin", "colouring"
BYTE = 256  # pivots that one byte can name
LARGEST = 1024  # pivots: the memo of a query holds two numbers for each


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """CDH as published by Goldenberg, Felner, Sturtevant and Schaeffer."""
    parameters = {
        "P": Parameter(64, "pivots", minimum=1, maximum=LARGEST),
        "r": Parameter(0, "labels kept at a vertex; 0 is as many as fit", minimum=0),
        "assign": Parameter(ROUND_ROBIN, "which vertex keeps which pivots", choices=(ROUND_ROBIN, COLOURING)),
        "labels": LABELS,
    }
    claims = Claims(consistent=False)
    summary = "compressed differential heuristic: some of P pivots at each vertex, bounds for the goal's"
    yield Method("cdh", summary, fit, build, claims, parameters, search=with_bpmx)
    arms = Parameter(paper.INTERSECTION, "what the paper's three rows do about pivots not shared", choices=paper.ARMS)
    published = {"arm": arms, "P": parameters["P"], "r": parameters["r"], "labels": LABELS}
    summary = "the paper's CDH: the farthest pivots of each vertex, compared where both ends kept them"
    yield Method("cdh-paper", summary, paper.fit, paper.build, claims, published, search=paper.switches)


def with_bpmx(params: Params) -> Mapping[str, bool | str]:
    """The bound is inconsistent by construction, and BPMX makes up for much of it."""
    return {"bpmx": True}


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """As many labels at each vertex as the budget pays for, besides the vertex's colour where it has one.

    Where widths are not charged as they are, each label is charged with a name of its pivot, as in the paper.
    """
    pivots, wanted = min(params["P"], info.vertices), params["r"]
    directions, index = 2 if budget.directed(info) else 1, 1 if pivots <= BYTE else 2
    charged = budget.convention.value_bytes
    left = budget.bytes_per_vertex - (index if charged is None and params["assign"] == COLOURING else 0)
    values = values_that_fit(Budget(left, budget.convention), info, params["labels"]) if left > 0 else 0
    if isinstance(values, Unsupported):
        return values
    fits = values // directions if charged is None else int(left // (charged * directions + index))
    if fits < max(1, wanted):
        return Unsupported(
            f"{max(1, wanted)} labels at a vertex do not fit {budget.bytes_per_vertex:g} bytes per vertex; {fits} do"
        )
    kept = min(wanted or fits, pivots)
    return {**params, "P": pivots, "r": kept, "labels": resolved(budget, info, params["labels"])}


def build(context: BuildContext) -> LabelHeuristic:
    """Labels of the pivots that are a vertex's own; the goal's neighbourhood has what the goal itself lacks."""
    import numpy as np

    from aacbench.graphs import components
    from aacbench.graphs.record import frozen
    from aacbench.labels import fixed_point
    from aacbench.plugins.methods.cdh import kernels
    from aacbench.plugins.methods.cdh.assign import colouring

    graph, params = context.graph, context.params
    pivots = min(params["P"], len(components.largest(graph)))
    kept = min(params["r"], pivots)
    groups = pivots // kept
    pool = context.pools.farthest(groups * kept)
    fixed = params["labels"] == "fixed"
    scale: int | float = 1
    if fixed:
        pool, scale = fixed_point(context.network, pool.landmarks)
    coloured = params["assign"] == COLOURING and groups > 1
    colour = colouring(graph, groups) if coloured else np.empty(0, dtype=np.uint8)
    mine = colour.astype(np.int64) if coloured else np.arange(graph.vertices) % groups
    tables = [pool.forward] if pool.symmetric else [pool.forward, pool.backward]
    everyone = np.arange(graph.vertices)
    rows = np.stack([table[mine + k * groups, everyone] for table in tables for k in range(kept)], axis=1)
    visit, bound = kernels.BY_KIND[pool.symmetric, fixed]
    goal = GoalSearch(kernels.start, visit, 2 * groups * kept + groups + 2, distances="from")
    settings = {"groups": groups, "kept": kept, "scale": scale, **_care(rows, params["labels"])}
    return LabelHeuristic({"rows": frozen(rows, rows.dtype), "colour": colour}, bound, settings, goal=goal)


def _care(rows: Any, labels: str) -> dict[str, int | float]:
    """What rounding may have done to a distance, as a share of it, and to a difference of two labels."""
    from aacbench.labels import rounding_margin
    from aacbench.search.astar import RELATIVE_TOLERANCE

    if rows.dtype.kind == "i":
        return {"care": 0, "margin": 0}
    careful = labels != "replay"
    return {"care": 2 * RELATIVE_TOLERANCE * careful, "margin": rounding_margin(rows) * careful}
