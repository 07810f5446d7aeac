"""`aacbench plugins`: list plugins, where they come from, what they offer, and their problems."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.shared import AS_JSON, PLUGIN_FILES, echo_json

if TYPE_CHECKING:
    from aacbench.plugins.manager import PluginManager
    from aacbench.plugins.records import Origin

COLUMNS = ("name", "version", "origin", "methods", "encoders", "problems")
OFFERS = ("methods", "graphs", "protocols", "encoders", "maps")


@click.command()
@PLUGIN_FILES
@AS_JSON
def plugins(plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """List the plugins, their methods and encoders, and their problems.

    Installed plugins are found automatically. AACBENCH_PLUGINS, a comma-separated list of names and paths, loads
    exactly those and the built-ins.
    """
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(plugin_files)
    rows = _rows(manager)
    if as_json:
        echo_json(rows)
        return
    from tabulate import tabulate

    table = [
        [
            *(row[name] for name in COLUMNS[:3]),
            *(", ".join(row[name]) for name in COLUMNS[3:5]),
            len(row["problems"]) or "",
        ]
        for row in rows
    ]
    click.echo(tabulate(table, headers=COLUMNS, disable_numparse=True))
    for number, problem in enumerate(manager.problems()):
        click.echo(("" if number else "\n") + problem.line)


def _rows(manager: "PluginManager") -> list[dict[str, Any]]:
    rows = {(plugin.origin.plugin, plugin.origin.where): _row(plugin.origin, plugin) for plugin in manager.plugins()}
    for problem in manager.problems():
        row = rows.setdefault((problem.origin.plugin, problem.origin.where), _row(problem.origin))
        row["problems"].append(problem.reason)
    return list(rows.values())


def _row(origin: "Origin", offers: Any = None) -> dict[str, Any]:
    return {
        "name": origin.plugin,
        "version": origin.version,
        "origin": "built-in" if origin.kind == "built-in" else origin.where,
        "kind": origin.kind,
        "digest": origin.digest,
        **{kind: [record.name for record in getattr(offers, kind, ())] for kind in OFFERS},
        "problems": [],
    }
