"""A graph of the suite with its true distances, and the copies, queries and pools for a method to build on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aacbench.contract.budget import GraphInfo
from aacbench.graphs.record import Array, Graph
from aacbench.labels.exact import Direction, distances
from aacbench.labels.graph_info import graph_info
from aacbench.queries.record import QuerySet
from aacbench.queries.splits import Splits
from aacbench.run.loaded_graph import LoadedGraph, sealed
from aacbench.search.networks import Network, network

_QUERIES = 16  # in each split


@dataclass(frozen=True, eq=False)
class GraphCase:
    """A graph and its true distances; no method ever gets this copy."""

    graph: Graph

    @cached_property
    def net(self) -> Network:
        """The graph as the search holds it."""
        return network(self.graph)

    @cached_property
    def info(self) -> GraphInfo:
        """The information that `fit` gets."""
        return graph_info(self.net)

    @cached_property
    def exact(self) -> Array:
        """d(u, t) at [u, t], -1 if there is no path."""
        columns = [distances(self.net, t, Direction.TO) for t in range(self.graph.vertices)]
        return np.stack(columns, axis=1)

    def loaded(self) -> LoadedGraph:
        """A new copy for a method to build on, sealed, so that changes are noticed and affect nothing else."""
        return sealed(network(_copied(self.graph)), _splits(self.graph, self.exact))


def _copied(graph: Graph) -> Graph:
    return Graph(
        indptr=graph.indptr.copy(),
        indices=graph.indices.copy(),
        weights=graph.weights.copy(),
        coords=None if graph.coords is None else graph.coords.copy(),
        name=graph.name,
        declared_directed=graph.declared_directed,
    )


def _splits(graph: Graph, exact: Array) -> Splits:
    """Reachable queries; from a vertex to itself if the graph has no arcs."""
    sources, targets = np.nonzero((exact >= 0) & ~np.eye(graph.vertices, dtype=bool))
    if not len(sources):
        sources = targets = np.arange(graph.vertices)
    rng = np.random.default_rng([11, graph.vertices])
    train, validation, test = (_drawn(rng, graph.name, sources, targets) for _ in range(3))
    return Splits(train=train, validation=validation, test=test)


def _drawn(rng: np.random.Generator, name: str, sources: Array, targets: Array) -> QuerySet:
    chosen = rng.integers(0, len(sources), _QUERIES)
    return QuerySet(sources=sources[chosen], targets=targets[chosen], name=name)
