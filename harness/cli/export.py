"""`aacbench export`: copy the heuristic of a cell out of a study to deploy it, or all rows into one file."""

from pathlib import Path
from typing import Any

import click

from aacbench.cli.shared import FOLDER, MEMORY_LIMIT, PLUGIN_FILES, TIME_LIMIT, study_folder
from aacbench.errors import UsageError


@click.command()
@click.argument("cell", required=False)
@click.argument("folder", required=False, type=FOLDER)
@click.option("--study", type=FOLDER, help="The study.  [default: the only one in ./studies]")
@click.option("--method", help="In place of CELL: the method, as tables show it.")
@click.option("--graph", help="With --method: the graph, where there are several.")
@click.option("--budget", type=float, help="With --method: the budget, where there are several.")
@click.option("--seed", type=int, help="With --method: the seed, where there are several.")
@click.option(
    "--parquet", metavar="FILE", type=FOLDER, help="Write the rows of all cells with their keys to this file."
)
@PLUGIN_FILES
@TIME_LIMIT
@MEMORY_LIMIT
@click.pass_context
def export(
    context: click.Context,
    /,
    cell: str | None,
    folder: Path | None,
    study: Path | None,
    method: str | None,
    parquet: Path | None,
    plugin_files: tuple[Path, ...],
    time_limit: float,
    memory_limit: float,
    **place: Any,
) -> None:
    """Copy the bundle of a cell into a new FOLDER; CELL is an id or how one begins. Or write all rows to one file.

    A bundle holds the arrays that were measured and bundle.json, which says what they are. In Python,
    aacbench.load_bundle(FOLDER) answers queries with it. Where the bundle was pruned, it is built again.

    \b
    aacbench status --cells                              the cells and their ids
    aacbench export 3f9a alt-on-ny                       from the only study in ./studies
    aacbench export --method alt --graph dimacs:NY --budget 32 alt-on-ny
    aacbench export 3f9a mine --study studies/mine --plugin mine.py
    aacbench export --parquet rows.parquet               the rows of all cells, for pandas, DuckDB or R
    """
    from aacbench.bundle.store import copy_bundle
    from aacbench.cli.cells import find_cell, find_reported
    from aacbench.cli.replay import plugins_of
    from aacbench.library.options import limits_of
    from aacbench.library.running import config_of
    from aacbench.run.build import bundle_info
    from aacbench.run.rebuild import restored, stored_bundle
    from aacbench.run.run_config import plan_of
    from aacbench.util.atomic_io import storing

    if parquet is not None:
        if any(value is not None for value in (cell, folder, method, *place.values())):
            raise click.UsageError("With --parquet, give only the file, and the study by --study.")
        context.exit(_write_rows(study_folder(study), parquet))
    if method is not None:
        if cell is None or folder is not None:
            raise click.UsageError("With --method, give only the folder to write.")
        folder = Path(cell)
    elif cell is None or folder is None or any(value is not None for value in place.values()):
        raise click.UsageError("Give the id of a cell and a folder, or --method and a folder.")
    root = study_folder(study)
    found = find_reported(root, method, **place) if method is not None else find_cell(root, str(cell))
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


def _write_rows(root: Path, file: Path) -> int:
    """Write the Parquet file, say what is in it, and return the exit code."""
    from aacbench.run.exit_codes import ALL_OK, MISMATCH
    from aacbench.run.parquet import write_parquet
    from aacbench.run.study import read_plan

    written = write_parquet(root, (read_plan(root) or {}).get("cells", ()), file)
    for sentence in written.damaged.values():
        click.echo(f"aacbench: {sentence}", err=True)
    if written.missing:
        click.echo(f"aacbench: planned cells that are missing: {written.missing}; run the study again.", err=True)
    click.echo(f"{file}: {written.rows} rows of {written.cells} cells, {file.stat().st_size} bytes")
    return MISMATCH if written.damaged else ALL_OK
