"""Bounds of a label layout without a search, and the check of bounds against exact distances."""

from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import NotFiniteError
from aacbench.graphs.record import Array
from aacbench.search.astar import numbers
from aacbench.search.layouts import Layout, bind, bound, memo_for
from aacbench.search.networks import Arcs, Network, Workspace, borrow, give_back
from aacbench.util.compiled import kernel


def bounds(network: Network, layout: Layout, vertices: Array, target: int) -> Array:
    """Return h(u, target) for each vertex u, as A* sees it, in the type of the weights.

    Vertices are the graph's own numbers. On float weights a bound may come out NaN or infinite.
    """
    layout.check_fits(network)
    found = np.empty(len(vertices), dtype=network.graph.weights.dtype)
    places = network.place[vertices].astype(np.uint32)
    work = borrow(network)
    labels, goal, most = layout.labels, np.int64(network.place[target]), numbers(found.dtype).infinity
    bad = fill_bounds(network.arcs, labels, memo_for(labels), work, goal, places, found, most)
    give_back(network, work)
    if bad >= 0 and network.graph.integral:  # no integer can represent it
        raise NotFiniteError(f"h({vertices[bad]}, {target}) is not a finite number between -2^62 and 2^62.")
    return found


@kernel
def fill_bounds(
    arcs: Arcs, layout: Any, memo: Array, work: Workspace, target: int, vertices: Array, found: Array, most: Any
) -> int:
    """Fill `found` with the bound of each vertex; return the position of a bound that is not finite, or -1."""
    bind(layout, memo, arcs, work, target)  # type: ignore[no-untyped-call]
    bad = -1
    for row in range(len(vertices)):
        h = bound(layout, memo, vertices[row])  # type: ignore[no-untyped-call]
        if not -most < h < most:  # abs() of the smallest integer overflows
            bad = row
        found[row] = h
    return bad


class Violations(NamedTuple):
    """How many vertices and arcs break a claim, and one example of each, or -1.

    The examples are the vertex nearest to the target and the arc with the smallest w(u, v) + h(v).
    """

    high: int
    vertex: int
    rising: int
    arc: int


def violations(
    indptr: Array, heads: Array, weights: Array, h: Array, known: Array, distance: Array, care: float
) -> Violations:
    """Count bounds to one target that exceed the distance, and arcs with h(u) > w(u, v) + h(v).

    All arrays are in one vertex order. `known[u]` says whether h(u) is a number; a distance of -1 is unreachable. An
    arc counts only if its head reaches the target, since no other arc is on a path. `care` is the tolerance.
    """
    return Violations(*find_violations(indptr, heads, weights, h, known, distance, weights.dtype.type(care)))


@kernel
def find_violations(
    indptr: Array, heads: Array, weights: Array, h: Array, known: Array, distance: Array, care: float
) -> tuple[int, int, int, int]:
    high, vertex, rising, arc = 0, -1, 0, -1
    for u in range(len(h)):
        if not known[u] or (distance[u] >= 0 and not h[u] <= distance[u] + care):
            high += 1
            if vertex < 0 or _nearer(distance[u], distance[vertex]):
                vertex = u
        if not known[u]:
            continue
        for a in range(indptr[u], indptr[u + 1]):
            v = heads[a]
            if not h[u] <= weights[a] + h[v] + care and known[v] and distance[v] >= 0:
                rising += 1
                if arc < 0 or weights[a] + h[v] < weights[arc] + h[heads[arc]]:
                    arc = a
    return high, vertex, rising, arc


@kernel
def _nearer(one: float, other: float) -> bool:
    return one >= 0 and (other < 0 or one < other)
