"""Networks on disk: a graph is renumbered once, and every process after that maps the result."""

from contextlib import suppress
from pathlib import Path

from aacbench.graphs.record import Graph
from aacbench.search.networks import Arcs, Network, network
from aacbench.util import array_store as artifacts
from aacbench.util.paths import cache_folder


def stored_network(graph: Graph, order: str = "dfs") -> Network:
    """`network` from the user's cache where it is there, else computed and put there."""
    found = _stored(graph, order)
    if found is not None:
        return found
    made = network(graph, order)
    with suppress(OSError):  # a full or read-only disk costs time, not the result
        save_network(networks_folder(), made)
    return _stored(graph, order) or made


def networks_folder() -> Path:
    """Where networks are kept."""
    return cache_folder() / "networks"


def save_network(root: Path, net: Network) -> str:
    """Keep a network's arrays on disk, where they are not yet; returns their key."""
    key = _key(net.graph, net.order)
    if not artifacts.holds(root, key):
        graph = net.graph
        arrays = {f"arcs_{name}": array for name, array in net.arcs._asdict().items()}
        arrays |= {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
        artifacts.write(root, key, {**arrays, "original": net.original, "place": net.place}, {"order": net.order})
    return key


def _stored(graph: Graph, order: str) -> Network | None:
    kept = artifacts.read(networks_folder(), _key(graph, order))
    return None if kept is None else Network(graph, order, kept.arrays["original"], kept.arrays["place"], _arcs(kept))


def _key(graph: Graph, order: str) -> str:
    return artifacts.key_of({"network": "network/1", "graph": graph.digest, "order": order})


def _arcs(kept: artifacts.Artifact) -> Arcs:
    return Arcs(*(kept.arrays[f"arcs_{name}"] for name in Arcs._fields))
