"""Bounds of a label layout without a search: what audits and comparisons of heuristics ask for."""

from typing import Any

import numpy as np

from aacbench.compiled import kernel
from aacbench.graphs.record import Array
from aacbench.search.layouts import Layout, bind, bound, memo_for
from aacbench.search.networks import Arcs, Network
from aacbench.search.workspace import Workspace, borrow, give_back


def bounds(network: Network, layout: Layout, vertices: Array, target: int) -> Array:
    """h(u, target) for each vertex u as A* sees it, in the type of the weights; vertices in the graph's own numbers."""
    layout.check_fits(network)
    found = np.empty(len(vertices), dtype=network.graph.weights.dtype)
    places = network.place[vertices].astype(np.uint32)
    work = borrow(network)
    labels = layout.labels
    fill_bounds(network.arcs, labels, memo_for(labels), work, np.int64(network.place[target]), places, found)
    give_back(network, work)
    return found


@kernel
def fill_bounds(
    arcs: Arcs, layout: Any, memo: Array, work: Workspace, target: int, vertices: Array, found: Array
) -> None:
    """Bind the target once, then fill in the bound of each vertex."""
    bind(layout, memo, arcs, work, target)  # type: ignore[no-untyped-call]
    for row in range(len(vertices)):
        found[row] = bound(layout, memo, vertices[row])  # type: ignore[no-untyped-call]
