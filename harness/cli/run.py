"""`aacbench run`: a protocol on graphs, with methods at budgets, to rows on disk and a table on the screen."""

from pathlib import Path
from typing import Any

import click

from aacbench.cli.shared import MEMORY_LIMIT, PLUGIN_FILES, TIME_LIMIT, WORKERS, report_damage, stop_by_signals
from aacbench.library.options import EXECUTORS, REPETITIONS, RunOptions
from aacbench.processes.pool import start_server
from aacbench.run.exit_codes import ALL_OK, NOTHING_RAN

STOPPED = 1  # as for a run that could not finish some of its cells


@click.command()
@click.option("--protocol", help="A protocol's name, or the path of a TOML file.  [default: quick]")
@click.option("--methods", help='Methods, such as "alt[tie=fifo],alt-pool[K0=64],hybrid[a=alt-pool[K0=32],b=alt]".')
@click.option("--graphs", help="Graphs by name, separated by commas.")
@click.option("--maps", help="Map sets by name, in a protocol of the kind context.")
@click.option("--encoders", help='Encoders of the same, such as "true,from-file[path=mine.npy]".')
@click.option("--budgets", help="Bytes per vertex, separated by commas.")
@click.option("--seeds", help="Seeds, separated by commas.")
@click.option(
    "--queries", help="V/T for validation and test, such as 100/100; one number for both; or a .csv or .scen file."
)
@click.option("--search", help="Search policy: modern, paper, or with changes, such as modern,tie=fifo.")
@click.option("--convention", help="Accounting convention, such as measured/1 or directionality-aware/1.")
@click.option("--traffic", help='Weights raised after the build, such as "none,arcs[share=0.05,factor=3]".')
@PLUGIN_FILES
@WORKERS
@click.option(
    "--executor",
    type=click.Choice(EXECUTORS),
    default="local",
    show_default=True,
    help="Where cells run: in processes on this machine, or on a cluster of dask.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="The scheduler of a cluster that is there, such as tcp://HOST:8786."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The study's folder.  [default: studies/PROTOCOL, with a digest behind it where options change the protocol]",
)
@click.option(
    "--existing",
    type=click.Choice(["keep", "retry-failed", "verify", "replace"]),
    default="keep",
    show_default=True,
    help="What to do with cells that are there already.",
)
@TIME_LIMIT
@MEMORY_LIMIT
@click.option("--rebuild", is_flag=True, help="Build a cell of each method once more; it must come out the same.")
@click.option("--time", is_flag=True, help="Time the searches too, alone and in turns, after everything is counted.")
@click.option(
    "--repetitions",
    default=REPETITIONS,
    show_default=True,
    type=click.IntRange(1),
    help="How often each query is timed.",
)
@click.option("--prereg", type=click.Path(path_type=Path), help="A locked registration: run what it says, bound to it.")
@click.option("--public", help='The public text that queries are drawn from, where seed_source is "lock".')
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@click.pass_context
def run(context: click.Context, /, dry_run: bool, **options: Any) -> None:
    """Run a protocol. Results are kept as they come; the same command again goes on where it stopped.

    \b
    aacbench run                                                  the protocol quick, in a minute
    aacbench run --protocol valsplit --methods alt,aac,cdh        the paper's, with these methods
    aacbench run --graphs road-5000,file:city.gr --budgets 16,32  other graphs, other budgets
    aacbench run --plugin mine.py --methods alt,mine --time       a method of your own, timed too
    aacbench run --executor dask --scheduler tcp://HOST:8786      on a cluster: `dask scheduler` prints the address
    """
    stop_by_signals()
    try:
        if not options["scheduler"]:
            start_server()  # first, so that it imports what workers need while this process does the same
        code = _run(RunOptions(**options), dry_run)
    except KeyboardInterrupt:
        click.echo("aacbench: stopped; what is finished is kept, and the same command goes on from there.", err=True)
        code = STOPPED
    context.exit(code)


def _run(options: RunOptions, dry_run: bool) -> int:
    from aacbench.library.running import carry_out, prepare_run

    prepared = prepare_run(options)
    if dry_run:
        click.echo(prepared.plan_text())
        return ALL_OK
    finished = carry_out(prepared, click.echo)
    report_damage(finished.contents)
    if finished.exit_code == NOTHING_RAN:
        click.echo(
            "aacbench: Nothing ran: no method could be run at any budget; the reasons are below the table.", err=True
        )
    return finished.exit_code
