"""FastMap and its relatives: coordinates whose sums of differences bound distances, exact in whole numbers."""

from collections.abc import Iterator

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


def residual(net: Network, dimensions: int, rng: np.random.Generator) -> tuple[Array, int]:
    """Distances to and from far vertices over what earlier ones left of each arc; whole weights, any direction.

    The labels d(v, l) come first, and how many those are is told. One lowers the arc (u, v) by d(u, l) - d(v, l), and a
    label d(l, v) by d(l, v) - d(l, u), where that is positive.
    """
    inside = components.largest(net.graph)
    labels: dict[Direction, list[Array]] = {Direction.TO: [], Direction.FROM: []}
    for side, other in _sides(dimensions):
        far = _farthest(distances(net, int(rng.choice(inside)), other), inside)
        row = distances(net, far, side)
        # Unknown is as far as anything: then an arc that leads out of what is known lowers nothing.
        row = np.where(row < 0, row.max(), row)
        labels[side].append(row)
        graph = net.graph
        step = row[graph.sources] - row[graph.indices]
        net = with_weights(net, graph.weights - np.maximum(step if side is Direction.TO else -step, 0))
    every = [*labels[Direction.TO], *labels[Direction.FROM]]
    return _stacked(every, net.graph.vertices), len(labels[Direction.TO])


def undirected(net: Network) -> Network:
    """The network of `least_of_both_ways`."""
    return network(least_of_both_ways(net.graph), net.order)


def _sides(dimensions: int) -> Iterator[tuple[Direction, Direction]]:
    for k in range(dimensions):
        yield (Direction.TO, Direction.FROM) if k % 2 == 0 else (Direction.FROM, Direction.TO)


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
