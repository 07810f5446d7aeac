"""The plugins as the rest of aacbench sees them: typed questions and answers, and no hook called by name elsewhere."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aacbench.errors import DataError, UsageError
from aacbench.graphs.catalogue import comes_with_us
from aacbench.plugins.boundary import PluginError, boundary
from aacbench.plugins.discovery import candidates
from aacbench.plugins.loader import load
from aacbench.plugins.records import LoadedGraph, LoadedMethod, Origin, Plugin, Problem, ProtocolFile, Report
from aacbench.processes.trial import try_out
from aacbench.util.canonical import plain
from aacbench.util.source_file import SourceFile
from aacbench.util.text import suggestion
from aacbench.util.timeouts import at_most

if TYPE_CHECKING:
    from aacbench.graphs.record import Graph

OBSERVER_SECONDS = 10.0  # for looking at a record; whoever needs longer begins a process of his own
_KINDS = ("methods", "graphs", "protocols", "reports")


class PluginManager:
    """The plugins that were accepted, what they offer, and what was wrong with the others."""

    def __init__(self) -> None:
        self._plugins: dict[str, Plugin] = {}
        self._problems: list[Problem] = []
        self._late: set[tuple[str, str]] = set()  # observers that did not come back in time

    def plugins(self) -> tuple[Plugin, ...]:
        """The accepted plugins, built-ins first."""
        return tuple(self._plugins.values())

    def problems(self) -> list[Problem]:
        """What was wrong, in the order it was found."""
        return list(self._problems)

    def methods(self) -> Mapping[str, LoadedMethod]:
        """Every method by name."""
        return MappingProxyType(
            {method.name: LoadedMethod(method, plugin.origin) for plugin in self.plugins() for method in plugin.methods}
        )

    def graphs(self) -> Mapping[str, LoadedGraph]:
        """Every graph of a plugin by name."""
        return MappingProxyType(
            {graph.name: LoadedGraph(graph, plugin.origin) for plugin in self.plugins() for graph in plugin.graphs}
        )

    def protocols(self) -> Mapping[str, ProtocolFile]:
        """Every protocol of a plugin by name."""
        return MappingProxyType({found.name: found for plugin in self.plugins() for found in plugin.protocols})

    def reports(self) -> Mapping[str, Report]:
        """Every report of a plugin by name."""
        return MappingProxyType({report.name: report for plugin in self.plugins() for report in plugin.reports})

    def method(self, name: str) -> LoadedMethod:
        """The method of this name."""
        known = self.methods()
        if name in known:
            return known[name]
        broken = ", ".join(dict.fromkeys(problem.origin.plugin for problem in self._problems))
        hint = f"; plugins that could not be used, and may have it: {broken}" if broken else ""
        raise UsageError(f"there is no method {name!r}; {suggestion(name, known)}there are {', '.join(known)}{hint}.")

    def graph(self, name: str) -> "Graph":
        """The graph of this name, a plugin's or one that comes with aacbench, loaded here and now."""
        from aacbench.graphs.load import load  # late: most commands need no graph

        found = self.graphs().get(name)
        return load(name) if found is None else _loaded(found)

    def cell_finished(self, cell: Mapping[str, Any]) -> None:
        """Tell the observers that a cell is on disk."""
        self._tell("aacbench_cell_finished", cell=cell)

    def run_finished(self, summary: Mapping[str, Any]) -> None:
        """Tell the observers that a run has ended."""
        self._tell("aacbench_run_finished", summary=summary)

    def take(self, plugin: Plugin) -> None:
        """Take a plugin in, unless it has a name that is taken."""
        for kind in _KINDS:
            names = [record.name for record in getattr(plugin, kind)]
            for name in names:
                if names.count(name) > 1:
                    raise PluginError(f"it declares two {kind} named {name!r}.")
                for other in self.plugins():
                    if any(record.name == name for record in getattr(other, kind)):
                        raise PluginError(f"the name {name!r} among its {kind} is taken by {_called(other.origin)}.")
        _check_graph_names(plugin)
        self._plugins[plugin.origin.plugin] = plugin

    def check_free(self, origin: Origin) -> None:
        """Refuse a plugin whose own name is taken, before any of its code runs."""
        if origin.plugin in self._plugins:
            other = self._plugins[origin.plugin].origin
            raise PluginError(f"the plugin name {origin.plugin!r} is taken by {_called(other)}; rename one of the two.")

    def note(self, problem: Problem) -> None:
        """Keep a problem, once."""
        if problem not in self._problems:
            self._problems.append(problem)

    def _tell(self, hook: str, **facts: Any) -> None:
        """Call an observer of each plugin; what it returns is ignored, what it raises is noted and changes nothing."""
        for plugin in self.plugins():
            if (plugin.origin.plugin, hook) in self._late:
                continue  # it would hold up every cell
            try:
                with boundary(f"{hook} failed"), at_most(OBSERVER_SECONDS):
                    getattr(plugin.hooks, hook)(**plain(facts))  # a copy, so that it cannot change ours
            except PluginError as error:
                if isinstance(error.__cause__, TimeoutError):
                    self._late.add((plugin.origin.plugin, hook))
                # One note a hook: an observer that fails, fails for every cell.
                noted = [problem.reason for problem in self._problems if problem.origin == plugin.origin]
                if not any(reason.startswith(f"{hook} failed") for reason in noted):
                    self.note(Problem(plugin.origin, str(error)))


def load_plugins(
    files: Iterable[str | Path | SourceFile] = (),
    environment: Mapping[str, str] | None = None,
    *,
    trusted: bool = False,
) -> PluginManager:
    """Load built-ins, installed plugins and these files; a broken one is noted as a problem and left out.

    Unless they are `trusted`, those that are not built in are loaded in another process first: one may hang, or end
    the process that imports it.
    """
    manager = PluginManager()
    found, problems = candidates(files, os.environ if environment is None else environment)
    foreign = [candidate for candidate in found if candidate.origin.kind != "built-in"]
    fatal = {} if trusted else try_out([partial(load, candidate) for candidate in foreign])
    reasons = {foreign[place].origin: reason for place, reason in fatal.items()}
    with redirect_stdout(sys.stderr):  # what a plugin prints is no part of a command's output
        for candidate in found:
            try:
                if candidate.origin in reasons:
                    raise PluginError(reasons[candidate.origin])
                manager.check_free(candidate.origin)
                manager.take(load(candidate))
            except PluginError as error:
                problems.append(Problem(candidate.origin, str(error)))
    for problem in problems:
        manager.note(problem)
    return manager


def _loaded(found: LoadedGraph) -> "Graph":
    """What a plugin's loader gives, taken apart and put together again, so that it is what it seems."""
    from aacbench.graphs.record import Graph

    name, where = found.source.name, found.origin.where
    try:
        with boundary(f"the graph {name!r} of {where} cannot be loaded"):
            given = found.source.load()
            if not isinstance(given, Graph):
                raise PluginError(f"the graph {name!r} of {where} is a {type(given).__name__}; load() returns a Graph.")
            own = {field.name: getattr(given, field.name) for field in fields(Graph)}
            return Graph(**{**own, "name": name})
    except PluginError as error:
        raise DataError(str(error)) from error


def _check_graph_names(plugin: Plugin) -> None:
    for graph in plugin.graphs:
        if comes_with_us(graph.name):
            raise PluginError(f"the name {graph.name!r} among its graphs is taken by one that comes with aacbench.")


def _called(origin: Origin) -> str:
    return f"the built-in {origin.plugin!r}" if origin.kind == "built-in" else f"{origin.plugin!r} ({origin.where})"
