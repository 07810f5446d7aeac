"""Loading a graph by name: a file with options after a question mark, a data set of the catalogue, or a recipe.

Parsed and generated graphs are cached on disk under the digest of what they are made from, and read back by memory map.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from aacbench.errors import AacbenchError, DataError, MissingDataError, UsageError
from aacbench.graphs import fetch
from aacbench.graphs.catalogue import FILE_PREFIX, SCENARIO, Entry, catalogue, name_and_file
from aacbench.graphs.readers import quoted, whole
from aacbench.graphs.record import Graph
from aacbench.util import array_store
from aacbench.util.paths import cache_folder, cache_folders, expanded
from aacbench.util.text import near_names, suggestion

# By address, so that a format's parser is imported only when a file of that format is read.
READERS = {
    "citation": "aacbench.graphs.readers.edgelist:read_citations",
    "dimacs": "aacbench.graphs.readers.dimacs:read_dimacs",
    "edge-list": "aacbench.graphs.readers.edgelist:read_edge_list",
    "graphml": "aacbench.graphs.readers.graphml:read_graphml",
    "movingai": "aacbench.graphs.readers.movingai:read_map",
    "npz": "aacbench.graphs.readers.npz:read_npz",
    "osmnx-csv": "aacbench.graphs.readers.osmnx:read_csv_pair",
}

_PLAIN = {
    ".gr": "dimacs",
    ".map": "movingai",
    ".graphml": "graphml",
    ".npz": "npz",
    ".txt": "edge-list",
    ".csv": "edge-list",
    ".tsv": "edge-list",
}
SUFFIXES = {f"{suffix}{packed}": reader for suffix, reader in _PLAIN.items() for packed in ("", ".gz")}


def load(name: str) -> Graph:
    """Return the graph of this name; it is parsed or generated once, then read from the cache."""
    short, file = name_and_file(name)
    if file or name.startswith(FILE_PREFIX):
        return _from_file(file or name, short)
    entry = catalogue().get(name)
    graph = _generated(name) if entry is None else _from_catalogue(entry)
    if graph is None:
        raise UsageError(f"Unknown graph {name!r}{_nearest(name)}; `aacbench graphs` lists all.")
    return graph


def check_file(name: str) -> None:
    """Raise where a graph is of a file that does not exist or has no known suffix; other graphs are not looked at."""
    _, file = name_and_file(name)
    if file or name.startswith(FILE_PREFIX):
        _parse_name(file or name)


def scenario_path(name: str) -> Path:
    entry = catalogue().get(name)
    if entry is None or SCENARIO not in entry.files:
        raise UsageError(f"Graph {name!r} has no scenario; only the maps `movingai:...` of the catalogue have one.")
    return fetch.obtain(entry.files[SCENARIO]).path


def _from_file(file: str, name: str) -> Graph:
    reader, files, options = _parse_name(file)
    found = {role: fetch.Found(path, fetch.sha256_of(path)) for role, path in files.items()}
    return _parsed(name, reader, found, options)


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
    facts = {"digest": graph.digest, "declared_directed": graph.declared_directed}
    with suppress(OSError):
        array_store.write(cache_folder() / "graphs", key, graph.arrays(), facts)
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
        _parse_name(FILE_PREFIX + name)
        return f" (did you mean {FILE_PREFIX}{name}?)"
    short, equals, rest = name.partition("=")
    if equals:
        with suppress(AacbenchError):
            _parse_name(FILE_PREFIX + rest)
            return f" (did you mean {short}={FILE_PREFIX}{rest}?)"
        return f" (only a file can have a short name, as in {short}={FILE_PREFIX}PATH)"
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


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a reader: which values it takes, in words, and the function that converts the text."""

    values: str
    convert: Callable[[str], Any]  # raises a KeyError or ValueError for a wrong value


_NODES = Option("the file of the nodes, beside that of the edges", str)
_DIRECTED = Option("yes or no", {"yes": True, "no": False}.__getitem__)
OPTIONS: Mapping[str, Mapping[str, Option]] = {
    "dimacs": {"id_base": Option("0 or 1", {"0": 0, "1": 1}.__getitem__)},
    "edge-list": {
        "directed": _DIRECTED,
        "id_base": Option("the smallest id, a whole number", whole),
        "source": Option("the column of an edge's begin", str),
        "target": Option("the column of its end", str),
        "weight": Option("the column of its weight, or none", str),
    },
    "graphml": {"weight": Option("an attribute of the edges, or none", str)},
    "osmnx-csv": {"nodes": _NODES, "weight": Option("a column of the edges", str)},
}


def _parse_name(name: str) -> tuple[str, dict[str, Path], dict[str, Any]]:
    """Return the reader, its files and its options for a `file:` name; raise where a file does not exist."""
    path, texts = _parts(name)
    suffix = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise UsageError(f"{name}: the suffix must be one of {', '.join(SUFFIXES)}.")
    reader = SUFFIXES[suffix]
    if suffix.startswith(".csv") and "nodes" in texts:
        reader = "osmnx-csv"
    options = {key: _value(name, suffix, reader, key, text) for key, text in texts.items()}
    files = {"path": path}
    if reader == "osmnx-csv":
        files = {"nodes": _beside(path, name, options.pop("nodes")), "edges": path}
    for file in files.values():
        _check_exists(name, file)
    if reader == "dimacs":
        files |= _coordinates_beside(path, suffix)
    return reader, files, options


def _beside(edges: Path, name: str, text: str) -> Path:
    path = edges.parent / expanded(text)
    if path.parent.resolve() != edges.parent.resolve():
        raise UsageError(f"{name}: nodes must be {_NODES.values}, not {quoted(text)}.")
    return path


def _parts(name: str) -> tuple[Path, dict[str, str]]:
    text = name.removeprefix(FILE_PREFIX)
    if "?" not in text or fetch.is_file(expanded(text)):  # a question mark may be part of the path
        return expanded(text), {}
    place, _, query = text.rpartition("?")
    texts: dict[str, str] = {}
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if not (key and value) or key in texts:
            raise UsageError(f"{name}: options must be written ?option=value&other=value, each once.")
        texts[key] = value
    return expanded(place), texts


def _value(name: str, suffix: str, reader: str, key: str, text: str) -> Any:
    known = OPTIONS.get(reader, {})
    if key not in known:
        raise UsageError(f"{name}: {_no_option(suffix, reader, key)}.")
    try:
        return known[key].convert(text)
    except (KeyError, ValueError):
        raise UsageError(f"{name}: {key} must be {known[key].values}, not {quoted(text)}.") from None


def _no_option(suffix: str, reader: str, key: str) -> str:
    known = OPTIONS.get(reader, {})
    if not known:
        return f"a {suffix} file takes no options"
    names = [*known, *(("nodes",) if suffix.startswith(".csv") and reader == "edge-list" else ())]
    return f"a {suffix} file has no option {quoted(key)}{suggestion(key, names)} Options: {', '.join(names)}"


def _check_exists(name: str, path: Path) -> None:
    if fetch.is_file(path):
        return
    if path.is_dir():
        raise MissingDataError(f"{name}: {path.absolute()} is a folder; name a file in it.")
    if path.exists():
        raise MissingDataError(f"{name}: {path.absolute()} is a pipe or a device; write its content to a file.")
    raise MissingDataError(f"{name}: file {path.absolute()} does not exist.")


def _coordinates_beside(path: Path, suffix: str) -> dict[str, Path]:
    stem = path.name[: -len(suffix)]
    for ending in (".co", ".co.gz", ".CO", ".CO.GZ"):
        if fetch.is_file(path.with_name(stem + ending)):
            return {"coords": path.with_name(stem + ending)}
    return {}
