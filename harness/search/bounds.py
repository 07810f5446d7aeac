"""Bounds of a label layout without a search, and the check of bounds against exact distances."""

from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import NotFiniteError
from aacbench.graphs.record import Array
from aacbench.search.astar import numbers
from aacbench.search.layouts import Layout, bind, bound
from aacbench.search.networks import Arcs, Network, Workspace, borrow, give_back
from aacbench.util.compiled import allocation_free


def bounds(network: Network, layout: Layout, vertices: Array, target: int) -> Array:
    """Return h(u, target) for each vertex u, as A* sees it, in the type of the weights.

    Vertices are the graph's own numbers. On float weights a bound may come out NaN or infinite.
    """
    layout.check_fits(network)
    found = np.empty(len(vertices), dtype=network.graph.weights.dtype)
    places = network.place[vertices].astype(np.uint32)
    work, memo = borrow(network), layout.borrow()
    goal, most = np.int64(network.place[target]), numbers(found.dtype).infinity
    bad = fill_bounds(network.arcs, layout.labels, memo, work, goal, places, found, most)
    give_back(network, work)
    layout.idle.append(memo)
    if bad >= 0 and network.graph.integral:  # no integer can represent it
        raise NotFiniteError(f"h({vertices[bad]}, {target}) is not a finite number between -2^62 and 2^62.")
    return found


@allocation_free
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
    """How many vertices and arcs break a claim, and where there are any, an example in the graph's own numbers.

    The examples are the vertex nearest to the target and the arc with the smallest w(u, v) + h(v), `through`; of
    several, the one with the smallest number.
    """

    high: int
    vertex: int
    rising: int
    tail: int
    head: int
    through: int | float


def violations(network: Network, h: Array, known: Array, distance: Array, care: float) -> Violations:
    """Count bounds to one target that exceed the distance, and arcs with h(u) > w(u, v) + h(v).

    All arrays are in the network's vertex order. `known[u]` says whether h(u) is a number; a distance of -1 is
    unreachable. An arc counts only if its head reaches the target, since no other arc is on a path. `care` is the
    tolerance.
    """
    care = network.graph.weights.dtype.type(care)
    return Violations(*find_violations(network.arcs, network.original, h, known, distance, care))


@allocation_free
def find_violations(
    arcs: Arcs, original: Array, h: Array, known: Array, distance: Array, care: float
) -> tuple[int, int, int, int, int, float]:
    high, vertex, rising, tail, head, least = 0, 0, 0, 0, np.int64(0), care
    for u in range(len(h)):
        if not known[u] or (distance[u] >= 0 and not h[u] <= distance[u] + care):
            high += 1
            if high == 1 or _nearer(u, vertex, distance, original):
                vertex = u
        if not known[u]:
            continue
        for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = arcs.heads[arc]
            through = arcs.weights[arc] + h[v]
            if not h[u] <= through + care and known[v] and distance[v] >= 0:
                rising += 1
                if rising == 1 or through < least or (through == least and original[u] < original[tail]):
                    tail, head, least = u, np.int64(v), through
    return high, original[vertex], rising, original[tail], original[head], least


@allocation_free
def _nearer(u: int, other: int, distance: Array, original: Array) -> bool:
    """Return whether u is nearer to the target than another vertex, or as near with a smaller number."""
    one, two = distance[u], distance[other]
    if one == two or (one < 0 and two < 0):
        return original[u] < original[other]
    return one >= 0 and (two < 0 or one < two)
