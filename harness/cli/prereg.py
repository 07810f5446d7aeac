"""`aacbench prereg`: the commands of a registration, from its first line to its verdicts."""

from pathlib import Path
from typing import Any

import click

from aacbench.cli.options import AS_JSON, PLUGIN_FILES
from aacbench.cli.run import MANY_WORKERS
from aacbench.cli.run import run as run_command

FILE = click.argument("file", type=click.Path(path_type=Path))


def _in_words(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.strip():
        raise click.BadParameter("say why, in words.")
    return value.strip()


REASON = click.option("--reason", required=True, prompt="Why", callback=_in_words, help="Why, in words.")
DIRTY = click.option("--allow-dirty", is_flag=True, help="Even though git has uncommitted changes of it.")


@click.group()
def prereg() -> None:
    """Write down what is predicted, lock it, run it, and have it judged from the rows.

    \b
    aacbench prereg new prereg/mine.toml --from quick   a registration to fill in
    aacbench prereg plan prereg/mine.toml               what it has the power to show
    aacbench prereg lock prereg/mine.toml               from here on every change is told
    aacbench prereg run prereg/mine.toml                the run, bound to the lock
    aacbench prereg verify prereg/mine.toml             what holds, and the verdicts
    """


@prereg.command()
@FILE
@click.option("--from", "source", metavar="NAME", help="A protocol to begin with, or a registration that comes along.")
@click.option("--title", help="What it is about, in a line.")
def new(file: Path, source: str | None, title: str | None) -> None:
    """Write a registration to fill in, with a comment on every key."""
    from aacbench.cli.preregistering import write_new
    from aacbench.prereg.lock import UNDECIDED
    from aacbench.prereg.shipped import shipped

    if source is None:
        source = click.prompt("Which protocol is it to begin with", default="quick")
        title = title or click.prompt("What is it about, in a line")
    if title is None:
        title = "" if source in shipped() else UNDECIDED
    click.echo(write_new(file, source, title))


@prereg.command()
@FILE
@click.option("--pilot", type=click.Path(path_type=Path), help="A study with earlier rows, for the spread over seeds.")
@AS_JSON
def plan(file: Path, pilot: Path | None, as_json: bool) -> None:
    """Say what the registration has the power to show, and how many seeds it would need."""
    from aacbench.cli.preregistering import show_plan

    show_plan(file, pilot, as_json)


@prereg.command()
@FILE
@PLUGIN_FILES
@DIRTY
def lock(file: Path, plugin_files: tuple[Path, ...], allow_dirty: bool) -> None:
    """Lock a registration: everything is spelt out, down to each cell, and hashed."""
    from aacbench.cli.preregistering import lock_file

    click.echo(lock_file(file, plugin_files, allow_dirty))


@prereg.command()
@FILE
@REASON
@PLUGIN_FILES
@DIRTY
def amend(file: Path, reason: str, plugin_files: tuple[Path, ...], allow_dirty: bool) -> None:
    """Put the file as it is now in the place of what was locked; the past stays in the ledger."""
    from aacbench.cli.preregistering import amend_file

    click.echo(amend_file(file, reason, plugin_files, allow_dirty))


@prereg.command()
@FILE
@click.option("--what", "what", multiple=True, required=True, help="What differs, such as seed or plugin; repeatable.")
@REASON
def deviate(file: Path, what: tuple[str, ...], reason: str) -> None:
    """Declare that something was or will be done otherwise than locked."""
    from aacbench.cli.preregistering import deviate_from

    click.echo(deviate_from(file, what, reason))


@prereg.command()
@FILE
@REASON
def withdraw(file: Path, reason: str) -> None:
    """Take a registration back; it stays in the ledger."""
    from aacbench.cli.preregistering import end

    click.echo(end(file, "withdraw", reason))


@prereg.command()
@FILE
@REASON
def close(file: Path, reason: str) -> None:
    """Say that nothing more will be run or amended."""
    from aacbench.cli.preregistering import end

    click.echo(end(file, "close", reason))


@prereg.command()
@FILE
@click.option("--ssh", type=click.Path(path_type=Path), help="Sign the lock with this ssh key.")
@click.option("--git-tag", metavar="NAME", help="Sign a git tag that names the lock.")
@click.option("--request", is_flag=True, help="Write the RFC 3161 request for a time stamp authority.")
@click.option("--rfc3161", type=click.Path(path_type=Path), help="Keep the authority's answer.")
@click.option("--ca", type=click.Path(path_type=Path), help="The authority's certificate, to check the answer with.")
def anchor(file: Path, **options: Any) -> None:
    """Tie the lock to something outside: a key, a git tag, a time stamp."""
    from aacbench.cli.preregistering import anchor_file

    click.echo(anchor_file(file, **options))


@prereg.command()
@FILE
@AS_JSON
def status(file: Path, as_json: bool) -> None:
    """Say how far a registration has come."""
    from aacbench.cli.preregistering import show_status

    show_status(file, as_json)


@prereg.command()
@click.argument("file", required=False, metavar="[FILE|NAME]")
@click.option("--study", type=click.Path(path_type=Path), help="Where the rows are.  [default: where the ledger says]")
@click.option("--gate", is_flag=True, help="End with 10 where a prediction is falsified, with 12 where one is open.")
@AS_JSON
@click.pass_context
def verify(context: click.Context, /, file: str | None, study: Path | None, gate: bool, as_json: bool) -> None:
    """Check that everything is as it was locked and run, and judge every prediction from the rows.

    Without FILE, every registration in prereg/ and studies/*/prereg/ is verified.
    """
    from aacbench.cli.prereg_verify import verify_all

    context.exit(verify_all(file, study, gate, as_json))


@prereg.command()
@FILE
@PLUGIN_FILES
@click.option("--public", help='The public text that queries are drawn from, where seed_source is "lock".')
@click.option("--workers", type=click.IntRange(1, MANY_WORKERS), help="Worker processes.")
@click.option("--out", type=click.Path(path_type=Path), help="The study's folder.  [default: studies/NAME]")
@click.pass_context
def run(context: click.Context, /, file: Path, plugin_files: tuple[Path, ...], **options: Any) -> None:
    """Run what was locked; the same as `aacbench run --prereg FILE`, which has more options."""
    given = {name: value for name, value in options.items() if value is not None}
    context.invoke(run_command, prereg=file, plugin_files=plugin_files, **given)
