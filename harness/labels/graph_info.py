"""The properties of a graph that a budget depends on, with a label width that every distance fits."""

import numpy as np

from aacbench.contract.budget import GraphInfo
from aacbench.graphs import components
from aacbench.labels.exact import Direction, distances
from aacbench.search.networks import Network

_INT32_MAX = 2**31 - 1
_NARROW, _WIDE = 4, 8


def graph_info(network: Network) -> GraphInfo:
    graph = network.graph
    return GraphInfo(
        name=graph.name,
        vertices=graph.vertices,
        arcs=graph.arcs,
        integral=graph.integral,
        symmetric=graph.symmetric,
        declared_directed=graph.declared_directed,
        label_bytes=_NARROW if not graph.integral or distance_bound(network) <= _INT32_MAX else _WIDE,
        coordinates=graph.coords is not None,
    )


def distance_bound(network: Network) -> int:
    """Return a number that no finite distance of an integer graph exceeds, without computing all distances.

    A shortest path leaves each vertex at most once, so the sum of the heaviest arc out of each vertex is a bound. If
    that exceeds 32 bits, the part of a path inside the largest strong component is bounded by a detour through one of
    its vertices; that part is contiguous, and one arc at most leaves it.
    """
    heaviest = _heaviest_arcs_out(network)
    bound = int(heaviest.sum())
    return bound if bound <= _INT32_MAX else min(bound, _bound_by_detour(network, heaviest))


def _heaviest_arcs_out(network: Network) -> np.ndarray:
    graph = network.graph
    heaviest = np.zeros(graph.vertices, dtype=np.int64)
    np.maximum.at(heaviest, graph.sources, graph.weights)
    return heaviest


def _bound_by_detour(network: Network, heaviest: np.ndarray) -> int:
    graph = network.graph
    inside = np.zeros(graph.vertices, dtype=bool)
    core = components.largest(graph)
    inside[core] = True
    centre = int(core[0])
    away = int(distances(network, centre, Direction.FROM)[core].max())
    back = away if graph.symmetric else int(distances(network, centre, Direction.TO)[core].max())
    leaving = graph.weights[inside[graph.sources] & ~inside[graph.indices]]
    return away + back + int(leaving.max(initial=0)) + int(heaviest[~inside].sum())
