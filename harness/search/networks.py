"""The graph as the kernels see it: vertices renumbered once for locality, arcs in the order of their original ids."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph, frozen
from aacbench.util.compiled import kernel

ORDERS = ("dfs", "file")


class Arcs(NamedTuple):
    """What a kernel needs of a graph; `back[a]` is the weight of the reverse of arc a, -1 where there is none.

    Positions are unsigned, so that indexing by them need not look for negative ones.
    """

    indptr: Array
    heads: Array
    weights: Array
    back: Array


@dataclass(frozen=True, eq=False)
class Network:
    """A graph ready to be searched. `original[v]` is the graph's id of v here, `place` is its inverse.

    Renumbering changes no count: each vertex's arcs stay in ascending order of their original heads, and the heap
    never compares vertex numbers.
    """

    graph: Graph
    order: str
    original: Array
    place: Array
    arcs: Arcs
    idle: list[Any] = field(default_factory=list, repr=False)  # workspaces that no thread uses now

    @cached_property
    def backward(self) -> Arcs:
        """The arcs of the reverse graph under the same numbering."""
        if self.graph.symmetric:
            return self.arcs
        return _renumbered(self.graph.reverse, self.graph, self.original, self.place)


def network(graph: Graph, order: str = "dfs") -> Network:
    """Renumber a graph's vertices: `dfs` (depth first, so that neighbours are near) or `file` (as they are)."""
    if order not in ORDERS:
        raise UsageError(f"the vertex order must be one of {', '.join(ORDERS)}, not {order!r}.")
    if graph.arcs >= 2**32:
        raise UsageError(f"a graph to search has fewer than 2^32 arcs, not {graph.arcs}.")
    identity = np.arange(graph.vertices, dtype=np.int32)
    original = depth_first_order(graph.indptr, graph.indices) if order == "dfs" else identity
    place = np.empty_like(original)
    place[original] = identity
    original, place = frozen(original, np.int32), frozen(place, np.int32)
    return Network(graph, order, original, place, _renumbered(graph, graph.reverse, original, place))


def with_weights(net: Network, weights: Array) -> Network:
    """The same arcs in the same order with other weights."""
    graph = replace(net.graph, weights=weights)
    return Network(
        graph, net.order, net.original, net.place, _renumbered(graph, graph.reverse, net.original, net.place)
    )


@kernel
def depth_first_order(indptr: Array, indices: Array) -> Array:
    """Vertices in depth-first preorder along arcs, restarted at the lowest vertex not yet seen."""
    vertices = len(indptr) - 1
    order = np.empty(vertices, dtype=np.int32)
    seen = np.zeros(vertices, dtype=np.bool_)
    following = indptr[:-1].copy()
    stack = np.empty(vertices, dtype=np.int32)
    found = 0
    for root in range(vertices):
        if seen[root]:
            continue
        seen[root] = True
        order[found] = root
        found += 1
        stack[0] = root
        depth = 1
        while depth > 0:
            v = stack[depth - 1]
            if following[v] == indptr[v + 1]:
                depth -= 1
                continue
            head = indices[following[v]]
            following[v] += 1
            if not seen[head]:
                seen[head] = True
                order[found] = head
                found += 1
                stack[depth] = head
                depth += 1
    return order


def _renumbered(graph: Graph, reverse: Graph, original: Array, place: Array) -> Arcs:
    degrees = np.diff(graph.indptr)[original]
    indptr = np.zeros(graph.vertices + 1, dtype=np.int64)
    np.cumsum(degrees, out=indptr[1:])
    taken = np.repeat(graph.indptr[original] - indptr[:-1], degrees) + np.arange(graph.arcs)
    back = graph.weights if reverse is graph else reverse_weights(graph, reverse)
    return Arcs(
        frozen(indptr, np.uint32),
        frozen(place[graph.indices[taken]], np.uint32),
        frozen(graph.weights[taken], graph.weights.dtype),
        frozen(back[taken], graph.weights.dtype),
    )


def reverse_weights(graph: Graph, reverse: Graph) -> Array:
    """For each arc (u, v) the weight of the arc (v, u), or -1 where there is none."""
    # Row u of `reverse` lists the tails of the arcs into u, so both sides are sorted by u, then by the other end.
    ours = graph.sources.astype(np.int64) * graph.vertices + graph.indices
    theirs = reverse.sources.astype(np.int64) * graph.vertices + reverse.indices
    found = np.searchsorted(theirs, ours)
    found[found == len(theirs)] = 0
    result = np.full(graph.arcs, -1, dtype=graph.weights.dtype)
    if graph.arcs:
        hit = theirs[found] == ours
        result[hit] = reverse.weights[found[hit]]
    return result
