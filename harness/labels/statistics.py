"""Statistics of a selection of landmarks: how many, in which directions, and how well they cover the graph."""

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array, Graph
from aacbench.labels.pool import Pool, symmetric_covering_radius


def selection_facts(
    graph: Graph, pool: Pool, forward: Array, backward: Array, both: bool = False
) -> dict[str, int | float]:
    """Return facts for a cell's record about the landmarks at these positions in the pool.

    With `both`, a label serves both directions; otherwise labels are d(l, v) of the `forward` landmarks and d(v, l) of
    the `backward` ones. The covering radius is over the largest strong component, in the longer of both directions; a
    selection that leaves some vertex out has none.
    """
    chosen = np.unique(np.concatenate((forward, backward)))
    facts: dict[str, int | float] = {"distinct_landmarks": len(np.unique(pool.landmarks[chosen]))}
    if not both:
        shared = np.intersect1d(pool.landmarks[forward], pool.landmarks[backward])
        facts |= {"forward_labels": len(forward), "backward_labels": len(backward), "both_directions": len(shared)}
    radius = symmetric_covering_radius(pool.take(chosen), components.largest(graph))
    if np.isfinite(radius):
        facts["covering_radius"] = int(radius) if graph.integral else radius
    return facts
