"""The records of the plugin layer: those that authors yield besides methods, and those of the loader."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aacbench.contract.encoder import Encoder, MapSource
from aacbench.contract.method import Method
from aacbench.util.source_file import SourceFile

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from aacbench.graphs.record import Graph


class PluginError(Exception):
    """A plugin cannot be used; the message gives the reason in one sentence."""


@dataclass(frozen=True, slots=True)
class GraphSource:
    """A graph by name, loaded when it is first used."""

    name: str
    summary: str
    load: "Callable[[], Graph]"


@dataclass(frozen=True, slots=True)
class ProtocolFile:
    """A protocol by name: the path of its TOML file."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class StudyTables:
    """What a report is made from: the name of a study's folder, and copies of the tables of `aacbench.open_study`."""

    name: str
    cells: "pd.DataFrame"
    queries: "pd.DataFrame"
    results: "pd.DataFrame"


@dataclass(frozen=True, slots=True)
class SectionTable:
    """A table of a report: a heading, the data without its index, and a sentence on how to read it."""

    title: str
    data: "pd.DataFrame"
    note: str = ""


@dataclass(frozen=True, slots=True)
class SectionFigure:
    """A figure of a report: a heading, a matplotlib figure, and what it shows in words for who cannot see it."""

    title: str
    figure: "Figure"
    alt: str


@dataclass(frozen=True, slots=True)
class Section:
    """What a report says: plain text in paragraphs, tables, and figures."""

    text: str = ""
    tables: Sequence[SectionTable] = ()
    figures: Sequence[SectionFigure] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A section that a plugin adds to the page of a study; `make` is called when the page is written."""

    name: str
    title: str
    summary: str
    make: Callable[[StudyTables], Section]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a plugin comes from.

    `kind` is `built-in`, `distribution` or `file`; `where` is the distribution's name or the file's path. `digest` is
    the sha256 of the loaded source: of the file, or of all files of its package.
    """

    plugin: str
    kind: str
    where: str
    version: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class LoadedMethod:
    """A method and where it comes from."""

    method: Method
    origin: Origin


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """A graph of a plugin, not loaded yet, and where it comes from."""

    source: GraphSource
    origin: Origin


@dataclass(frozen=True, slots=True)
class LoadedEncoder:
    """An encoder and where it comes from."""

    encoder: Encoder
    origin: Origin


@dataclass(frozen=True, slots=True)
class LoadedMaps:
    """A map set of a plugin, not loaded yet, and where it comes from."""

    source: MapSource
    origin: Origin


@dataclass(frozen=True, slots=True)
class LoadedReport:
    """A report of a plugin, not made yet, and where it comes from."""

    report: Report
    origin: Origin


@dataclass(frozen=True, slots=True)
class Problem:
    """A plugin and what is wrong with it, in one sentence."""

    origin: Origin
    reason: str

    @property
    def line(self) -> str:
        return f"{self.origin.plugin} ({self.origin.where}): {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """An accepted plugin with everything it declared."""

    origin: Origin
    methods: tuple[Method, ...] = ()
    graphs: tuple[GraphSource, ...] = ()
    protocols: tuple[ProtocolFile, ...] = ()
    encoders: tuple[Encoder, ...] = ()
    maps: tuple[MapSource, ...] = ()
    reports: tuple[Report, ...] = ()
    source: SourceFile | None = None  # the bytes that ran, if the plugin is a file
    hooks: Any = field(default=None, repr=False, compare=False)  # pluggy's relay to this plugin alone
