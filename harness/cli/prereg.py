"""`aacbench prereg`: the command line; `prereg_actions` and `prereg_verify` do the work."""

from pathlib import Path
from typing import Any

import click

from aacbench.cli.run import run as run_command
from aacbench.cli.shared import AS_JSON, PLUGIN_FILES
from aacbench.library.options import MANY_WORKERS

FILE = click.argument("file", type=click.Path(path_type=Path))


def _not_blank(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.strip():
        raise click.BadParameter("the reason must not be blank.")
    return value.strip()


REASON = click.option("--reason", required=True, prompt="Reason", callback=_not_blank, help="The reason, in words.")
PUBLIC = click.option("--public", help='The public text to draw queries from, if seed_source is "lock".')
DIRTY = click.option("--allow-dirty", is_flag=True, help="Allow uncommitted changes of the file in git.")


@click.group()
def prereg() -> None:
    """Register predictions, lock them, run them, and judge them from the rows.

    \b
    aacbench prereg new prereg/mine.toml --from quick   write a registration to fill in
    aacbench prereg plan prereg/mine.toml               compute its statistical power
    aacbench prereg lock prereg/mine.toml               lock it: later changes are detected
    aacbench prereg run prereg/mine.toml                run what was locked
    aacbench prereg verify prereg/mine.toml             check everything and print the verdicts
    """


@prereg.command()
@FILE
@click.option("--from", "source", metavar="NAME", help="A protocol, or a registration that comes with aacbench.")
@click.option("--title", help="The title, in one line.")
def new(file: Path, source: str | None, title: str | None) -> None:
    """Write a registration to fill in, with comments."""
    from aacbench.cli.prereg_actions import write_new
    from aacbench.prereg.files import shipped
    from aacbench.prereg.lock import UNDECIDED

    if source is None:
        source = click.prompt("Protocol to start from", default="quick")
        title = title or click.prompt("Title, in one line")
    if title is None:
        title = "" if source in shipped() else UNDECIDED
    click.echo(write_new(file, source, title))


@prereg.command()
@FILE
@click.option("--pilot", type=click.Path(path_type=Path), help="An earlier study to take the spread from.")
@PLUGIN_FILES
@AS_JSON
def plan(file: Path, pilot: Path | None, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """Print the statistical power of a registration, and how many seeds or queries it needs."""
    from aacbench.cli.prereg_actions import print_plan

    print_plan(file, pilot, plugin_files, as_json)


@prereg.command()
@FILE
@PLUGIN_FILES
@DIRTY
def lock(file: Path, plugin_files: tuple[Path, ...], allow_dirty: bool) -> None:
    """Lock a registration: plan every cell, and hash everything."""
    from aacbench.cli.prereg_actions import lock_file

    click.echo(lock_file(file, plugin_files, allow_dirty))


@prereg.command()
@FILE
@REASON
@PLUGIN_FILES
@DIRTY
def amend(file: Path, reason: str, plugin_files: tuple[Path, ...], allow_dirty: bool) -> None:
    """Lock the changed file in place of the old lock; the ledger keeps the past."""
    from aacbench.cli.prereg_actions import amend_file

    click.echo(amend_file(file, reason, plugin_files, allow_dirty))


@prereg.command()
@FILE
@click.option("--what", "what", multiple=True, help="What differs, such as plugin; repeatable.  [default: all]")
@REASON
@PLUGIN_FILES
@PUBLIC
def deviate(file: Path, what: tuple[str, ...], reason: str, plugin_files: tuple[Path, ...], public: str | None) -> None:
    """Declare how a run deviated, or would deviate now, from the lock.

    Make the change first, such as mending a plugin: the ledger keeps its exact digests before and after.
    """
    from aacbench.cli.prereg_actions import declare_deviation

    click.echo(declare_deviation(file, what, reason, plugin_files, public))


@prereg.command()
@FILE
@REASON
def withdraw(file: Path, reason: str) -> None:
    """Withdraw a registration; it stays in the ledger."""
    from aacbench.cli.prereg_actions import end_registration

    click.echo(end_registration(file, "withdraw", reason))


@prereg.command()
@FILE
@REASON
def close(file: Path, reason: str) -> None:
    """Close a registration: nothing more will be run or amended."""
    from aacbench.cli.prereg_actions import end_registration

    click.echo(end_registration(file, "close", reason))


@prereg.command()
@FILE
@click.option("--ssh", type=click.Path(path_type=Path), help="Sign the lock with this ssh key.")
@click.option("--git-tag", metavar="NAME", help="Sign a git tag that names the lock.")
@click.option("--request", is_flag=True, help="Write an RFC 3161 request for a time stamp authority.")
@click.option("--rfc3161", type=click.Path(path_type=Path), help="Store the authority's answer.")
@click.option("--ca", type=click.Path(path_type=Path), help="The authority's certificates, to keep beside the answer.")
def anchor(file: Path, **options: Any) -> None:
    """Anchor the lock by an ssh signature, a signed git tag or a time stamp."""
    from aacbench.cli.prereg_actions import anchor_file

    click.echo(anchor_file(file, **options))


@prereg.command()
@FILE
@AS_JSON
def status(file: Path, as_json: bool) -> None:
    """Print the state and history of a registration."""
    from aacbench.cli.prereg_actions import print_status

    print_status(file, as_json)


@prereg.command()
@click.argument("file", required=False, metavar="[FILE|NAME]")
@click.option("--study", type=click.Path(path_type=Path), help="The folder of the study.  [default: as in the ledger]")
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A certificate (PEM) whose time stamps you trust; repeatable.",
)
@click.option("--gate", is_flag=True, help="Exit with 10 if a prediction is falsified, with 12 if one is inconclusive.")
@AS_JSON
@click.pass_context
def verify(context: click.Context, /, file: str | None, **options: Any) -> None:
    """Check that everything is as locked and run, and judge every prediction from the rows.

    Without FILE, verify every registration in prereg/ and studies/*/prereg/.
    """
    from aacbench.cli.prereg_verify import verify_all

    context.exit(verify_all(file, **options))


@prereg.command()
@FILE
@PLUGIN_FILES
@PUBLIC
@click.option("--workers", type=click.IntRange(1, MANY_WORKERS), help="Worker processes.")
@click.option("--out", type=click.Path(path_type=Path), help="The study's folder.  [default: studies/NAME]")
@click.pass_context
def run(context: click.Context, /, file: Path, plugin_files: tuple[Path, ...], **options: Any) -> None:
    """Run what was locked; `aacbench run --prereg FILE` does the same with more options."""
    given = {name: value for name, value in options.items() if value is not None}
    context.invoke(run_command, prereg=file, plugin_files=plugin_files, **given)
