"""Methods and graphs in workers: found by name, without what the command itself needs, so that workers start soon.

A plugin is imported by a worker only to get something of it, so that a worker of built-in methods and graphs runs no
other code than ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from aacbench.contract.composite import resolve_parts, standalone
from aacbench.contract.method import Method
from aacbench.graphs.load import load
from aacbench.graphs.names import comes_with_us
from aacbench.graphs.record import Graph
from aacbench.plugins.discovery import VARIABLE
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve

Others = tuple[str, ...] | None  # plugins besides the files, as $AACBENCH_PLUGINS names them; None is all there are


def usable(plugins: PluginManager, files: tuple[Path, ...]) -> tuple[tuple[Path, ...], Others]:
    """Those of the files, and of all other plugins, that the command could load: what else there is may hang."""
    origins = [plugin.origin for plugin in plugins.plugins() if plugin.origin.kind != "built-in"]
    given = {str(file) for file in files} & {origin.where for origin in origins if origin.kind == "file"}
    others = [origin for origin in origins if origin.where not in given]
    names = tuple(origin.where if origin.kind == "file" else origin.plugin for origin in others)
    return tuple(file for file in files if str(file) in given), names


def method_in_worker(files: tuple[Path, ...], name: str, others: Others = None) -> Method:
    """The method of this name, in a worker process; the plugins are loaded once, and only for one of theirs."""
    built_in = _plugins_of((), ()).methods()
    return built_in[name].method if name in built_in else _plugins_of(files, others).method(name).method


def whole_in_worker(files: tuple[Path, ...], name: str, settings: Mapping[str, Any], others: Others = None) -> Method:
    """The same with the methods it is made of put in, as these settings name them."""
    method_of = partial(method_in_worker, files, others=others)
    method = method_of(name)
    return standalone(method, resolve_parts(method, resolve(method, settings), method_of, resolve), method_of)


@dataclass(frozen=True, slots=True)
class GraphOf:
    """Finds a graph by name; equal for equal files, so that a worker knows what it has loaded already."""

    files: tuple[Path, ...] = ()
    others: Others = None

    def __call__(self, name: str) -> Graph:
        """The graph of this name, a plugin's or one that comes with aacbench."""
        return load(name) if comes_with_us(name) else _plugins_of(self.files, self.others).graph(name)


@cache
def _plugins_of(files: tuple[Path, ...], others: Others) -> PluginManager:
    # Not tried out first: a worker is under limits, and is given what the command could load.
    return load_plugins(files, None if others is None else {VARIABLE: ",".join(others)}, trusted=True)
