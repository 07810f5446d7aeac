"""What passes between a process and the one that rebuilds its heuristic: plain arrays on disk, and the graph's own."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from aacbench import artifacts
from aacbench.errors import ReloadError
from aacbench.graphs.record import Array, Graph
from aacbench.memory.deploy import Deployed
from aacbench.memory.inventory import memory_of
from aacbench.memory.sample import sample_rows
from aacbench.search.networks import Arcs, Network

_MAPPED_FROM = 2**20  # bytes; a smaller file is read faster than it is mapped


def save_arrays(folder: Path, arrays: Mapping[str, Array]) -> dict[str, str]:
    """Save arrays to files, the same memory once; returns the file of each name."""
    files: dict[str, str] = {}
    saved: dict[object, str] = {}
    for name, array in arrays.items():
        key = memory_of(array)
        if key not in saved:
            saved[key] = f"{name}.npy"
            np.save(folder / saved[key], np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
        files[name] = saved[key]
    return files


def load_arrays(folder: Path, files: Mapping[str, str]) -> dict[str, Array]:
    """The arrays of these files, large ones by memory map."""
    loaded = {file: load_array(folder / file) for file in set(files.values())}
    return {name: loaded[file] for name, file in files.items()}


def load_array(path: Path) -> Array:
    """One saved array."""
    mapped = path.stat().st_size >= _MAPPED_FROM
    found: Array = np.asarray(np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False))
    return found


def save_network(root: Path, network: Network) -> str:
    """Keep a network's arrays on disk, where they are not yet; returns their key."""
    graph = network.graph
    key = artifacts.key_of({"network": "reload/1", "graph": graph.digest, "order": network.order})
    if not artifacts.holds(root, key):
        arrays = {f"arcs_{name}": array for name, array in network.arcs._asdict().items()}
        arrays |= {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
        artifacts.write(
            root, key, {**arrays, "original": network.original, "place": network.place}, {"order": network.order}
        )
    return key


def load_network(root: Path, key: str) -> Network:
    """The network kept under a key."""
    kept = artifacts.read(root, key)
    if kept is None:
        raise ReloadError(f"the graph's arrays under {root} are gone or damaged; run again.")
    arrays = kept.arrays
    graph = Graph(indptr=arrays["indptr"], indices=arrays["indices"], weights=arrays["weights"])
    arcs = Arcs(*(arrays[f"arcs_{name}"] for name in Arcs._fields))
    return Network(graph, kept.facts["order"], arrays["original"], arrays["place"], arcs)


def sampled_bounds(deployed: Deployed, vertices: int, seed: int) -> Array:
    """h on the sampled rows, one after the other."""
    return np.concatenate([deployed.many(us, target) for target, us in sample_rows(vertices, seed)])
