"""FastMap and its relatives: coordinates whose sums of differences bound distances, exact in whole numbers."""

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array, Graph, from_arcs
from aacbench.labels.exact import Direction, distances
from aacbench.labels.tables import on_grid
from aacbench.search.networks import Arcs, Network, network, with_weights
from aacbench.search.one_to_all import one_to_all
from aacbench.search.workspace import borrow, give_back

ALTERNATIONS = 10  # of the search for a farthest pair, as published


def integral(net: Network) -> tuple[Network, float | None]:
    """The network with whole weights: itself, or with weights rounded down to a grid, and what its unit is worth."""
    if net.graph.integral:
        return net, None
    start = int(components.largest(net.graph)[0])
    farthest = max(float(distances(net, start, side).max()) for side in Direction)
    weights, unit = on_grid(net.graph.weights, 2 * farthest)  # any two are at most that far apart, by way of the start
    return with_weights(net, weights), unit


def least_of_both_ways(graph: Graph) -> Graph:
    """The undirected graph of min(w(u, v), w(v, u)): no distance in it is longer than in the graph."""
    tails, heads = graph.sources, graph.indices
    ends = (np.concatenate((tails, heads)), np.concatenate((heads, tails)))
    return from_arcs(graph.vertices, *ends, np.concatenate((graph.weights, graph.weights)), name=graph.name)


def fastmap(net: Network, dimensions: int, rng: np.random.Generator) -> Array:
    """Coordinates of a symmetric network of whole weights, a row a vertex (Cohen et al. 2018), fewer if all is said.

    Each is (d(a, v) + d(a, b) - d(b, v)) / 2 for a far pair a, b, rounded down, which no arc lengthens: floor(x) <=
    floor(y) + w for x <= y + w and w whole. Then what it explains is taken off every arc.
    """
    inside = net.place[components.largest(net.graph)]
    left = Remainder(net, net.arcs)
    columns: list[Array] = []
    while len(columns) < dimensions:
        from_a, from_b, apart = _far_pair(left, inside, rng)
        if apart == 0:
            break
        column = np.where(from_a < 0, 0, (from_a + apart - from_b) // 2)  # another component has nothing to say
        columns.append(column)
        left.lower(np.abs(left.steps(column)))
    return _by_vertex(net, columns)


def residual(net: Network, dimensions: int, rng: np.random.Generator) -> Array:
    """Distances d(v, l) to far vertices l over what earlier ones left of each arc; whole weights, any direction.

    One lowers the arc (u, v) by d(u, l) - d(v, l) where that is positive. Labels d(l, v) in between would be all but
    zero: once every vertex reaches l at no cost, so it does every vertex that l does.
    """
    inside = net.place[components.largest(net.graph)]
    ahead, back = Remainder(net, net.arcs), Remainder(net, net.backward)
    columns: list[Array] = []
    for _ in range(dimensions):
        far = _farthest(ahead.distances(rng.choice(inside)), inside)
        column = back.distances(far)
        # Unknown is as far as anything: then an arc that leads out of what is known lowers nothing.
        column = np.where(column < 0, column.max(), column)
        columns.append(column)
        ahead.lower(np.maximum(ahead.steps(column), 0))
        back.lower(np.maximum(-back.steps(column), 0))
    return _by_vertex(net, columns)


def undirected(net: Network) -> Network:
    """The network of `least_of_both_ways`."""
    return network(least_of_both_ways(net.graph), net.order)


class Remainder:
    """What is left of a network's arcs: the same ones, in the network's own numbering, with weights that go down."""

    def __init__(self, net: Network, arcs: Arcs) -> None:
        self._net = net
        self._arcs = arcs
        self._tails = np.repeat(np.arange(net.graph.vertices, dtype=np.uint32), np.diff(arcs.indptr))

    def distances(self, vertex: int) -> Array:
        """How far every vertex is from this one, -1 where it cannot be reached."""
        found = np.empty(self._net.graph.vertices, dtype=np.int64)
        work = borrow(self._net)
        one_to_all(self._arcs, np.int32(vertex), np.int64(2**62), found, work.heap)
        give_back(self._net, work)
        return found

    def steps(self, column: Array) -> Array:
        """How much less a column has at the head of each arc than at its tail."""
        return column[self._tails] - column[self._arcs.heads]

    def lower(self, by: Array) -> None:
        """Take so much off each arc."""
        weights = self._arcs.weights - by
        if weights.min(initial=0) < 0:  # a search over such arcs would not end, and run out of its heap
            raise ArithmeticError("more was taken off an arc than it had; please report it.")
        weights.flags.writeable = False  # a kernel is compiled for one kind of array
        self._arcs = self._arcs._replace(weights=weights)


def _far_pair(left: Remainder, inside: Array, rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Distances from both of a pair far apart, and how far: from any vertex to the farthest, back and forth."""
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
    """Columns in the network's numbering as a row a vertex of the graph."""
    rows = np.zeros((net.graph.vertices, max(1, len(columns))), dtype=np.int64)
    for k, column in enumerate(columns):
        rows[:, k] = column[net.place]
    return rows
