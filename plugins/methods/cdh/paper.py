"""CDH as the paper has it: the labels of the r farthest pivots at each vertex, compared where both ends kept them."""

from collections.abc import Mapping
from fractions import Fraction

from aacbench.contract.landmarks import resolved, values_that_fit
from aacbench.contract.method import BuildContext, GoalSearch, LabelHeuristic, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo

INTERSECTION, SUBSTITUTION, BPMX = ARMS = ("intersection", "substitution", "bpmx")
BYTE = 256  # pivots that one byte can name


def switches(params: Params) -> Mapping[str, bool | str]:
    """The arm with BPMX is the arm with substitution, searched so."""
    return {"bpmx": True} if params["arm"] == BPMX else {}


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """r = B / (4 + 1), on directed graphs B / (8 + 1); the table of pivot distances counts where bytes are measured."""
    pivots, wanted = min(params["P"], info.vertices), params["r"]
    values = values_that_fit(budget, info, params["labels"])
    if isinstance(values, Unsupported):
        return values
    labels = resolved(budget, info, params["labels"])
    width = info.label_bytes if info.integral or labels == "fixed" else 8
    left = Fraction(budget.bytes_per_vertex)
    if budget.convention.enforced and params["arm"] != INTERSECTION:
        left -= Fraction(pivots * pivots * width, info.vertices)
    directions = 2 if budget.directed(info) else 1
    fits = max(0, int(left // (budget.value_bytes(width) * directions + (1 if pivots <= BYTE else 2))))
    if fits < max(1, wanted):
        return Unsupported(
            f"{max(1, wanted)} labels at a vertex do not fit {budget.bytes_per_vertex:g} bytes per vertex; {fits} do"
        )
    return {**params, "P": pivots, "r": min(wanted or fits, pivots), "labels": labels}


def build(context: BuildContext) -> LabelHeuristic:
    """The r labels with the largest d(p, v) of each vertex, the names of their pivots, and what the arm needs."""
    import numpy as np

    from aacbench.graphs import components
    from aacbench.graphs.record import frozen
    from aacbench.labels import fixed_point, rounding_margin
    from aacbench.plugins.methods.cdh import paper_kernels
    from aacbench.plugins.methods.cdh.assign import farthest

    params = context.params
    pivots = min(params["P"], len(components.largest(context.graph)))
    kept = min(params["r"], pivots)
    pool = context.pools.farthest(pivots)
    scale: int | float = 1
    if params["labels"] == "fixed":
        pool, scale = fixed_point(context.network, pool.landmarks)
    index = farthest(pool.forward, kept)
    tables = [pool.forward] if pool.symmetric else [pool.forward, pool.backward]
    rows = np.concatenate([np.take_along_axis(table.T, index, axis=1) for table in tables], axis=1)
    arrays = {"rows": frozen(rows, rows.dtype), "index": index.astype(np.uint8 if pivots <= BYTE else np.uint16)}
    kernel = paper_kernels.shared
    if params["arm"] != INTERSECTION:
        kernel = paper_kernels.substituted
        arrays["between"] = frozen(pool.forward[:, pool.landmarks], rows.dtype)
    margin = 2 * rounding_margin(rows) * (params["labels"] != "replay") if rows.dtype.kind == "f" else 0
    directed = int(not pool.symmetric)
    goal = GoalSearch(paper_kernels.start, memo=pivots * (1 + directed))
    settings = {"pivots": pivots, "directed": directed, "margin": margin, "scale": scale}
    return LabelHeuristic(arrays, kernel, settings, goal=goal)
