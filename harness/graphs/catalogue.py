"""The catalogue of named data sets: what `catalogue.toml` says, as records."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

SCENARIO = "scenario"


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
    """A named data set and how a graph is made of it."""

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
        """The files the reader takes, by the parameter each is given to."""
        return {role: file for role, file in self.files.items() if role != SCENARIO}


def parse(text: str) -> Mapping[str, Entry]:
    """The entries of a catalogue, by name, in the order written."""
    return MappingProxyType({name: _entry(name, table) for name, table in tomllib.loads(text).items()})


@cache
def catalogue() -> Mapping[str, Entry]:
    """The entries that come with aacbench."""
    return parse((resources.files(__package__) / "catalogue.toml").read_text(encoding="utf-8"))


def _entry(name: str, table: dict[str, Any]) -> Entry:
    files = {role: _file(file) for role, file in table.pop("files").items()}
    return Entry(name=name, files=files, **table)


def _file(table: dict[str, Any]) -> DataFile:
    return DataFile(sha256=tuple(table.pop("sha256", ())), **table)
