"""Methods and graphs in workers: found by name, without what the command itself needs, so that workers start soon."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from aacbench.graphs.record import Graph
from aacbench.method import Method
from aacbench.parts import self_contained, with_parts
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve


def method_in_worker(files: tuple[Path, ...], name: str) -> Method:
    """The method of this name, in a worker process; its plugins are loaded once."""
    return _plugins_of(files).method(name).method


def whole_in_worker(files: tuple[Path, ...], name: str, settings: Mapping[str, Any]) -> Method:
    """The same with the methods it is made of put in, as these settings name them."""
    method = method_in_worker(files, name)
    method_of = partial(method_in_worker, files)
    return self_contained(method, with_parts(method, resolve(method, settings), method_of, resolve), method_of)


@dataclass(frozen=True, slots=True)
class GraphOf:
    """Finds a graph by name; equal for equal files, so that a worker knows what it has loaded already."""

    files: tuple[Path, ...] = ()

    def __call__(self, name: str) -> Graph:
        """The graph of this name, a plugin's or one that comes with aacbench."""
        return _plugins_of(self.files).graph(name)


@cache
def _plugins_of(files: tuple[Path, ...]) -> PluginManager:
    return load_plugins(files)
