"""Methods in worker processes: found by name, and without what the command itself needs, so that workers start soon."""

from functools import cache
from pathlib import Path

from aacbench.method import Method
from aacbench.plugins.manager import PluginManager, load_plugins


def method_in_worker(files: tuple[Path, ...], name: str) -> Method:
    """The method of this name, in a worker process; its plugins are loaded once."""
    return _plugins_of(files).method(name).method


@cache
def _plugins_of(files: tuple[Path, ...]) -> PluginManager:
    return load_plugins(files)
