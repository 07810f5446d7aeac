"""`aacbench delete`: remove a study, some of its cells, or what it can compute again."""

from collections.abc import Callable
from pathlib import Path

import click

from aacbench.cli.shared import FOLDER, study_folder
from aacbench.errors import UsageError


@click.command()
@click.argument("study", type=FOLDER)
@click.option("--cell", "cells", multiple=True, metavar="ID", help="Delete this cell only; may be given several times.")
@click.option("--artifacts", is_flag=True, help="Delete pools and bundles only; they are computed again when needed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(study: Path, cells: tuple[str, ...], artifacts: bool, yes: bool) -> None:
    """Delete the folder STUDY, or with --cell or --artifacts a part of it. Asks first.

    Files that are not part of the study stay. A study that a run works on is refused. `aacbench run` runs deleted
    cells again.

    \b
    aacbench delete studies/quick
    aacbench delete studies/quick --cell 3f9a1b2c
    aacbench delete studies/quick --artifacts --yes
    """
    from aacbench.cli.cells import find_id
    from aacbench.run.deletion import delete_artifacts, delete_cells, delete_study
    from aacbench.run.layout import REGISTRATION

    if cells and artifacts:
        raise click.UsageError("Give --cell or --artifacts, not both.")
    root = study_folder(study)
    names = list(dict.fromkeys(find_id(root, cell) for cell in cells))
    what: str
    act: Callable[[], None]
    if names:
        what, act = f"{_cells(names)} in {root}", lambda: delete_cells(root, names)
    elif artifacts:
        what, act = f"the artifacts of {root}", lambda: delete_artifacts(root)
    else:
        what, act = f"the study {root}", lambda: delete_study(root)
    if not artifacts and (root / REGISTRATION).exists():
        click.echo("aacbench: This study is registered: `aacbench prereg verify` will name what is missing.", err=True)
    if not yes and not _confirmed(what):
        raise click.Abort
    act()
    others = sorted(path.name for path in root.iterdir()) if not names and not artifacts and root.exists() else []
    left = f"; {', '.join(others)} stayed, which is not part of it" if others else ""
    click.echo(f"Deleted {what}{left}.")


def _confirmed(what: str) -> bool:
    try:
        return click.confirm(f"Delete {what}?")
    except click.Abort:  # Ctrl-C, or a script without input
        raise UsageError(
            f"Nothing was deleted: nobody answered. Add --yes to delete {what} without being asked."
        ) from None


def _cells(names: list[str]) -> str:
    from aacbench.run.layout import SHORT_DIGITS

    return f"{'cell' if len(names) == 1 else 'cells'} {', '.join(name[:SHORT_DIGITS] for name in names)}"
