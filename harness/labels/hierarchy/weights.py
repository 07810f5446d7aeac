"""The weights that a hierarchy is built on: whole numbers."""

from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distances
from aacbench.labels.tables import on_grid
from aacbench.search.networks import Network

# The bound where there is no path, in units: a search can still add to it. Distances on the grid are about 2^31.
BEYOND, GRID_BEYOND = 2**61, 2**40


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


def beyond(integral: bool) -> int:
    """Return the largest bound, in units; it is that of vertices that do not reach the goal."""
    return BEYOND if integral else GRID_BEYOND
