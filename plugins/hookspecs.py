"""The hook specifications. Six hooks declare records, two observe a run; none of them computes."""

from collections.abc import Iterable, Mapping
from typing import Any

import pluggy

from aacbench.contract.encoder import Encoder, MapSource
from aacbench.contract.method import Method
from aacbench.plugins.records import GraphSource, ProtocolFile, Report

PROJECT = "aacbench"
PREFIX = "aacbench_"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def aacbench_methods() -> Iterable[Method]:  # type: ignore[empty-body]
    """Declare heuristic methods, for `--methods`."""


@hookspec
def aacbench_graphs() -> Iterable[GraphSource]:  # type: ignore[empty-body]
    """Declare graphs, for `--graphs`; each is loaded when it is first used."""


@hookspec
def aacbench_protocols() -> Iterable[ProtocolFile]:  # type: ignore[empty-body]
    """Declare protocols: TOML files that come with the plugin."""


@hookspec
def aacbench_encoders() -> Iterable[Encoder]:  # type: ignore[empty-body]
    """Declare encoders, for `--encoders`: from images of maps to the costs of their cells."""


@hookspec
def aacbench_maps() -> Iterable[MapSource]:  # type: ignore[empty-body]
    """Declare map sets, for `--maps`; each is loaded when it is first used."""


@hookspec
def aacbench_reports() -> Iterable[Report]:  # type: ignore[empty-body]
    """Declare sections that `aacbench report` adds to the page of a study."""


@hookspec
def aacbench_cell_finished(cell: Mapping[str, Any]) -> None:
    """Called for each cell once its rows are on disk, with a copy of its `cell.json`."""


@hookspec
def aacbench_run_finished(summary: Mapping[str, Any]) -> None:
    """Called once when a run ends, with a copy of its summary."""


# hook name -> names of its arguments
HOOKS: dict[str, tuple[str, ...]] = {
    name: function.__code__.co_varnames[: function.__code__.co_argcount]
    for name, function in list(globals().items())
    if name.startswith(PREFIX)
}
