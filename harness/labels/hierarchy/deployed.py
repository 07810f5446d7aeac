"""Hierarchies as heuristics: the plain form, the packed form, and the packed form with labels on a core."""

from dataclasses import dataclass

import numpy as np

from aacbench.contract.method import LabelHeuristic
from aacbench.graphs import components
from aacbench.graphs.record import Array, Graph, from_arcs
from aacbench.labels.hierarchy import lazy, plain
from aacbench.labels.hierarchy.numbering import Hierarchy, longest_way
from aacbench.labels.hierarchy.packed import packed_arrays
from aacbench.labels.pool import farthest_points
from aacbench.search.networks import network
from aacbench.search.scratch import INFINITY

# The bound where there is no path, in units: a search can still add to it. Distances on the grid are about 2^31.
BEYOND, GRID_BEYOND, SHORT_BEYOND = 2**61, 2**40, INFINITY[4] - 1


@dataclass(frozen=True, eq=False, slots=True)
class CoreLabels:
    """Labels of the core's vertices: `columns` numbers for each, the first `forward` of them d(l, v), else d(v, l)."""

    rows: Array
    columns: int
    forward: int


NO_LABELS = CoreLabels(np.empty(0, dtype=np.int32), 0, 0)


def plain_heuristic(made: Hierarchy, unit: int | float) -> LabelHeuristic:
    arrays, own = plain.plain_arrays(made)
    settings = {**own, "scale": unit, "beyond": beyond(made, unit)}
    goal = plain.SHORT_GOAL if settings["beyond"] == SHORT_BEYOND else plain.GOAL
    return LabelHeuristic(arrays, plain.distance, settings, goal=goal, facts=facts(made))


def packed_heuristic(made: Hierarchy, unit: int | float, labels: CoreLabels = NO_LABELS) -> LabelHeuristic | None:
    """Return the heuristic in the packed form, or None if an arc does not fit its fields."""
    found = packed_arrays(made)
    if found is None:
        return None
    arrays, own = found
    settings = {
        **own,
        "columns": labels.columns,
        "forward": labels.forward,
        "scale": unit,
        "beyond": beyond(made, unit),
    }
    told = {**facts(made), "core": made.core, "columns": labels.columns}
    goal = lazy.SHORT_GOAL if settings["beyond"] == SHORT_BEYOND else lazy.GOAL
    return LabelHeuristic({**arrays, "rows": labels.rows}, lazy.packed_bound, settings, goal=goal, facts=told)


def beyond(made: Hierarchy, unit: int | float) -> int:
    """Return the largest bound, in units; it is that of vertices that do not reach the goal.

    Distances are kept in 4 bytes if the longest way up and the longest way down together are below the short bound.
    With a core they are not: its labels have lengths of their own.
    """
    if not made.core and longest_way(made.up) + longest_way(made.down) < SHORT_BEYOND:
        return SHORT_BEYOND
    return BEYOND if isinstance(unit, int) else GRID_BEYOND


def facts(made: Hierarchy) -> dict[str, int | float]:
    return {"arcs": len(made.up.heads) + (0 if made.down is made.up else len(made.down.heads))}


def core_graph(made: Hierarchy) -> Graph:
    """The core with distances as in the whole graph."""
    return from_arcs(made.core, *made.core_arcs)


def core_labels(core: Graph, landmarks: int, symmetric: bool) -> CoreLabels:
    """Labels of farthest-point landmarks of the core, fewer if its largest component has fewer vertices.

    The graph around a symmetric core need not be symmetric, and the goal's two distances then differ.
    """
    count = min(landmarks, len(components.largest(core)))
    pool = farthest_points(network(core), count)
    tables = [pool.forward] if symmetric else [pool.forward, pool.backward]
    rows = np.concatenate(tables, axis=0).T
    return CoreLabels(np.ascontiguousarray(rows).reshape(-1), rows.shape[1], count)
