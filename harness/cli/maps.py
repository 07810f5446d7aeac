"""`aacbench maps`: list the map sets, describe one, write generated terrain as files, and check a folder of files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.shared import PLUGIN_FILES
from aacbench.errors import UsageError
from aacbench.library.plugins import load_files
from aacbench.maps.names import DEFAULT_COUNTS, FOLDER_PREFIX, describe, terrain_of

if TYPE_CHECKING:  # numpy would make `aacbench --help` slow
    from aacbench.maps.record import MapSet

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group(invoke_without_command=True)
@AS_JSON
@PLUGIN_FILES
@click.pass_context
def maps(context: click.Context, as_json: bool, plugin_files: tuple[Path, ...]) -> None:
    """List the map sets: images of terrain with the cost of every cell."""
    if context.invoked_subcommand is not None:
        return
    own = load_files(plugin_files).map_sets().values()
    others = [(each.source.name, f"plugin {each.origin.where}", each.source.summary) for each in own]
    rows = [dict(zip(("name", "where", "summary"), row, strict=True)) for row in (*describe(), *others)]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    from tabulate import tabulate

    click.echo(tabulate([list(row.values()) for row in rows], headers=("name", "where", "summary")))
    click.echo(f"\nAlso terrain-SIDE-sSEED, and {FOLDER_PREFIX}FOLDER for a folder of files in the original's form.")


@maps.command()
@click.argument("name")
@AS_JSON
def show(name: str, as_json: bool) -> None:
    """Load one map set and print its size, its splits and its digest."""
    from aacbench.maps.load import load_maps

    _print(load_maps(name), as_json)


@maps.command()
@click.argument("name")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder for the files.")
@click.option("--train", default=DEFAULT_COUNTS["train"], show_default=True, type=click.IntRange(1))
@click.option(
    "--val",
    default=DEFAULT_COUNTS["validation"] + DEFAULT_COUNTS["calibration"],
    show_default=True,
    type=click.IntRange(2),
    help="Half of them for validation, half for calibration.",
)
@click.option("--test", default=DEFAULT_COUNTS["test"], show_default=True, type=click.IntRange(1))
def make(name: str, out: Path, train: int, val: int, test: int) -> None:
    """Write generated terrain as nine .npy files, in the form of the original Warcraft set."""
    from aacbench.maps.files import write_folder
    from aacbench.maps.load import load_maps

    if terrain_of(name) is None:
        raise UsageError(f"{name!r} is not generated; `aacbench maps make` writes terrain, such as terrain-12-s7.")
    if val % 2:
        raise UsageError(f"--val must be even, not {val}: half are for validation, half for calibration.")
    counts = {"train": train, "validation": val // 2, "calibration": val // 2, "test": test}
    for path in write_folder(load_maps(name, counts), out):
        click.echo(f"{path.stat().st_size:>12,} {path}")


@maps.command()
@click.argument("folder", type=click.Path(path_type=Path))
@AS_JSON
def check(folder: Path, as_json: bool) -> None:
    """Check a folder of files in the original's form: shapes, weights, and that each path is a shortest one."""
    from aacbench.maps.load import load_maps

    _print(load_maps(f"{FOLDER_PREFIX}{folder}"), as_json)


def _print(found: "MapSet", as_json: bool) -> None:
    facts = _facts(found)
    if as_json:
        click.echo(json.dumps({**facts, "warnings": list(found.warnings)}, indent=2))
        return
    from tabulate import tabulate

    for warning in found.warnings:
        click.echo(f"aacbench: {warning}", err=True)
    click.echo(tabulate([[key, _text(value)] for key, value in facts.items()], tablefmt="plain", disable_numparse=True))


def _facts(found: "MapSet") -> dict[str, Any]:
    import numpy as np

    values = np.unique(np.concatenate([maps.costs.reshape(-1) for maps in found.splits.values()]))
    return {
        "name": found.name,
        "cells a side": found.side,
        "pixels a cell": found.pixels,
        "unit of cost": found.unit,
        "distinct costs": len(values),
        "labels": found.labelled,
        **{f"{split} maps": count for split, count in found.counts().items()},
        "digest": found.digest,
    }


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
