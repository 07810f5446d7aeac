"""Bounds of a label layout without a search: what audits and comparisons of heuristics ask for."""

from typing import Any

import numpy as np

from aacbench.errors import NotFiniteError
from aacbench.graphs.record import Array
from aacbench.search.astar import numbers
from aacbench.search.layouts import Layout, bind, bound, memo_for
from aacbench.search.networks import Arcs, Network
from aacbench.search.workspace import Workspace, borrow, give_back
from aacbench.util.compiled import kernel


def bounds(network: Network, layout: Layout, vertices: Array, target: int) -> Array:
    """h(u, target) for each vertex u as A* sees it, in the type of the weights; vertices in the graph's own numbers."""
    layout.check_fits(network)
    found = np.empty(len(vertices), dtype=network.graph.weights.dtype)
    places = network.place[vertices].astype(np.uint32)
    work = borrow(network)
    labels, goal, most = layout.labels, np.int64(network.place[target]), numbers(found.dtype).infinity
    bad = fill_bounds(network.arcs, labels, memo_for(labels), work, goal, places, found, most)
    give_back(network, work)
    if bad >= 0 and network.graph.integral:  # nothing that an integer can hold
        raise NotFiniteError(f"h({vertices[bad]}, {target}) is not a finite number between -2^62 and 2^62.")
    return found


@kernel
def fill_bounds(
    arcs: Arcs, layout: Any, memo: Array, work: Workspace, target: int, vertices: Array, found: Array, most: Any
) -> int:
    """Bind the target once, then fill in the bound of each vertex; returns where one was not finite, or -1."""
    bind(layout, memo, arcs, work, target)  # type: ignore[no-untyped-call]
    bad = -1
    for row in range(len(vertices)):
        h = bound(layout, memo, vertices[row])  # type: ignore[no-untyped-call]
        if not -most < h < most:  # the least integer has no absolute value
            bad = row
        found[row] = h
    return bad
