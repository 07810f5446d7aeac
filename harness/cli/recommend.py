"""`aacbench recommend`: the heuristic for a graph and a memory budget, measured on that graph."""

from typing import Any

import click

from aacbench.cli.shared import (
    AS_JSON,
    FOLDER,
    MEMORY_LIMIT,
    PLUGIN_FILES,
    TIME_LIMIT,
    WORKERS,
    echo_json,
    positive,
    stop_by_signals,
)
from aacbench.library.options import REPETITIONS
from aacbench.processes.pool import start_server
from aacbench.run.exit_codes import ALL_OK, NOTHING_RAN


@click.command()
@click.argument("graph")
@click.option(
    "--budget", default=64.0, show_default=True, type=float, callback=positive, help="Bytes per vertex that you have."
)
@click.option("--methods", help="Candidates, as for `aacbench run`.  [default: those of the protocol recommend]")
@click.option("--queries", help="V/T for validation and test, or a .csv or .scen file of your own queries.")
@PLUGIN_FILES
@WORKERS
@click.option("--repetitions", default=REPETITIONS, show_default=True, type=click.IntRange(1), help="Times per query.")
@click.option("--out", type=FOLDER, help="The folder of the study behind it.  [default: studies/recommend-DIGEST]")
@TIME_LIMIT
@MEMORY_LIMIT
@AS_JSON
@click.pass_context
def recommend(context: click.Context, /, graph: str, budget: float, as_json: bool, **options: Any) -> None:
    """Run the methods that can be deployed on GRAPH, a name or a file, and name the fastest within the budget.

    It is a study of the protocol `recommend`: the same command again goes on where it stopped, and every other
    command reads it.

    \b
    aacbench recommend road-5000 --budget 64
    aacbench recommend file:city.gr --budget 32 --queries trips.csv
    aacbench recommend dimacs:NY --methods alt,greedy-train --json
    """
    from aacbench.library.recommending import recommend as recommended

    stop_by_signals()
    start_server()
    found = recommended(graph, budget, **options)
    if as_json:
        echo_json(found.record())
    else:
        click.echo(found.text())
    context.exit(ALL_OK if found.best is not None else found.exit_code or NOTHING_RAN)
