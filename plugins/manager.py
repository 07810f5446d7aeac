"""The typed facade over all plugins; no other module calls a hook by name."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from aacbench.errors import DataError, UsageError
from aacbench.graphs.catalogue import comes_with_us
from aacbench.maps.names import comes_with_us as a_map_set_of_ours
from aacbench.plugins.loader import boundary, candidates, load
from aacbench.plugins.records import (
    LoadedEncoder,
    LoadedGraph,
    LoadedMaps,
    LoadedMethod,
    LoadedReport,
    Origin,
    Plugin,
    PluginError,
    Problem,
    ProtocolFile,
)
from aacbench.processes.trial import try_out
from aacbench.util.canonical import plain
from aacbench.util.source_file import SourceFile
from aacbench.util.text import suggestion
from aacbench.util.timeouts import at_most

if TYPE_CHECKING:
    from aacbench.graphs.record import Graph
    from aacbench.maps.record import MapSet

T = TypeVar("T")
OBSERVER_SECONDS = 10.0  # an observer that needs longer must start a process of its own
KINDS = ("methods", "graphs", "protocols", "encoders", "maps", "reports")  # that a plugin declares


class PluginManager:
    """The accepted plugins and their records, and the problems with the others."""

    def __init__(self) -> None:
        self._plugins: dict[str, Plugin] = {}
        self._problems: list[Problem] = []
        self._timed_out: set[tuple[str, str]] = set()  # plugin and hook of observers that took too long

    def plugins(self) -> tuple[Plugin, ...]:
        return tuple(self._plugins.values())

    def problems(self) -> list[Problem]:
        return list(self._problems)

    def foreign_digests(self) -> dict[str, str]:
        """The digest of each plugin that is not built in, rejected ones included: their code ran too."""
        origins = [plugin.origin for plugin in self.plugins()] + [problem.origin for problem in self.problems()]
        return {origin.plugin: origin.digest for origin in origins if origin.kind != "built-in"}

    def methods(self) -> Mapping[str, LoadedMethod]:
        return MappingProxyType(
            {method.name: LoadedMethod(method, plugin.origin) for plugin in self.plugins() for method in plugin.methods}
        )

    def graphs(self) -> Mapping[str, LoadedGraph]:
        return MappingProxyType(
            {graph.name: LoadedGraph(graph, plugin.origin) for plugin in self.plugins() for graph in plugin.graphs}
        )

    def protocols(self) -> Mapping[str, ProtocolFile]:
        return MappingProxyType({protocol.name: protocol for plugin in self.plugins() for protocol in plugin.protocols})

    def encoders(self) -> Mapping[str, LoadedEncoder]:
        return MappingProxyType(
            {each.name: LoadedEncoder(each, plugin.origin) for plugin in self.plugins() for each in plugin.encoders}
        )

    def map_sets(self) -> Mapping[str, LoadedMaps]:
        return MappingProxyType(
            {each.name: LoadedMaps(each, plugin.origin) for plugin in self.plugins() for each in plugin.maps}
        )

    def reports(self) -> tuple[LoadedReport, ...]:
        return tuple(LoadedReport(report, plugin.origin) for plugin in self.plugins() for report in plugin.reports)

    def method(self, name: str) -> LoadedMethod:
        """Return the method of this name, or raise `UsageError`."""
        known = self.methods()
        if name in known:
            return known[name]
        raise self._unknown("method", name, known)

    def encoder(self, name: str) -> LoadedEncoder:
        """Return the encoder of this name, or raise `UsageError`."""
        known = self.encoders()
        if name in known:
            return known[name]
        raise self._unknown("encoder", name, known)

    def _unknown(self, kind: str, name: str, known: Iterable[str]) -> UsageError:
        broken = ", ".join(dict.fromkeys(problem.origin.plugin for problem in self._problems))
        hint = f"; these plugins could not be loaded and may define it: {broken}" if broken else ""
        near, all_names = suggestion(name, known), ", ".join(known)
        return UsageError(f"Unknown {kind} {name!r}{near} Known {kind}s: {all_names}{hint}.")

    def graph(self, name: str) -> "Graph":
        """Load the graph of this name, whether a plugin declares it or it comes with aacbench."""
        from aacbench.graphs.load import load  # imported late: most commands need no graph

        declared = self.graphs().get(name)
        return load(name) if declared is None else _load_graph(declared)

    def maps(self, name: str, counts: Mapping[str, int] | None = None) -> "MapSet":
        """Load the map set of this name, whether a plugin declares it or it comes with aacbench."""
        from aacbench.maps.load import load_maps

        declared = self.map_sets().get(name)
        if declared is None:
            return load_maps(name, counts)
        found = _load_maps(declared)
        return found if counts is None else found.take(counts)

    def cell_finished(self, cell: Mapping[str, Any]) -> None:
        self._notify("aacbench_cell_finished", cell=cell)

    def run_finished(self, summary: Mapping[str, Any]) -> None:
        self._notify("aacbench_run_finished", summary=summary)

    def add(self, plugin: Plugin) -> None:
        """Accept a plugin, or raise `PluginError` if one of its records has a name that is taken."""
        for kind in KINDS:
            names = [record.name for record in getattr(plugin, kind)]
            for name in names:
                if names.count(name) > 1:
                    raise PluginError(f"It declares two {kind} named {name!r}.")
                for other in self.plugins():
                    if any(record.name == name for record in getattr(other, kind)):
                        raise PluginError(f"The name {name!r} among its {kind} is taken by {_called(other.origin)}.")
        _check_graph_names(plugin)
        self._plugins[plugin.origin.plugin] = plugin

    def check_free(self, origin: Origin) -> None:
        """Raise `PluginError` if the plugin's own name is taken; called before any of its code runs."""
        if origin.plugin in self._plugins:
            other = self._plugins[origin.plugin].origin
            raise PluginError(f"The plugin name {origin.plugin!r} is taken by {_called(other)}; rename one of the two.")

    def add_problem(self, problem: Problem) -> None:
        if problem not in self._problems:
            self._problems.append(problem)

    def _notify(self, hook: str, **arguments: Any) -> None:
        """Call this observer of every plugin; ignore what it returns, and record what it raises as a problem."""
        for plugin in self.plugins():
            if (plugin.origin.plugin, hook) in self._timed_out:
                continue  # it would delay every cell
            try:
                with boundary(f"{hook} failed"), at_most(OBSERVER_SECONDS):
                    getattr(plugin.hooks, hook)(**plain(arguments))  # a copy, so that it cannot change ours
            except PluginError as error:
                if isinstance(error.__cause__, TimeoutError):
                    self._timed_out.add((plugin.origin.plugin, hook))
                # One problem per hook: an observer that fails usually fails for every cell.
                reasons = [problem.reason for problem in self._problems if problem.origin == plugin.origin]
                if not any(reason.startswith(f"{hook} failed") for reason in reasons):
                    self.add_problem(Problem(plugin.origin, str(error)))


def load_plugins(
    files: Iterable[str | Path | SourceFile] = (),
    environment: Mapping[str, str] | None = None,
    *,
    trusted: bool = False,
) -> PluginManager:
    """Load built-ins, installed plugins and these files; a broken one is left out and recorded as a problem.

    Unless they are `trusted`, plugins that are not built in are loaded in another process first, because one may hang
    or end the process that imports it.
    """
    manager = PluginManager()
    plugins, problems = candidates(files, os.environ if environment is None else environment)
    foreign = [candidate for candidate in plugins if candidate.origin.kind != "built-in"]
    fatal = {} if trusted else try_out([partial(load, candidate) for candidate in foreign])
    reasons = {foreign[place].origin: reason for place, reason in fatal.items()}
    with redirect_stdout(sys.stderr):  # what a plugin prints is not the command's output
        for candidate in plugins:
            try:
                if candidate.origin in reasons:
                    raise PluginError(reasons[candidate.origin])
                manager.check_free(candidate.origin)
                manager.add(load(candidate))
            except PluginError as error:
                problems.append(Problem(candidate.origin, str(error)))
    for problem in problems:
        manager.add_problem(problem)
    return manager


def _load_graph(declared: LoadedGraph) -> "Graph":
    """Call a plugin's loader and copy its fields into a new `Graph`, so that a subclass cannot misbehave later."""
    from aacbench.graphs.record import Graph

    def made(graph: Graph) -> Graph:
        values = {field.name: getattr(graph, field.name) for field in fields(Graph)}
        return Graph(**{**values, "name": declared.source.name})

    return _loaded(declared, "graph", Graph, made)


def _load_maps(declared: LoadedMaps) -> "MapSet":
    from aacbench.maps.record import MapSet, checked

    return _loaded(declared, "map set", MapSet, lambda maps: checked(replace(maps, name=declared.source.name)))


def _loaded(declared: LoadedGraph | LoadedMaps, what: str, record: type[T], made: Callable[[T], T]) -> T:
    name = f"The {what} {declared.source.name!r} of {declared.origin.where}"
    try:
        with boundary(f"{name} cannot be loaded"):
            loaded = declared.source.load()
            if not isinstance(loaded, record):
                kind = type(loaded).__name__
                raise PluginError(f"{name} is a {kind}; load() must return a {record.__name__}.")
            return made(loaded)
    except PluginError as error:
        raise DataError(str(error)) from error


def _check_graph_names(plugin: Plugin) -> None:
    for maps in plugin.maps:
        if a_map_set_of_ours(maps.name):
            raise PluginError(f"The name {maps.name!r} among its maps is taken by a map set that comes with aacbench.")
    for graph in plugin.graphs:
        if comes_with_us(graph.name):
            raise PluginError(f"The name {graph.name!r} among its graphs is taken by a graph that comes with aacbench.")


def _called(origin: Origin) -> str:
    return f"the built-in {origin.plugin!r}" if origin.kind == "built-in" else f"{origin.plugin!r} ({origin.where})"
