"""FastMap and related embeddings: integer coordinates whose summed differences are lower bounds on distances."""

from typing import Any

import numpy as np
from numba import njit

from aacbench.graphs import components
from aacbench.graphs.record import Array, Graph, from_edges
from aacbench.labels.exact import Direction, distances, one_to_all
from aacbench.labels.tables import on_grid
from aacbench.search.networks import Arcs, Network, borrow, give_back, with_weights

ALTERNATIONS = 10  # in the search for a farthest pair, as published


def integral(net: Network) -> tuple[Network, float | None]:
    """Return the network with integer weights, and the value of one unit, or None if the weights were integers already.

    Float weights are rounded down to a grid.
    """
    if net.graph.integral:
        return net, None
    start = int(components.largest(net.graph)[0])
    farthest = max(float(distances(net, start, side).max()) for side in Direction)
    weights, unit = on_grid(net.graph.weights, 2 * farthest)  # no two vertices are farther apart, via the start
    return with_weights(net, weights), unit


def least_of_both_ways(graph: Graph) -> Graph:
    """Return the undirected graph with weights min(w(u, v), w(v, u)); its distances are never longer."""
    return from_edges(graph.vertices, graph.sources, graph.indices, graph.weights, name=graph.name)


def fastmap(net: Network, dimensions: int, rng: np.random.Generator) -> Array:
    """Return FastMap coordinates (Cohen et al. 2018), one row per vertex; for symmetric networks with integer weights.

    A coordinate is (d(a, v) + d(a, b) - d(b, v)) / 2 for a far pair a, b, rounded down. Rounding is safe: x <= y + w
    implies floor(x) <= floor(y) + w for an integer w. Each arc is then shortened by what the coordinate accounts for.
    There are fewer than `dimensions` columns if nothing is left to account for.
    """
    inside = net.place[components.largest(net.graph)]
    left = ResidualArcs(net, net.arcs)
    columns: list[Array] = []
    while len(columns) < dimensions:
        from_a, from_b, apart = _far_pair(left, inside, rng)
        if apart == 0:
            break
        column = np.where(from_a < 0, 0, (from_a + apart - from_b) // 2)  # other components get no coordinate
        columns.append(column)
        left.lower(np.abs(left.steps(column)))
    return _by_vertex(net, columns)


def residual(net: Network, dimensions: int, rng: np.random.Generator) -> Array:
    """Return distances d(v, l) to far vertices l over the residual arcs, one row per vertex; integer weights.

    Each column shortens the arc (u, v) by d(u, l) - d(v, l) if that is positive. Labels d(l, v) are not used: once
    every vertex reaches l at no cost, it also reaches at no cost what l reaches, so they would be almost zero.
    """
    inside = net.place[components.largest(net.graph)]
    ahead, back = ResidualArcs(net, net.arcs), ResidualArcs(net, net.backward)
    columns: list[Array] = []
    for _ in range(dimensions):
        far = _farthest(ahead.distances(rng.choice(inside)), inside)
        column = back.distances(far)
        # A vertex that does not reach `far` counts as farthest, so that arcs leading to it keep their weight.
        column = np.where(column < 0, column.max(), column)
        columns.append(column)
        ahead.lower(np.maximum(ahead.steps(column), 0))
        back.lower(np.maximum(-back.steps(column), 0))
    return _by_vertex(net, columns)


class ResidualArcs:
    """The residual arcs of a network: the same arcs, in the network's numbering, with decreasing weights."""

    def __init__(self, net: Network, arcs: Arcs) -> None:
        self._net = net
        self._arcs = arcs
        self._tails = np.repeat(np.arange(net.graph.vertices, dtype=np.uint32), np.diff(arcs.indptr))

    def distances(self, vertex: int) -> Array:
        """Return the distance of every vertex from this one, -1 if unreachable."""
        found = np.empty(self._net.graph.vertices, dtype=np.int64)
        work = borrow(self._net)
        one_to_all(self._arcs, np.int32(vertex), np.int64(2**62), found, work.heap)
        give_back(self._net, work)
        return found

    def steps(self, column: Array) -> Array:
        return column[self._tails] - column[self._arcs.heads]

    def lower(self, by: Array) -> None:
        weights = self._arcs.weights - by
        if weights.min(initial=0) < 0:  # a search over negative arcs would not end
            raise ArithmeticError("A residual arc became negative; please report this defect.")
        weights.flags.writeable = False  # kernels are compiled for read-only arrays
        self._arcs = self._arcs._replace(weights=weights)


def _far_pair(left: ResidualArcs, inside: Array, rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return the distances from both vertices of a far pair, and the distance between them."""
    from_a = left.distances(rng.choice(inside))
    b = _farthest(from_a, inside)
    from_b = left.distances(b)
    for _ in range(ALTERNATIONS - 1):
        c = _farthest(from_b, inside)
        if from_b[c] <= from_a[b]:
            break
        from_a, from_b, b = from_b, left.distances(c), c
    return from_a, from_b, int(from_a[b])


def _farthest(row: Array, inside: Array) -> int:
    return int(inside[np.argmax(row[inside])])


def _by_vertex(net: Network, columns: list[Array]) -> Array:
    rows = np.zeros((net.graph.vertices, max(1, len(columns))), dtype=np.int64)
    for k, column in enumerate(columns):
        rows[:, k] = column[net.place]
    return rows


@njit
def l1(labels: Any, u: int, t: int) -> Any:
    total = labels.rows[u, 0] - labels.rows[u, 0]  # zero, in the type of a difference
    for k in range(labels.rows.shape[1]):
        total += abs(labels.rows[u, k] - labels.rows[t, k])
    return total * labels.scale


@njit
def one_sided(labels: Any, u: int, t: int) -> Any:
    total = labels.rows[u, 0] - labels.rows[u, 0]
    for k in range(labels.rows.shape[1]):
        total += max(labels.rows[u, k] - labels.rows[t, k], 0)
    return total * labels.scale
