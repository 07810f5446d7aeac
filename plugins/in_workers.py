"""Find methods and graphs by name in worker processes, from the plugin sources that the command has read.

A worker imports plugins only when it needs a method or graph of theirs, so a worker with built-in methods and graphs
runs no foreign code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from aacbench.contract.composite import resolve_parts, standalone
from aacbench.contract.encoder import Encoder
from aacbench.contract.method import Method
from aacbench.errors import DataError
from aacbench.graphs.catalogue import comes_with_us
from aacbench.maps.names import comes_with_us as a_map_set_of_ours
from aacbench.plugins.loader import VARIABLE
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve
from aacbench.util.source_file import SourceFile

if TYPE_CHECKING:
    from aacbench.graphs.record import Graph
    from aacbench.maps.record import MapSet


@dataclass(frozen=True, slots=True)
class PluginSources:
    """The plugins that a command has loaded: files with their bytes, installed ones with name and digest."""

    files: tuple[SourceFile, ...] = ()
    installed: tuple[tuple[str, str], ...] = ()


def sources_of(plugins: PluginManager) -> PluginSources:
    """Return the sources of the accepted plugins only: the others may hang."""
    files = tuple(plugin.source for plugin in plugins.plugins() if plugin.source is not None)
    origins = [plugin.origin for plugin in plugins.plugins()]
    installed = tuple((origin.plugin, origin.digest) for origin in origins if origin.kind == "distribution")
    return PluginSources(files, installed)


@dataclass(frozen=True, slots=True)
class MethodOf:
    """Finds a method by name in any process; plugins are loaded once, and only for a method that is not built in."""

    sources: PluginSources = PluginSources()

    def __call__(self, name: str) -> Method:
        built_in = _plugins(PluginSources()).methods()
        return built_in[name].method if name in built_in else _plugins(self.sources).method(name).method


@dataclass(frozen=True, slots=True)
class WholeMethodOf:
    """Finds a method together with its parts, as these settings name them."""

    sources: PluginSources
    name: str
    settings: Mapping[str, Any]

    def __call__(self) -> Method:
        """The method with its parts, in any process."""
        method_of = MethodOf(self.sources)
        method = method_of(self.name)
        parts = resolve_parts(method, resolve(method, self.settings), method_of, resolve)
        return standalone(method, parts, method_of)


@dataclass(frozen=True, slots=True)
class GraphOf:
    """Finds a graph by name. Equal for equal sources, so that a worker recognises a graph it has already loaded."""

    sources: PluginSources = PluginSources()

    def __call__(self, name: str) -> "Graph":
        """Load the graph of this name, whether a plugin declares it or it comes with aacbench."""
        from aacbench.graphs.load import load  # imported late: listing methods needs no graph

        return load(name) if comes_with_us(name) else _plugins(self.sources).graph(name)


@dataclass(frozen=True, slots=True)
class EncoderOf:
    """Finds an encoder by name in any process; plugins are loaded only for one that is not built in."""

    sources: PluginSources = PluginSources()

    def __call__(self, name: str) -> Encoder:
        built_in = _plugins(PluginSources()).encoders()
        return built_in[name].encoder if name in built_in else _plugins(self.sources).encoder(name).encoder


@dataclass(frozen=True, slots=True)
class MapsOf:
    """Finds a map set by name, with so many maps of each split."""

    sources: PluginSources = PluginSources()

    def __call__(self, name: str, counts: Mapping[str, int]) -> "MapSet":
        """Load the map set of this name, whether a plugin declares it or it comes with aacbench."""
        sources = PluginSources() if a_map_set_of_ours(name) else self.sources
        return _plugins(sources).maps(name, counts)


@cache
def _plugins(sources: PluginSources) -> PluginManager:
    # Trusted: the command has loaded them before, and a worker has limits.
    names = ",".join(name for name, _ in sources.installed)
    manager = load_plugins(sources.files, {VARIABLE: names}, trusted=True)
    digests = {plugin.origin.plugin: plugin.origin.digest for plugin in manager.plugins()}
    for name, digest in sources.installed:
        if digests.get(name, digest) != digest:
            raise DataError(f"The installed plugin {name!r} has changed since the command started; run it again.")
    return manager
