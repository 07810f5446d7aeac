"""Plugins as a command or a notebook loads them: files that can be read, and problems told on standard error."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from aacbench.contract.method import Method
from aacbench.errors import UsageError
from aacbench.util.input_file import open_input
from aacbench.util.paths import expanded

if TYPE_CHECKING:
    from aacbench.plugins.manager import PluginManager

Plugin = str | Path | ModuleType


def check_readable(files: Iterable[Path]) -> None:
    for file in files:
        try:
            open_input(file).close()
        except OSError as error:
            raise UsageError(f"Plugin file {file} cannot be read ({error.strerror}).") from error


def warn(plugins: "PluginManager", known: int = 0) -> None:
    """Print the problems of plugins to standard error, except the first `known` ones."""
    for problem in plugins.problems()[known:]:
        click.echo(f"aacbench: {problem.line}", err=True)


def protocol_files(plugins: "PluginManager") -> dict[str, Path]:
    """Return the files of plugins' protocols by name; warn of one with a shipped protocol's name, and leave it out."""
    from aacbench.protocols import known_protocols

    files = {name: record.path for name, record in plugins.protocols().items()}
    for name in set(files) & set(known_protocols()):
        click.echo(f"aacbench: {files.pop(name)}: a protocol named {name!r} comes with aacbench; rename it.", err=True)
    return files


def plugin_paths(plugins: Plugin | Iterable[Plugin]) -> list[Path]:
    """The files of plugins that are given by path or as imported modules."""
    listed = [plugins] if isinstance(plugins, str | Path | ModuleType) else list(plugins)
    paths = [_path(plugin) for plugin in listed]
    check_readable(paths)
    return paths


def _path(plugin: Any) -> Path:
    file = getattr(plugin, "__file__", None) if isinstance(plugin, ModuleType) else plugin
    if isinstance(file, str | Path):
        return expanded(file)
    raise no_source(plugin)


def no_source(plugin: Any) -> UsageError:
    """What to say of a plugin or a method that exists in this process only."""
    what = f"The method {plugin.name!r}" if isinstance(plugin, Method) else f"The plugin {plugin!r}"
    return UsageError(
        f"{what} has no source file, which worker processes need; write it to a file, in a notebook with "
        f"%%writefile my_method.py, and give plugins=['my_method.py']."
    )


def load_files(files: Iterable[str | Path], *, to_build: bool = False) -> "PluginManager":
    """Load plugins, and tell their problems; `to_build` says that this process may build with them."""
    from aacbench.plugins.manager import load_plugins

    with _machine_code_apart() if to_build else nullcontext():
        manager = load_plugins(files)
    warn(manager)
    return manager


@contextmanager
def _machine_code_apart() -> Iterator[None]:
    """Keep what plugins compile in this process from the workers that measure.

    Machine code freezes the globals it was compiled with, and here a build may have filled them.
    """
    import numba

    import aacbench.util.compiled  # noqa: F401  (sets the folder that is restored here)

    before = numba.config.CACHE_DIR
    setattr(numba.config, "CACHE_DIR", _folder().name)  # noqa: B010
    try:
        yield
    finally:
        setattr(numba.config, "CACHE_DIR", before)  # noqa: B010


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="aacbench-")
