"""Compressed differential heuristics (CDH): labels of a few of many pivots at each vertex."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from aacbench.contract.landmarks import WIDE_LABELS, does_not_fit, resolved, values_that_fit
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

DOCS = "docs/methods/cdh.md"
ROUND_ROBIN, COLOURING = "round-robin", "colouring"
INTERSECTION, SUBSTITUTION, BPMX = ARMS = ("intersection", "substitution", "bpmx")
ONE_BYTE = 256  # pivots that one byte can number
MOST_PIVOTS = 1024  # the memo of a query holds two numbers for each pivot


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """Yield CDH as published by Goldenberg, Felner, Sturtevant and Schaeffer, and CDH as in the paper."""
    parameters = {
        "P": Parameter(64, "pivots", minimum=1, maximum=MOST_PIVOTS),
        "r": Parameter(0, "labels per vertex; 0 means as many as fit", minimum=0),
        "assign": Parameter(ROUND_ROBIN, "how pivots are assigned to vertices", choices=(ROUND_ROBIN, COLOURING)),
        "labels": WIDE_LABELS,
    }
    claims = Claims(consistent=False)
    summary = "compressed differential heuristic: labels of some of P pivots at each vertex"
    yield Method("cdh", summary, fit, build, claims, parameters, search=with_bpmx, docs=DOCS)
    arms = Parameter(INTERSECTION, "which of the paper's three rows: how pivots not shared are used", choices=ARMS)
    published = {"arm": arms, "P": parameters["P"], "r": parameters["r"], "labels": WIDE_LABELS}
    summary = "the paper's CDH: labels of the farthest pivots of each vertex, compared if both ends store them"
    yield Method("cdh-paper", summary, fit_paper, build_paper, claims, published, search=paper_switches, docs=DOCS)


def with_bpmx(params: Params) -> Mapping[str, bool | str]:
    """Search with BPMX, which corrects much of the bound's inconsistency."""
    return {"bpmx": True}


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with the number of labels that fit at each vertex, besides its colour if it has one.

    Where the convention does not charge real widths, each label is also charged the number of its pivot, as in the
    paper.
    """
    pivots, wanted = min(params["P"], info.vertices), params["r"]
    directions, index = 2 if budget.directed(info) else 1, 1 if pivots <= ONE_BYTE else 2
    charged = budget.convention.value_bytes
    left = budget.bytes_per_vertex - (index if charged is None and params["assign"] == COLOURING else 0)
    values = values_that_fit(Budget(left, budget.convention), info, params["labels"]) if left > 0 else 0
    if isinstance(values, Unsupported):
        return values
    fits = values // directions if charged is None else int(left // (charged * directions + index))
    if fits < max(1, wanted):
        return does_not_fit("labels per vertex", wanted, budget, fits)
    kept = min(wanted or fits, pivots)
    return {**params, "P": pivots, "r": kept, "labels": resolved(budget, info, params["labels"])}


def build(context: BuildContext) -> LabelHeuristic:
    """Build the labels of each vertex's own pivots; a goal search bounds the labels that the goal lacks."""
    import numpy as np

    from aacbench.graphs import components
    from aacbench.graphs.record import frozen
    from aacbench.plugins.methods.cdh import kernels

    graph, params = context.graph, context.params
    pivots = min(params["P"], len(components.largest(graph)))
    kept = min(params["r"], pivots)
    groups = pivots // kept
    pool, scale = _pool_and_scale(context, groups * kept)
    coloured = params["assign"] == COLOURING and groups > 1
    colour = kernels.colouring(graph, groups) if coloured else np.empty(0, dtype=np.uint8)
    mine = colour.astype(np.int64) if coloured else np.arange(graph.vertices) % groups
    tables = [pool.forward] if pool.symmetric else [pool.forward, pool.backward]
    everyone = np.arange(graph.vertices)
    rows = np.stack([table[mine + k * groups, everyone] for table in tables for k in range(kept)], axis=1)
    visit, bound = kernels.BY_KIND[pool.symmetric, params["labels"] == "fixed"]
    # Where weights were raised to d' >= d after the build, the goal search settles x at d'(t,x). Of the bounds that
    # `tighten` and `tighten_directed` draw, those from the upper end hold: d(t,p) <= d(t,x) + d(x,p) <= d'(t,x) +
    # d(x,p), and d(p,t) >= d(p,x) - d(t,x) >= d(p,x) - d'(t,x). Only the exact symmetric form also uses the lower end,
    # d(p,t) >= d(x,t) - d(x,p), which d'(x,t) breaks.
    upper_only = not pool.symmetric or params["labels"] == "fixed"
    memo = 2 * groups * kept + groups + 2
    goal = GoalSearch(kernels.start, visit, memo, distances="from", bears_traffic=upper_only)
    settings = {"groups": groups, "kept": kept, "scale": scale, **_rounding(rows, params["labels"])}
    arrays, facts = {"rows": frozen(rows, rows.dtype), "colour": colour}, {"pivots": groups * kept}
    return LabelHeuristic(arrays, bound, settings, goal=goal, facts=facts)


def _pool_and_scale(context: BuildContext, pivots: int) -> tuple[Any, int | float]:
    """Return the pool of pivots, and the value of one unit of its labels."""
    from aacbench.labels import fixed_point

    pool = context.pools.farthest(pivots)
    return fixed_point(context.network, pool.landmarks) if context.params["labels"] == "fixed" else (pool, 1)


def _rounding(rows: Any, labels: str) -> dict[str, int | float]:
    """Return the settings for rounding: the relative error of a distance, and the margin of a difference of labels."""
    from aacbench.labels import rounding_margin
    from aacbench.search.astar import RELATIVE_TOLERANCE

    if rows.dtype.kind == "i":
        return {"care": 0, "margin": 0}
    careful = labels != "replay"
    return {"care": 2 * RELATIVE_TOLERANCE * careful, "margin": rounding_margin(rows) * careful}


def paper_switches(params: Params) -> Mapping[str, bool | str]:
    """Search the arm `bpmx` with BPMX; otherwise it equals the arm `substitution`."""
    return {"bpmx": True} if params["arm"] == BPMX else {}


def fit_paper(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with r, the labels per vertex: B / (4 + 1) as in the paper, on directed graphs B / (8 + 1).

    Where bytes are measured, the table of distances between pivots counts too.
    """
    pivots, wanted = min(params["P"], info.vertices), params["r"]
    values = values_that_fit(budget, info, params["labels"])
    if isinstance(values, Unsupported):
        return values
    labels = resolved(budget, info, params["labels"])
    width = info.label_bytes if info.integral or labels == "fixed" else 8
    left = budget.exact_bytes
    if budget.convention.enforced and params["arm"] != INTERSECTION:
        left -= Fraction(pivots * pivots * width, info.vertices)
    directions = 2 if budget.directed(info) else 1
    fits = max(0, int(left // (budget.value_bytes(width) * directions + (1 if pivots <= ONE_BYTE else 2))))
    if fits < max(1, wanted):
        return does_not_fit("labels per vertex", wanted, budget, fits)
    return {**params, "P": pivots, "r": min(wanted or fits, pivots), "labels": labels}


def build_paper(context: BuildContext) -> LabelHeuristic:
    """Build the r labels with the largest d(p, v) of each vertex, and the numbers of their pivots."""
    import numpy as np

    from aacbench.graphs import components
    from aacbench.graphs.record import frozen
    from aacbench.labels import rounding_margin
    from aacbench.plugins.methods.cdh import kernels, paper_kernels

    params = context.params
    pivots = min(params["P"], len(components.largest(context.graph)))
    kept = min(params["r"], pivots)
    pool, scale = _pool_and_scale(context, pivots)
    index = kernels.farthest(pool.forward, kept)
    tables = [pool.forward] if pool.symmetric else [pool.forward, pool.backward]
    rows = np.concatenate([np.take_along_axis(table.T, index, axis=1) for table in tables], axis=1)
    arrays = {"rows": frozen(rows, rows.dtype), "index": index.astype(np.uint8 if pivots <= ONE_BYTE else np.uint16)}
    kernel = paper_kernels.shared
    if params["arm"] != INTERSECTION:
        kernel = paper_kernels.substituted
        arrays["between"] = frozen(pool.forward[:, pool.landmarks], rows.dtype)
    margin = 2 * rounding_margin(rows) * (params["labels"] != "replay") if rows.dtype.kind == "f" else 0
    directed = int(not pool.symmetric)
    goal = GoalSearch(paper_kernels.start, memo=pivots * (1 + directed))
    settings = {"pivots": pivots, "directed": directed, "margin": margin, "scale": scale}
    return LabelHeuristic(arrays, kernel, settings, goal=goal)
