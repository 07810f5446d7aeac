"""The hooks there are. Four declare records, two observe; none of them computes."""

from collections.abc import Iterable, Mapping
from typing import Any

import pluggy

from aacbench.contract.method import Method
from aacbench.plugins.records import GraphSource, ProtocolFile, Report

PROJECT = "aacbench"
PREFIX = "aacbench_"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def aacbench_methods() -> Iterable[Method]:  # type: ignore[empty-body]
    """Heuristic methods, to be named after `--methods`."""


@hookspec
def aacbench_graphs() -> Iterable[GraphSource]:  # type: ignore[empty-body]
    """Graphs, to be named after `--graphs`; each is loaded when it is first used."""


@hookspec
def aacbench_protocols() -> Iterable[ProtocolFile]:  # type: ignore[empty-body]
    """Protocols, as TOML files that come with the plugin."""


@hookspec
def aacbench_reports() -> Iterable[Report]:  # type: ignore[empty-body]
    """Reports on a finished study, written from its folder alone."""


@hookspec
def aacbench_cell_finished(cell: Mapping[str, Any]) -> None:
    """Told of each cell when its rows are on disk, with a copy of its `cell.json`."""


@hookspec
def aacbench_run_finished(summary: Mapping[str, Any]) -> None:
    """Told once of a run when it ends, with a copy of its summary."""


# name -> the names of its arguments
HOOKS: dict[str, tuple[str, ...]] = {
    name: function.__code__.co_varnames[: function.__code__.co_argcount]
    for name, function in list(globals().items())
    if name.startswith(PREFIX)
}
