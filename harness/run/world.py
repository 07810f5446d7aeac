"""What a worker keeps of a graph from cell to cell, sealed: a method that changes any of it is found out."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aacbench.errors import AacbenchError
from aacbench.graphs.record import Array
from aacbench.queries.record import QuerySet
from aacbench.queries.splits import Splits
from aacbench.search.networks import Network

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A graph ready to be searched, its queries, and the digest of all their arrays."""

    net: Network
    splits: Splits
    seal: str

    def part(self, name: str) -> QuerySet:
        """The queries of one split."""
        queries: QuerySet = getattr(self.splits, name)
        return queries

    def check(self) -> None:
        """Refuse to go on with a graph or with queries that are not what they were."""
        try:
            same = _digest(self.net, self.splits) == self.seal
        except Exception:  # such as an attribute that is no array any more
            same = False
        if not same:
            raise AacbenchError("the method changed the graph or the queries it was given, so nothing it did counts.")


def sealed(net: Network, splits: Splits) -> World:
    """Seal a graph and its queries, before any method sees them."""
    return World(net, splits, _digest(net, splits))


def _digest(net: Network, splits: Splits) -> str:
    found = hashlib.sha256(f"{net.graph.digest} {net.graph.symmetric} {net.order}".encode())
    for array in _arrays(net, splits):
        found.update(f"{array.dtype.str}{array.shape}".encode() + b"\0")
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _arrays(net: Network, splits: Splits) -> Iterator[Array]:
    """Every array a search, an audit or a pool is computed from."""
    graph = net.graph
    yield from (graph.indptr, graph.indices, graph.weights, graph.sources, net.original, net.place)
    if graph.coords is not None:
        yield graph.coords
    yield from net.arcs
    if net.backward is not net.arcs:
        yield from net.backward
    for part in PARTS:
        queries: QuerySet = getattr(splits, part)
        yield from (queries.sources, queries.targets)
