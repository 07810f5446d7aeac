"""Which study a command means: the folder given, or the only one there is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.errors import UsageError
from aacbench.util.canonical import finite

if TYPE_CHECKING:
    from aacbench.run.study import StudyContents

STUDIES = Path("studies")

FOLDER = click.Path(path_type=Path)
STUDY = click.argument("study", required=False, type=FOLDER)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")


def study_folder(given: Path | None) -> Path:
    """The study given, or the only one in ./studies."""
    from aacbench.run.layout import PLAN

    if given is not None:
        if not (given / PLAN).is_file():
            raise UsageError(f"there is no study in {given}, which would have a {PLAN}; name the folder of one.")
        return given
    found = sorted(path.parent for path in STUDIES.glob(f"*/{PLAN}"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"there is no study in ./{STUDIES}; name its folder, or begin one with `aacbench run`.")
    raise UsageError(f"say which study is meant: {', '.join(map(str, found))}.")


def tell_damage(contents: "StudyContents") -> None:
    """Say, each in a sentence, which cells of a study are not as they were written."""
    for sentence in contents.damaged.values():
        click.echo(f"aacbench: {sentence}", err=True)


def echo_json(value: Any) -> None:
    """Print a value as JSON; what is not a number is null."""
    click.echo(json.dumps(finite(value), indent=2, allow_nan=False))
