"""The top of the `aacbench` command: lazy subcommands, and the one place where an error becomes a sentence."""

import sys
from importlib import import_module

import click

from aacbench.cli.codes import MISMATCH, USAGE
from aacbench.errors import AacbenchError, DamagedCellError, DamagedPlanError, LockError
from aacbench.version import VERSION

# name -> (where it is, what it does): the help must not import numpy to say so.
COMMANDS = {
    "run": ("aacbench.cli.run:run", "Run a protocol: methods on graphs at budgets, to a table."),
    "status": ("aacbench.cli.status:status", "Say how far a study has come, and what is damaged."),
    "report": ("aacbench.cli.status:report", "Print the tables of a study again."),
    "compare": ("aacbench.cli.compare:compare", "Compare two methods query by query."),
    "stats": ("aacbench.cli.stats:stats", "Test whether two methods differ, or are equivalent."),
    "replay": ("aacbench.cli.replay:replay", "Recompute the counterexample of a cell that came out wrong."),
    "export": ("aacbench.cli.export:export", "Copy the heuristic of a cell into a folder, to deploy it."),
    "graphs": ("aacbench.cli.graphs:graphs", "List the graphs there are, or show one."),
    "plugins": (
        "aacbench.cli.plugins:plugins",
        "List plugins, their methods, and what is wrong with them.",
    ),
    "check": ("aacbench.cli.check:check", "Check that a method keeps its claims, on a zoo of small graphs."),
    "new-method": ("aacbench.cli.new_method:new_method", "Write a package with a method of your own to begin with."),
    "prereg": ("aacbench.cli.prereg:prereg", "Write down what is predicted, lock it, run it, and have it judged."),
    "protocols": ("aacbench.cli.protocols:protocols", "List the protocols there are, or show one."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands there are."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="aacbench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def group(debug: bool) -> None:
    """Compare A* heuristics at matched memory, honestly.

    \b
    aacbench run                  a first table on the embedded graphs
    aacbench graphs               which graphs there are, and where their files lie
    aacbench graphs show p7       what one of them looks like
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command; what is wrong comes out as one sentence, and as exit code 2, or 4 for what is damaged."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        group.main(args=words, prog_name="aacbench")
    except AacbenchError as error:
        if "--debug" in words:
            raise
        click.echo(f"aacbench: {error}", err=True)
        sys.exit(MISMATCH if isinstance(error, LockError | DamagedPlanError | DamagedCellError) else USAGE)
