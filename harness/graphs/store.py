"""Parsed graphs on disk, found by the digest of what they were made from and read back by memory map."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from aacbench.graphs.record import Graph
from aacbench.util import array_store as artifacts
from aacbench.util.paths import cache_folder, cache_folders


def key_of(made_from: Mapping[str, Any]) -> str:
    """The key of a graph: the digest of what it is made from, and of the code that makes it."""
    return artifacts.key_of({"graph": made_from, "sources": sources_digest()})


@cache
def sources_digest() -> str:
    """The digest of every source file about graphs: other code may make another graph of the same file."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read(key: str, name: str) -> Graph | None:
    """The graph kept under the key, or None; an entry that is damaged in any way is dropped."""
    found = (_read(folder / "graphs", key, name) for folder in cache_folders())
    return next((graph for graph in found if graph is not None), None)


def keep(key: str, graph: Graph, name: str) -> Graph:
    """Keep the graph and give it back as stored; where that is impossible, the graph itself."""
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    if graph.coords is not None:
        arrays["coords"] = graph.coords
    try:
        artifacts.write(_root(), key, arrays, {"digest": graph.digest, "declared_directed": graph.declared_directed})
    except OSError:
        return replace(graph, name=name)
    return read(key, name) or replace(graph, name=name)


def _read(root: Path, key: str, name: str) -> Graph | None:
    kept = artifacts.read(root, key)
    if kept is None:
        return None
    try:
        graph = Graph(**kept.arrays, name=name, declared_directed=kept.facts["declared_directed"])
        if graph.digest == kept.facts["digest"]:
            return graph
    except MemoryError:
        return None
    except Exception:  # whatever a damaged description makes the record say, the graph is made anew
        pass
    artifacts.drop(root, key)
    return None


def _root() -> Path:
    return cache_folder() / "graphs"
