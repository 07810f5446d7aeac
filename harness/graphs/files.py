"""Parsing a `file:` name: the files, the reader, and the options after a question mark."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.errors import MissingDataError, UsageError
from aacbench.graphs import fetch
from aacbench.graphs.catalogue import FILE_PREFIX
from aacbench.graphs.readers.source import quoted, whole

SUFFIXES = {
    ".gr": "dimacs",
    ".gr.gz": "dimacs",
    ".map": "movingai",
    ".map.gz": "movingai",
    ".graphml": "osmnx-graphml",
    ".npz": "npz",
    ".txt": "edge-list",
    ".txt.gz": "edge-list",
    ".csv": "edge-list",
    ".csv.gz": "edge-list",
    ".tsv": "edge-list",
    ".tsv.gz": "edge-list",
}


@dataclass(frozen=True, slots=True)
class Request:
    """Which reader gets which files and options."""

    reader: str
    files: Mapping[str, Path]
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a reader: which values it takes, in words, and the function that converts the text."""

    values: str
    convert: Callable[[str], Any]  # raises a KeyError or ValueError for a wrong value


_NODES = Option("the file of the nodes, beside that of the edges", str)
_DIRECTED = Option("yes or no", {"yes": True, "no": False}.__getitem__)
OPTIONS: Mapping[str, Mapping[str, Option]] = {
    "dimacs": {"id_base": Option("0 or 1", {"0": 0, "1": 1}.__getitem__)},
    "edge-list": {"directed": _DIRECTED, "id_base": Option("the smallest id, a whole number", whole)},
    "osmnx-csv": {"nodes": _NODES, "weight": Option("a column of the edges", str)},
    "osmnx-graphml": {"weight": Option("an attribute of the edges", str)},
}


def parse_name(name: str) -> Request:
    """Return what the name asks for; raise where one of its files does not exist."""
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
        files = {"nodes": path.parent / Path(options.pop("nodes")).expanduser(), "edges": path}
    for file in files.values():
        _check_exists(name, file)
    if reader == "dimacs":
        files |= _coordinates_beside(path, suffix)
    return Request(reader, files, options)


def _parts(name: str) -> tuple[Path, dict[str, str]]:
    text = name.removeprefix(FILE_PREFIX)
    if "?" not in text or fetch.is_file(Path(text).expanduser()):  # a question mark may be part of the path
        return Path(text).expanduser(), {}
    place, _, query = text.rpartition("?")
    texts: dict[str, str] = {}
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if not (key and value) or key in texts:
            raise UsageError(f"{name}: options must be written ?option=value&other=value, each once.")
        texts[key] = value
    return Path(place).expanduser(), texts


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
    shown = [f"{option}= {known[option].values}" for option in known]
    if suffix.startswith(".csv") and reader == "edge-list":
        shown.append(f"nodes= {_NODES.values} (of an OSMnx pair, which then takes weight= too)")
    return f"a {suffix} file has no option {quoted(key)}; it has {', and '.join(shown)}"


def _check_exists(name: str, path: Path) -> None:
    if fetch.is_file(path):
        return
    if path.is_dir():
        raise MissingDataError(f"{name}: {path.absolute()} is a folder; name a file in it.")
    raise MissingDataError(f"{name}: file {path.absolute()} does not exist.")


def _coordinates_beside(path: Path, suffix: str) -> dict[str, Path]:
    stem = path.name[: -len(suffix)]
    for ending in (".co", ".co.gz", ".CO", ".CO.GZ"):
        if fetch.is_file(path.with_name(stem + ending)):
            return {"coords": path.with_name(stem + ending)}
    return {}
