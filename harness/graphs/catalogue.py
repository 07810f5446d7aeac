"""The names of graphs that come with aacbench, and the catalogue of data sets that `catalogue.toml` describes.

Nothing heavy is imported, so that plugins and `--help` can look up names.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from aacbench.errors import UsageError

FILE_PREFIX = "file:"
FIXED = ("sbm-10k", "ba-10k", "p7")  # generated, in one size
SIZED = re.compile(r"(?P<kind>road|twoway|grid|maze)(-(?P<size>[0-9]+))?(-s(?P<seed>[0-9]+))?")
SCENARIO = "scenario"
_SHORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """One file of a data set; the keys are explained at the head of `catalogue.toml`."""

    at: str
    address: str | None = None
    how_to_get: str | None = None
    sha256: tuple[str, ...] = ()
    editions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A named data set and how its graph is read."""

    name: str
    summary: str
    licence: str
    reader: str
    files: Mapping[str, DataFile]
    options: Mapping[str, Any] = field(default_factory=dict)
    vertices: int | None = None
    arcs: int | None = None

    @property
    def graph_files(self) -> Mapping[str, DataFile]:
        """The files for the reader, by the name of its parameter."""
        return {role: file for role, file in self.files.items() if role != SCENARIO}


def parse(text: str) -> Mapping[str, Entry]:
    entries = {}
    for name, table in tomllib.loads(text).items():
        files = {
            role: DataFile(sha256=tuple(file.pop("sha256", ())), **file) for role, file in table.pop("files").items()
        }
        entries[name] = Entry(name=name, files=files, **table)
    return MappingProxyType(entries)


@cache
def catalogue() -> Mapping[str, Entry]:
    return parse((resources.files(__package__) / "catalogue.toml").read_text(encoding="utf-8"))


def comes_with_us(name: str) -> bool:
    generated = name in FIXED or SIZED.fullmatch(name) is not None
    return generated or name.startswith(FILE_PREFIX) or f"={FILE_PREFIX}" in name or name in catalogue()


def name_and_file(graph: str) -> tuple[str, str]:
    """Return a graph's name, and its file if it has a short name: `boston=file:b.csv` is `boston` and `file:b.csv`."""
    if graph.startswith(FILE_PREFIX) or f"={FILE_PREFIX}" not in graph:
        return graph, ""
    name, _, file = graph.partition("=")
    if not _SHORT_NAME.fullmatch(name):
        raise UsageError(
            f"{graph}: the name before ={FILE_PREFIX} must be letters, digits, hyphens, underscores and dots."
        )
    if comes_with_us(name):
        raise UsageError(f"{graph}: {name!r} is a graph that comes with aacbench; choose another name.")
    return name, file
