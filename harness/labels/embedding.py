"""FastMap and its relatives: coordinates whose sums of differences bound distances, exact in whole numbers."""

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array, Graph, from_arcs
from aacbench.labels.exact import Direction, distances
from aacbench.labels.tables import on_grid
from aacbench.search.networks import Network, network, with_weights

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
    inside = components.largest(net.graph)
    columns: list[Array] = []
    while len(columns) < dimensions:
        from_a, from_b, apart = _far_pair(net, inside, rng)
        if apart == 0:
            break
        column = np.where(from_a < 0, 0, (from_a + apart - from_b) // 2)  # another component has nothing to say
        columns.append(column)
        graph = net.graph
        left = graph.weights - np.abs(column[graph.sources] - column[graph.indices])
        net = with_weights(net, left)
    return _stacked(columns, net.graph.vertices)


def residual(net: Network, dimensions: int, rng: np.random.Generator) -> Array:
    """Distances d(v, l) to far vertices l over what earlier ones left of each arc; whole weights, any direction.

    One lowers the arc (u, v) by d(u, l) - d(v, l) where that is positive. Labels d(l, v) in between would be all but
    zero: once every vertex reaches l at no cost, so it does every vertex that l does.
    """
    inside = components.largest(net.graph)
    columns: list[Array] = []
    for _ in range(dimensions):
        far = _farthest(distances(net, int(rng.choice(inside))), inside)
        column = distances(net, far, Direction.TO)
        # Unknown is as far as anything: then an arc that leads out of what is known lowers nothing.
        column = np.where(column < 0, column.max(), column)
        columns.append(column)
        graph = net.graph
        step = column[graph.sources] - column[graph.indices]
        net = with_weights(net, graph.weights - np.maximum(step, 0))
    return _stacked(columns, net.graph.vertices)


def undirected(net: Network) -> Network:
    """The network of `least_of_both_ways`."""
    return network(least_of_both_ways(net.graph), net.order)


def _far_pair(net: Network, inside: Array, rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Distances from both of a pair far apart, and how far: from any vertex to the farthest, back and forth."""
    from_a = distances(net, int(rng.choice(inside)))
    b = _farthest(from_a, inside)
    from_b = distances(net, b)
    for _ in range(ALTERNATIONS - 1):
        c = _farthest(from_b, inside)
        if from_b[c] <= from_a[b]:
            break
        from_a, from_b, b = from_b, distances(net, c), c
    return from_a, from_b, int(from_a[b])


def _farthest(row: Array, inside: Array) -> int:
    return int(inside[np.argmax(row[inside])])


def _stacked(columns: list[Array], vertices: int) -> Array:
    return np.stack(columns or [np.zeros(vertices, dtype=np.int64)], axis=1)
