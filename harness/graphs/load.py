"""Loading a graph by name: a file, a data set of the catalogue, or a generator's recipe.

Parsed and generated graphs are cached on disk under the digest of what they are made from, and read back by memory map.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from aacbench.errors import AacbenchError, DataError, UsageError
from aacbench.graphs import fetch, files
from aacbench.graphs.catalogue import FILE_PREFIX, SCENARIO, Entry, catalogue
from aacbench.graphs.record import Graph
from aacbench.util import array_store
from aacbench.util.paths import cache_folder, cache_folders
from aacbench.util.text import near_names

# By address, so that a format's parser is imported only when a file of that format is read.
READERS = {
    "citation": "aacbench.graphs.readers.edgelist:read_citations",
    "dimacs": "aacbench.graphs.readers.dimacs:read_dimacs",
    "edge-list": "aacbench.graphs.readers.edgelist:read_edge_list",
    "movingai": "aacbench.graphs.readers.movingai:read_map",
    "npz": "aacbench.graphs.readers.npz:read_npz",
    "osmnx-csv": "aacbench.graphs.readers.osmnx:read_csv_pair",
    "osmnx-graphml": "aacbench.graphs.readers.osmnx:read_graphml",
}


def load(name: str) -> Graph:
    """Return the graph of this name; it is parsed or generated once, then read from the cache."""
    if name.startswith(FILE_PREFIX):
        return _from_file(name)
    entry = catalogue().get(name)
    graph = _generated(name) if entry is None else _from_catalogue(entry)
    if graph is None:
        raise UsageError(f"Unknown graph {name!r}{_nearest(name)}; `aacbench graphs` lists all.")
    return graph


def scenario_path(name: str) -> Path:
    entry = catalogue().get(name)
    if entry is None or SCENARIO not in entry.files:
        raise UsageError(f"Graph {name!r} has no scenario; only the maps `movingai:...` of the catalogue have one.")
    return fetch.obtain(entry.files[SCENARIO]).path


def _from_file(name: str) -> Graph:
    request = files.parse_name(name)
    found = {role: fetch.Found(file, fetch.sha256_of(file)) for role, file in request.files.items()}
    return _parsed(name, request.reader, found, request.options)


def _from_catalogue(entry: Entry) -> Graph:
    found = {role: fetch.obtain(file) for role, file in entry.graph_files.items()}
    graph = _parsed(entry.name, entry.reader, found, entry.options)
    for what, expected, got in (("vertices", entry.vertices, graph.vertices), ("arcs", entry.arcs, graph.arcs)):
        if expected not in (None, got):
            paths = " and ".join(str(file.path) for file in found.values())
            raise DataError(f"{paths} cannot be {entry.name}: the graph has {got} {what}, not {expected}.")
    return graph


def _parsed(name: str, reader: str, found: Mapping[str, fetch.Found], options: Mapping[str, Any]) -> Graph:
    digests = {role: file.sha256 for role, file in found.items()}
    key = cache_key({"files": digests, "reader": reader, "options": dict(options)})
    cached = read_cached(key, name)
    if cached is not None:
        return cached
    read: Callable[..., Graph] = resolve_name(READERS[reader])
    graph = read(**{role: file.path for role, file in found.items()}, **options, name=name)
    for file in found.values():
        # The reader opened the file after its digest was taken, so a changed file would be cached under the wrong key.
        if fetch.sha256_of(file.path) != file.sha256:
            raise DataError(f"{file.path} changed while it was read; load it again once it is complete.")
    return write_cached(key, graph, name)


def _generated(name: str) -> Graph | None:
    libraries = {library: version(library) for library in ("networkx", "numpy")}
    key = cache_key({"generated": name, "libraries": libraries})
    cached = read_cached(key, name)
    if cached is not None:
        return cached
    graph: Graph | None = import_module("aacbench.graphs.generators").generate(name)
    return None if graph is None else write_cached(key, graph, name)


def cache_key(made_from: Mapping[str, Any]) -> str:
    return array_store.key_of({"graph": made_from, "sources": sources_digest()})


@cache
def sources_digest() -> str:
    """Return the digest of every source file about graphs: other code may make another graph of the same file."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read_cached(key: str, name: str) -> Graph | None:
    """Return the cached graph of this key, or None; a damaged entry is removed."""
    found = (_read_entry(folder / "graphs", key, name) for folder in cache_folders())
    return next((graph for graph in found if graph is not None), None)


def write_cached(key: str, graph: Graph, name: str) -> Graph:
    """Cache the graph and return it as stored; where that is impossible, return the graph itself."""
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    if graph.coords is not None:
        arrays["coords"] = graph.coords
    facts = {"digest": graph.digest, "declared_directed": graph.declared_directed}
    with suppress(OSError):
        array_store.write(cache_folder() / "graphs", key, arrays, facts)
        return read_cached(key, name) or replace(graph, name=name)
    return replace(graph, name=name)


def _read_entry(root: Path, key: str, name: str) -> Graph | None:
    stored = array_store.read(root, key)
    if stored is None:
        return None
    try:
        graph = Graph(**stored.arrays, name=name, declared_directed=stored.facts["declared_directed"])
        if graph.digest == stored.facts["digest"]:
            return graph
    except MemoryError:
        return None
    except Exception:  # a damaged description can raise anything; the graph is then made again
        pass
    array_store.drop(root, key)
    return None


def _nearest(name: str) -> str:
    with suppress(AacbenchError):
        files.parse_name(FILE_PREFIX + name)
        return f" (did you mean {FILE_PREFIX}{name}?)"
    spellings = {}
    for pattern, _ in import_module("aacbench.graphs.generators").describe():
        spellings[pattern.lower()] = spellings[_stem(pattern)] = pattern
    for known in catalogue():
        spellings[known.lower()] = spellings[known.partition(":")[2].lower()] = known
    matches = [match for tried in (name.lower(), _stem(name)) for match in near_names(tried, spellings, most=3)]
    close = dict.fromkeys(spellings[match] for match in matches)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _stem(name: str) -> str:
    return name.lower().partition("-")[0]
