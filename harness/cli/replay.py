"""`aacbench replay`: build a cell's method again and see whether what was found wrong, or right, still is."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aacbench.cli.shared import FOLDER, MEMORY_LIMIT, PLUGIN_FILES, TIME_LIMIT, study_folder
from aacbench.errors import UsageError
from aacbench.run.exit_codes import MISMATCH

if TYPE_CHECKING:
    from aacbench.plugins.manager import PluginManager
    from aacbench.run.replay import Line
    from aacbench.run.store import Cell


@click.command()
@click.argument("cell")
@click.option("--study", type=FOLDER, help="The study.  [default: the only one in ./studies]")
@PLUGIN_FILES
@TIME_LIMIT
@MEMORY_LIMIT
@click.pass_context
def replay(
    context: click.Context,
    cell: str,
    study: Path | None,
    plugin_files: tuple[Path, ...],
    time_limit: float,
    memory_limit: float,
) -> None:
    """Recompute a cell's counterexample from its graph, or its audit; CELL is an id or how one begins.

    `aacbench status --cells` lists the cells of a study with their ids.

    \b
    aacbench replay 3f9a                               in the only study in ./studies
    aacbench replay 3f9a --study studies/mine --plugin mine.py
    """
    from aacbench.cli.cells import find_cell
    from aacbench.library.options import limits_of
    from aacbench.library.running import config_of
    from aacbench.run.replay import replay as replay_cell
    from aacbench.run.study import read_plan

    root = study_folder(study)
    read_plan(root)  # so that damage to it is reported as such
    found = find_cell(root, cell)
    manager, key = plugins_of(found, plugin_files), found.key
    click.echo(f"{found.cell_id}: {key['label']} on {key['graph']} at {key['budget']:g} B/v, seed {key['seed']}")
    click.echo(f"stored outcome: {found.outcome}" + (f", {found.record['reason']}" if found.record["reason"] else ""))
    digests = {key["method"]: key["plugin_digest"], **key.get("part_digests", {})}
    if any(manager.method(name).origin.digest != digest for name, digest in digests.items()):
        click.echo("note: the method's source has changed since this cell was run")
    lines = replay_cell(config_of(root, manager, limits=limits_of(time_limit, memory_limit)), found)
    _show(lines)
    agree = all(line.agrees for line in lines)
    click.echo("stored and recomputed agree" if agree else "stored and recomputed DIFFER")
    context.exit(0 if agree else MISMATCH)


def plugins_of(cell: "Cell", plugin_files: tuple[Path, ...]) -> "PluginManager":
    """Load the plugins, among which must be the one that has the cell's method."""
    from aacbench.plugins.manager import load_plugins

    manager, method = load_plugins(plugin_files), cell.key["method"]
    if not plugin_files and method not in manager.methods():
        raise UsageError(f"Unknown method {method!r}. Name the file it came from with --plugin.")
    manager.method(method)
    return manager


def _show(lines: "list[Line]") -> None:
    from tabulate import tabulate

    body = [[line.what, line.stored, line.recomputed, "" if line.agrees else "differs"] for line in lines]
    click.echo(tabulate(body, headers=["", "stored", "recomputed", ""], disable_numparse=True))
