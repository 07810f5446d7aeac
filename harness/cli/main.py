"""The `aacbench` command: subcommands imported on demand, and errors printed as one sentence."""

import errno
import gc
import sys
import warnings
from importlib import import_module
from pathlib import Path

import click

from aacbench.errors import AacbenchError, ClusterError, DamagedCellError, DamagedPlanError, LockError
from aacbench.run.exit_codes import MISMATCH, SOME_FAILED, USAGE
from aacbench.util.text import one_line
from aacbench.version import VERSION

# By what a user wants to do: name -> (module:attribute, summary). Listing the commands must not import them.
GROUPS = {
    "Run a study": {
        "run": ("aacbench.cli.run:run", "Run a protocol: methods on graphs at budgets, to a table."),
        "recommend": ("aacbench.cli.recommend:recommend", "Find the heuristic for a graph and a memory budget."),
        "protocols": ("aacbench.cli.protocols:protocols", "List the protocols, or show one."),
        "methods": ("aacbench.cli.methods:methods", "List the methods, or show one: claims, parameters, an example."),
        "graphs": ("aacbench.cli.graphs:graphs", "List the graphs, or show one."),
        "encoders": ("aacbench.cli.encoders:encoders", "List the encoders of maps, or show one: labels, parameters."),
        "maps": ("aacbench.cli.maps:maps", "List the map sets, show one, write terrain as files, or check files."),
    },
    "Read the results": {
        "studies": ("aacbench.cli.studies:studies", "List the studies, and what each folder holds."),
        "status": ("aacbench.cli.results:status", "Show the progress of a study, what is damaged, and its cells."),
        "report": ("aacbench.cli.results:report", "Print the tables of a study: Markdown, CSV, LaTeX or JSON."),
        "compare": ("aacbench.cli.results:compare", "Compare two methods query by query."),
        "stats": ("aacbench.cli.results:stats", "Test whether two methods differ, or are equivalent."),
        "records": ("aacbench.cli.records:records", "The best of those tried on each graph within each budget."),
        "paper": ("aacbench.cli.paper:paper", "Replay the tables and figures of the AAC paper."),
    },
    "Use the cells of a study": {
        "replay": ("aacbench.cli.replay:replay", "Build a cell again and recompute what it was judged by."),
        "export": ("aacbench.cli.export:export", "Copy the heuristic of a cell into a folder, to deploy it."),
        "delete": ("aacbench.cli.delete:delete", "Delete a study, some of its cells, or its artifacts."),
    },
    "Write a method of your own": {
        "new-method": ("aacbench.cli.new_method:new_method", "Write a package with a template of a method."),
        "check": ("aacbench.cli.check:check", "Check that a method keeps its claims, on a zoo of small graphs."),
        "plugins": ("aacbench.cli.plugins:plugins", "List plugins, their methods, and their problems."),
    },
    "Predict before you look": {
        "prereg": ("aacbench.cli.prereg:prereg", "Register predictions, lock them, run them, and judge them."),
    },
}
COMMANDS = {name: entry for commands in GROUPS.values() for name, entry in commands.items()}


# When Python looks for garbage: else, beside the cells of a large study, that takes a third of the time.
RARELY = (50_000, 20, 100)
_UNUSABLE = (errno.ENAMETOOLONG, errno.EACCES)  # errors of a name that a user gave, wherever they show
_ELSEWHERE = {
    errno.EMFILE: "Too many files are open; raise the limit (ulimit -n 1024).",
    errno.ENOSPC: "The output cannot be written: its disk is full.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in commands.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="aacbench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def group(debug: bool) -> None:
    """Compare A* heuristics at matched memory, honestly.

    \b
    aacbench run                     a first table on the embedded graphs
    aacbench run --methods alt,cdh --graphs road-5000 --budgets 16,32
    aacbench methods cdh             what a method claims and takes
    aacbench encoders                what predicts the costs of maps from images
    aacbench COMMAND --help          more about a command, with examples
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command; print an error as one sentence, and exit with 2, or with 4 for damage."""
    words = sys.argv[1:] if arguments is None else arguments
    warnings.formatwarning = _as_sentence
    gc.set_threshold(*RARELY)
    try:
        group.main(args=words, prog_name="aacbench")
    except AacbenchError as error:
        if "--debug" in words:
            raise
        click.echo(f"aacbench: {error}", err=True)
        sys.exit(_exit_code(error))
    except OSError as error:
        sentence = _sentence(error)
        if not sentence or "--debug" in words:
            raise
        click.echo(f"aacbench: {sentence}", err=True)
        sys.exit(USAGE)


def _as_sentence(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning of ours as one line, and any other with the place that it comes from."""
    if category.__module__.startswith("aacbench."):
        return f"aacbench: {message}\n"
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"


def _exit_code(error: AacbenchError) -> int:
    if isinstance(error, ClusterError):
        return SOME_FAILED  # as for a run that was stopped: what is finished is kept
    return MISMATCH if isinstance(error, LockError | DamagedPlanError | DamagedCellError) else USAGE


def _sentence(error: OSError) -> str:
    """What to say of an error of the user's names or machine; empty for any other."""
    if error.errno in _UNUSABLE and error.filename is not None:
        name = one_line(str(error.filename), 100)
        return f"{name} cannot be used ({error.strerror}); choose another name or folder."
    if isinstance(error, FileNotFoundError) and not _has_folder():
        return "The folder that this was started in is gone; change to another one."
    return _ELSEWHERE.get(error.errno or 0, "")


def _has_folder() -> bool:
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False
