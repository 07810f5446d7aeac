"""The weights that a hierarchy is built on: whole numbers."""

from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distances
from aacbench.labels.tables import on_grid
from aacbench.search.networks import Network


def whole_weights(network: Network) -> tuple[Array, int | float]:
    """Return integer weights and the value of one unit: 1, or for float weights a power of two.

    Float weights are rounded down arc by arc, so distances over them are admissible and consistent bounds.
    """
    graph = network.graph
    if graph.integral:
        return graph.weights, 1
    centre = int(components.largest(graph)[0])
    away, back = (float(distances(network, centre, way).max()) for way in (Direction.FROM, Direction.TO))
    return on_grid(graph.weights, max(0.0, away) + max(0.0, back))
