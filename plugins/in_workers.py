"""Methods and graphs in workers: found by name, from the plugin sources that the command read.

A plugin is imported by a worker only to get something of it, so that a worker of built-in methods and graphs runs no
other code than ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from aacbench.contract.composite import resolve_parts, standalone
from aacbench.contract.method import Method
from aacbench.errors import DataError
from aacbench.graphs.catalogue import comes_with_us
from aacbench.plugins.discovery import VARIABLE
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve
from aacbench.util.source_file import SourceFile

if TYPE_CHECKING:
    from aacbench.graphs.record import Graph


@dataclass(frozen=True, slots=True)
class PluginSources:
    """The plugins that a command has loaded: files by their bytes, installed ones by name and digest."""

    files: tuple[SourceFile, ...] = ()
    installed: tuple[tuple[str, str], ...] = ()


def sources_of(plugins: PluginManager) -> PluginSources:
    """The sources of all plugins that could be loaded; what else there is may hang."""
    found = plugins.plugins()
    installed = tuple((each.origin.plugin, each.origin.digest) for each in found if each.origin.kind == "distribution")
    return PluginSources(tuple(each.source for each in found if each.source is not None), installed)


@dataclass(frozen=True, slots=True)
class MethodOf:
    """Finds a method by name in any process; the plugins are loaded once, and only for one of theirs."""

    sources: PluginSources = PluginSources()

    def __call__(self, name: str) -> Method:
        """The method of this name."""
        built_in = _plugins(PluginSources()).methods()
        return built_in[name].method if name in built_in else _plugins(self.sources).method(name).method


@dataclass(frozen=True, slots=True)
class WholeMethodOf:
    """Finds a method with the methods it is made of put in, as these settings name them."""

    sources: PluginSources
    name: str
    settings: Mapping[str, Any]

    def __call__(self) -> Method:
        """The method, in any process."""
        method_of = MethodOf(self.sources)
        method = method_of(self.name)
        parts = resolve_parts(method, resolve(method, self.settings), method_of, resolve)
        return standalone(method, parts, method_of)


@dataclass(frozen=True, slots=True)
class GraphOf:
    """Finds a graph by name; equal for equal sources, so that a worker knows what it has loaded already."""

    sources: PluginSources = PluginSources()

    def __call__(self, name: str) -> "Graph":
        """The graph of this name, a plugin's or one that comes with aacbench."""
        from aacbench.graphs.load import load  # late: whoever lists methods needs no graph

        return load(name) if comes_with_us(name) else _plugins(self.sources).graph(name)


@cache
def _plugins(sources: PluginSources) -> PluginManager:
    # Not tried out first: a worker is under limits, and is given what the command could load.
    names = ",".join(name for name, _ in sources.installed)
    manager = load_plugins(sources.files, {VARIABLE: names}, trusted=True)
    digests = {plugin.origin.plugin: plugin.origin.digest for plugin in manager.plugins()}
    for name, digest in sources.installed:
        if digests.get(name, digest) != digest:
            raise DataError(f"The installed plugin {name!r} has changed since the command started; start again.")
    return manager
