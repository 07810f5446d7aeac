"""`aacbench plugins`: which plugins there are, where they come from, what they offer, and what is wrong with them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.errors import UsageError

# Everything else is imported where it is used: plugins must not be loaded to print a help.
if TYPE_CHECKING:
    from aacbench.plugins.manager import PluginManager
    from aacbench.plugins.records import Origin

COLUMNS = ("name", "version", "origin", "methods", "problems")


def existing(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Refuse a plugin file that is not there: a study without it would not be what was asked for."""
    for file in files:
        if not file.is_file():
            raise UsageError(f"there is no plugin file {file}; mind the path.")
    return files


PLUGIN_FILES = click.option(
    "--plugin",
    "plugin_files",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=existing,
    help="Load a plugin from a Python file; may be given again.",
)


def warn(plugins: "PluginManager", known: int = 0) -> None:
    """Tell what is wrong with plugins, from the problem of this number on."""
    for problem in plugins.problems()[known:]:
        click.echo(f"aacbench: {problem.line}", err=True)


@click.command()
@PLUGIN_FILES
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def plugins(plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """List the plugins there are, their methods, and what is wrong with the broken ones.

    Installed plugins are found by themselves. AACBENCH_PLUGINS, a list of names and paths separated by commas, loads
    exactly those besides the built-ins.
    """
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(plugin_files)
    rows = _rows(manager)
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    from tabulate import tabulate

    table = [
        [row["name"], row["version"], row["origin"], ", ".join(row["methods"]), len(row["problems"]) or ""]
        for row in rows
    ]
    click.echo(tabulate(table, headers=COLUMNS, disable_numparse=True))
    for number, problem in enumerate(manager.problems()):
        click.echo(("" if number else "\n") + problem.line)


def _rows(manager: "PluginManager") -> list[dict[str, Any]]:
    rows = {_key(plugin.origin): _row(plugin.origin, plugin) for plugin in manager.plugins()}
    for problem in manager.problems():
        row = rows.setdefault(_key(problem.origin), _row(problem.origin))
        row["problems"].append(problem.reason)
    return list(rows.values())


def _row(origin: "Origin", offers: Any = None) -> dict[str, Any]:
    return {
        "name": origin.plugin,
        "version": origin.version,
        "origin": "built-in" if origin.kind == "built-in" else origin.where,
        "kind": origin.kind,
        "digest": origin.digest,
        **{kind: [record.name for record in getattr(offers, kind, ())] for kind in ("methods", "graphs", "protocols")},
        "problems": [],
    }


def _key(origin: "Origin") -> tuple[str, str]:
    return origin.plugin, origin.where
