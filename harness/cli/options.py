"""Click options, arguments and callbacks that several commands share."""

from pathlib import Path

import click

from aacbench.errors import UsageError

FOLDER = click.Path(path_type=Path)
STUDY = click.argument("study", required=False, type=FOLDER)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")


def positive(_: click.Context, __: click.Parameter, value: float) -> float:
    if not 0 < value < float("inf"):  # refuses nan too
        raise click.BadParameter(f"{value} is not a positive number.")
    return value


def existing_files(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    for file in files:
        if not file.is_file():
            raise UsageError(f"Plugin file {file} does not exist.")
    return files


PLUGIN_FILES = click.option(
    "--plugin",
    "plugin_files",
    multiple=True,
    metavar="FILE",
    type=FOLDER,
    callback=existing_files,
    help="Load a plugin from a Python file; may be given several times.",
)
