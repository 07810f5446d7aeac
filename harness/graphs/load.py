"""Loading a graph by name: a file, a data set of the catalogue, or a generator's recipe."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from aacbench.errors import AacbenchError, DataError, UsageError
from aacbench.graphs import fetch, files, store
from aacbench.graphs.catalogue import SCENARIO, Entry, catalogue
from aacbench.graphs.names import FILE_PREFIX
from aacbench.graphs.record import Graph
from aacbench.util.text import near_names

# By address, so that a format's parser is imported when a file of that format is read.
READERS = {
    "citation": "aacbench.graphs.citation:read_citations",
    "dimacs": "aacbench.graphs.readers.dimacs:read_dimacs",
    "edge-list": "aacbench.graphs.readers.edgelist:read_edge_list",
    "movingai": "aacbench.graphs.readers.movingai:read_map",
    "npz": "aacbench.graphs.readers.npz:read_npz",
    "osmnx-csv": "aacbench.graphs.readers.osmnx:read_csv_pair",
    "osmnx-graphml": "aacbench.graphs.readers.osmnx:read_graphml",
}


def load(name: str, *, progress: Any = False) -> Graph:
    """The graph of this name, parsed or generated once and then kept in the cache; `progress` as in `fetch.obtain`."""
    if name.startswith(FILE_PREFIX):
        return _from_file(name)
    entry = catalogue().get(name)
    if entry is not None:
        return _from_catalogue(entry, progress)
    graph = _generated(name)
    if graph is None:
        raise UsageError(f"there is no graph {name!r}{_nearest(name)}; `aacbench graphs` lists all.")
    return graph


def scenario_path(name: str, *, progress: Any = False) -> Path:
    """The file of queries with known optima that belongs to a MovingAI map."""
    entry = catalogue().get(name)
    if entry is None or SCENARIO not in entry.files:
        raise UsageError(
            f"there are no scenarios for {name!r}; the maps `movingai:...` in `aacbench graphs` have them."
        )
    return fetch.obtain(entry.files[SCENARIO], progress=progress).path


def _from_file(name: str) -> Graph:
    request = files.understand(name)
    found = {role: fetch.Found(file, fetch.sha256_of(file)) for role, file in request.files.items()}
    return _parsed(name, request.reader, found, request.options)


def _from_catalogue(entry: Entry, progress: Any) -> Graph:
    found = {role: fetch.obtain(file, progress=progress) for role, file in entry.graph_files.items()}
    graph = _parsed(entry.name, entry.reader, found, entry.options)
    for what, expected, got in (
        ("vertices", entry.vertices, graph.vertices),
        ("arcs", entry.arcs, graph.arcs),
    ):
        if expected not in (None, got):
            paths = " and ".join(str(file.path) for file in found.values())
            raise DataError(f"{paths} cannot be {entry.name}: the graph has {got} {what}, not {expected}.")
    return graph


def _parsed(name: str, reader: str, found: Mapping[str, fetch.Found], options: Mapping[str, Any]) -> Graph:
    key = store.key_of(
        {
            "files": {role: file.sha256 for role, file in found.items()},
            "reader": reader,
            "options": dict(options),
        }
    )
    kept = store.read(key, name)
    if kept is not None:
        return kept
    read: Callable[..., Graph] = resolve_name(READERS[reader])
    graph = read(**{role: file.path for role, file in found.items()}, **options, name=name)
    for file in found.values():
        # The reader opened the file after its digest was taken: of another content this would be the wrong graph.
        if fetch.sha256_of(file.path) != file.sha256:
            raise DataError(f"{file.path} changed while it was read; load it again once it is whole.")
    return store.keep(key, graph, name)


def _generated(name: str) -> Graph | None:
    key = store.key_of(
        {
            "generated": name,
            "libraries": {library: version(library) for library in ("networkx", "numpy")},
        }
    )
    kept = store.read(key, name)
    if kept is not None:
        return kept
    graph: Graph | None = import_module("aacbench.graphs.generators").generate(name)
    return None if graph is None else store.keep(key, graph, name)


def _nearest(name: str) -> str:
    with suppress(AacbenchError):
        files.understand(FILE_PREFIX + name)
        return f" (did you mean {FILE_PREFIX}{name}?)"
    spelt = {}
    for pattern, _ in import_module("aacbench.graphs.generators").describe():
        spelt[pattern.lower()] = spelt[_stem(pattern)] = pattern
    for known in catalogue():
        spelt[known.lower()] = spelt[known.partition(":")[2].lower()] = known
    matches = [match for tried in (name.lower(), _stem(name)) for match in near_names(tried, spelt, most=3)]
    close = dict.fromkeys(spelt[match] for match in matches)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _stem(name: str) -> str:
    """What a generator's name begins with, before the sizes."""
    return name.lower().partition("-")[0]
