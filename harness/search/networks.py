"""A graph as the kernels see it: vertices renumbered for locality, and the working memory of its searches.

A graph is renumbered once; later processes read the result from disk by memory map.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph, frozen
from aacbench.search.heap import entry_dtype
from aacbench.search.policy import VERTEX_ORDERS
from aacbench.util import array_store
from aacbench.util.compiled import kernel
from aacbench.util.paths import cache_folder

_START, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)


class Arcs(NamedTuple):
    """The arcs in compressed sparse rows; `back[a]` is the weight of the reverse of arc a, or -1 if it has none.

    Positions are unsigned, so that indexing does not check for negative ones.
    """

    indptr: Array
    heads: Array
    weights: Array
    back: Array


@dataclass(frozen=True, eq=False)
class Network:
    """A graph ready to be searched. `original[v]` is the graph's own number of vertex v; `place` is the inverse.

    Renumbering changes no count: the arcs of a vertex stay in ascending order of their original heads, and the heap
    never compares vertex numbers.
    """

    graph: Graph
    order: str
    original: Array
    place: Array
    arcs: Arcs
    idle: list[Any] = field(default_factory=list, repr=False)  # workspaces not in use

    @cached_property
    def backward(self) -> Arcs:
        if self.graph.symmetric:
            return self.arcs
        return _renumbered(self.graph.reverse, self.graph, self.original, self.place)


def network(graph: Graph, order: str = "dfs") -> Network:
    """Return the graph with vertices in `dfs` order (depth first, so that neighbours are close) or `file` order."""
    if order not in VERTEX_ORDERS:
        raise UsageError(f"Unknown vertex order {order!r}. Known: {', '.join(VERTEX_ORDERS)}.")
    if graph.arcs >= 2**32:
        raise UsageError(f"The graph has {graph.arcs} arcs; a search supports fewer than 2^32.")
    identity = np.arange(graph.vertices, dtype=np.int32)
    original = depth_first_order(graph.indptr, graph.indices) if order == "dfs" else identity
    place = np.empty_like(original)
    place[original] = identity
    original, place = frozen(original, np.int32), frozen(place, np.int32)
    return Network(graph, order, original, place, _renumbered(graph, graph.reverse, original, place))


def with_weights(net: Network, weights: Array) -> Network:
    graph = replace(net.graph, weights=weights)
    return Network(
        graph, net.order, net.original, net.place, _renumbered(graph, graph.reverse, net.original, net.place)
    )


def degrees(arcs: Arcs) -> Array:
    """Return how many arcs each vertex has."""
    return np.diff(arcs.indptr).astype(np.int64)


@kernel
def depth_first_order(indptr: Array, indices: Array) -> Array:
    """Return the vertices in depth-first preorder, restarted at the lowest unseen vertex."""
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
    """Return for each arc (u, v) the weight of the arc (v, u), or -1 if there is none."""
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


class Workspace(NamedTuple):
    """The memory of one search thread, reused by all its queries: vertex records, a heap, and a path buffer.

    A vertex record is valid only if its `stamp` equals `stamp[0]`. Each query raises that number, so a query neither
    allocates memory nor does work proportional to the number of vertices.
    """

    state: Array
    heap: Array
    path: Array
    stamp: Array


def state_dtype(weight: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a vertex record: 32 bytes, so that two share a cache line."""
    return np.dtype(
        [
            ("g", weight),
            ("h", weight),
            ("stamp", np.uint32),
            ("parent", np.uint32),
            ("sequence", np.uint32),
            ("closed", np.uint32),
        ],
        align=True,
    )


def workspace(network: Network) -> Workspace:
    """Return a new workspace; its heap has room for every push of a search without re-expansions."""
    weight, vertices = network.graph.weights.dtype, network.graph.vertices
    return Workspace(
        np.zeros(vertices, dtype=state_dtype(weight)),
        np.empty(network.graph.arcs + 2, dtype=entry_dtype(weight)),
        np.empty(vertices, dtype=np.uint32),
        np.zeros(1, dtype=np.uint32),
    )


def borrow(network: Network) -> Workspace:
    try:
        return network.idle.pop()
    except IndexError:
        return workspace(network)


def give_back(network: Network, work: Workspace) -> None:
    network.idle.append(work)


def fingerprint(arrays: Iterable[Array]) -> int:
    """Return a fast hash of arrays that differs after any change of one 8-byte word, and after nearly all others.

    It detects accidental changes; it is not a cryptographic digest.
    """
    state = _START
    for array in arrays:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        whole = len(data) // 8 * 8
        state = np.uint64(mixed(state, data[:whole].view(np.uint64)))
        rest = np.frombuffer(data[whole:].tobytes().ljust(8, b"\0"), np.uint64)
        shape = np.array([array.dtype.num, *array.shape], dtype=np.uint64)
        state = np.uint64(mixed(state, np.concatenate((rest, shape))))  # a kernel returns a plain int
    return int(state)


@kernel
def mixed(state: np.uint64, words: Array) -> np.uint64:
    """Fold words into a number. Each step is invertible, so a change of one word always changes the result.

    Four independent lanes keep the processor from waiting for each multiplication.
    """
    a, b, c, d = state, ~state, state, ~state
    whole = len(words) // 4 * 4
    for k in range(0, whole, 4):
        a = (a ^ words[k]) * _FACTOR
        b = (b ^ words[k + 1]) * _FACTOR
        c = (c ^ words[k + 2]) * _FACTOR
        d = (d ^ words[k + 3]) * _FACTOR
    for k in range(whole, len(words)):
        a = (a ^ words[k]) * _FACTOR
    for lane in (b, c, d):
        a = (a ^ lane) * _FACTOR
    return a


def stored_network(graph: Graph, order: str = "dfs") -> Network:
    """Return `network(graph, order)` from the user's cache; if it is missing, compute and store it."""
    cached = _cached(graph, order)
    if cached is not None:
        return cached
    computed = network(graph, order)
    with suppress(OSError):  # a full or read-only disk costs time, not the result
        save_network(networks_folder(), computed)
    return _cached(graph, order) or computed


def networks_folder() -> Path:
    return cache_folder() / "networks"


def save_network(root: Path, net: Network) -> str:
    """Store a network's arrays unless they are there already, and return their key."""
    key = _key(net.graph, net.order)
    if not array_store.holds(root, key):
        sides = {"arcs": net.arcs} if net.graph.symmetric else {"arcs": net.arcs, "backward": net.backward}
        arrays = {f"{side}_{name}": array for side, arcs in sides.items() for name, array in arcs._asdict().items()}
        array_store.write(root, key, {**arrays, "original": net.original, "place": net.place}, {"order": net.order})
    return key


def _cached(graph: Graph, order: str) -> Network | None:
    stored = array_store.read(networks_folder(), _key(graph, order))
    if stored is None:
        return None
    arcs = Arcs(*(stored.arrays[f"arcs_{name}"] for name in Arcs._fields))
    found = Network(graph, order, stored.arrays["original"], stored.arrays["place"], arcs)
    if "backward_heads" in stored.arrays:  # otherwise the arcs are their own reverse
        found.__dict__["backward"] = Arcs(*(stored.arrays[f"backward_{name}"] for name in Arcs._fields))
    return found


def _key(graph: Graph, order: str) -> str:
    return array_store.key_of({"network": "network/2", "graph": graph.digest, "order": order})
