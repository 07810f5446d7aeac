"""Networks on disk: a graph is renumbered once, and later processes read the result by memory map."""

from contextlib import suppress
from pathlib import Path

from aacbench.graphs.record import Graph
from aacbench.search.networks import Arcs, Network, network
from aacbench.util import array_store
from aacbench.util.paths import cache_folder


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
        graph = net.graph
        arrays = {f"arcs_{name}": array for name, array in net.arcs._asdict().items()}
        arrays |= {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
        array_store.write(root, key, {**arrays, "original": net.original, "place": net.place}, {"order": net.order})
    return key


def _cached(graph: Graph, order: str) -> Network | None:
    stored = array_store.read(networks_folder(), _key(graph, order))
    if stored is None:
        return None
    return Network(graph, order, stored.arrays["original"], stored.arrays["place"], _arcs(stored))


def _key(graph: Graph, order: str) -> str:
    return array_store.key_of({"network": "network/1", "graph": graph.digest, "order": order})


def _arcs(stored: array_store.Artifact) -> Arcs:
    return Arcs(*(stored.arrays[f"arcs_{name}"] for name in Arcs._fields))
