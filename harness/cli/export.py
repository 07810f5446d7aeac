"""`aacbench export`: copy the heuristic of a cell out of a study, as it was measured, to deploy it."""

from pathlib import Path

import click

from aacbench.cli.shared import FOLDER, MEMORY_LIMIT, PLUGIN_FILES, TIME_LIMIT, limits_of, study_folder
from aacbench.errors import UsageError


@click.command()
@click.argument("cell")
@click.argument("folder", type=FOLDER)
@click.option("--study", type=FOLDER, help="The study.  [default: the only one in ./studies]")
@PLUGIN_FILES
@TIME_LIMIT
@MEMORY_LIMIT
def export(
    cell: str, folder: Path, study: Path | None, plugin_files: tuple[Path, ...], time_limit: float, memory_limit: float
) -> None:
    """Copy the bundle of a cell into a new FOLDER; CELL is an id or how one begins.

    A bundle holds the arrays that were measured and bundle.json, which says what they are. In Python,
    aacbench.load_bundle(FOLDER) answers queries with it. Where the bundle was pruned, it is built again.

    \b
    aacbench export 3f9a alt-on-ny                       from the only study in ./studies
    aacbench export 3f9a mine --study studies/mine --plugin mine.py
    """
    from aacbench.bundle.store import copy_bundle
    from aacbench.cli.replay import find_cell, plugins_of
    from aacbench.cli.running import config_of
    from aacbench.run.build import bundle_info
    from aacbench.run.rebuild import restored, stored_bundle
    from aacbench.run.run_config import plan_of
    from aacbench.util.atomic_io import storing

    root = study_folder(study)
    found = find_cell(root, cell)
    if folder.exists():
        raise UsageError(f"{folder} exists already; name a new folder.")
    bundle = stored_bundle(root, found)
    if bundle is None:
        config = config_of(root, plugins_of(found, plugin_files), limits=limits_of(time_limit, memory_limit))
        bundle = restored(config, found)
    # Cells may share a bundle, which describes the first of them.
    info = bundle_info(plan_of(found.key), found.record["claims"], found.record["build"])
    with storing(folder, "name another folder"):
        copy_bundle(bundle, folder, {"cell": found.cell_id, "outcome": found.outcome, **info})
    size = sum(file.stat().st_size for file in folder.iterdir())
    key = found.key
    click.echo(f"{folder}: {key['label']} on {key['graph']} at {key['budget']:g} B/v, seed {key['seed']}, {size} bytes")
    if found.outcome != "ok":
        click.echo(f"aacbench: This cell is {found.outcome} ({found.record['reason']}); do not rely on it.", err=True)
    click.echo(f'In Python: aacbench.load_bundle("{folder}").route(source, target)')
