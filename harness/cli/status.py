"""`aacbench status` and `aacbench report`: read a study's store without running anything, plugins included."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from aacbench.cli.options import AS_JSON, STUDY
from aacbench.cli.studies import ALL_OK, MISMATCH, echo_json, report_damage, study_folder


@click.command()
@STUDY
@AS_JSON
@click.pass_context
def status(context: click.Context, study: Path | None, as_json: bool) -> None:
    """Show the progress of a study, its damaged cells, and its last run.

    \b
    aacbench status                    the only study in ./studies
    aacbench status studies/valsplit
    """
    facts = _facts(study_folder(study))
    code = MISMATCH if facts["damaged"] else ALL_OK
    if as_json:
        echo_json(facts)
        context.exit(code)
    click.echo(f"{facts['study']}: {facts['done']} of {facts['planned']} planned cells are there")
    for outcome, count in facts["outcomes"].items():
        click.echo(f"  {outcome:14}{count:6}")
    if facts["unplanned"]:
        click.echo(f"  {len(facts['unplanned'])} more cells are not in the current plan")
    for sentence in facts["damaged"].values():
        click.echo(f"damaged: {sentence}")
    click.echo(_last_run(facts["last_run"]))
    context.exit(code)


@click.command()
@STUDY
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with full precision instead of Markdown.")
@AS_JSON
@click.pass_context
def report(context: click.Context, study: Path | None, as_csv: bool, as_json: bool) -> None:
    """Print the tables of a study from its stored rows; damaged cells are reported and left out.

    \b
    aacbench report studies/quick                      Markdown to paste
    aacbench report studies/quick --csv > quick.csv    full precision, for a script
    """
    from aacbench.reports import latency, tables
    from aacbench.reports.formatting import study_notes
    from aacbench.run.study import read_study

    root = study_folder(study)
    contents = read_study(root)
    report_damage(contents)
    cells = contents.planned_cells()
    rows, times = tables.rows_of(cells), latency.latencies(cells)
    if as_json:
        echo_json({"study": str(root), "results": list(map(asdict, rows)), "latencies": list(map(asdict, times))})
    elif as_csv:
        click.echo(tables.csv_text(rows), nl=False)
    else:
        click.echo(tables.markdown(rows, study_notes(contents.plan)))
        if times:
            click.echo("\n" + latency.markdown(times))
    context.exit(MISMATCH if contents.damaged else ALL_OK)


def _facts(root: Path) -> dict[str, Any]:
    from aacbench.run.study import summary

    counted = summary(root)
    done = counted.planned - len(counted.missing)
    return {"study": str(root), "done": done, **asdict(counted), "last_run": _run_record(root)}


def _run_record(root: Path) -> dict[str, Any] | None:
    from aacbench.run.events import RUN_FILE
    from aacbench.run.layout import RUNS

    file = max((root / RUNS).glob(f"*/{RUN_FILE}"), default=None)
    if file is None:
        return None
    try:
        record = json.loads(file.read_bytes())
        return {"run": record["run"], "started": record["started"], "finished": record.get("finished")}
    except (OSError, ValueError, LookupError, TypeError):  # a damaged log says nothing about the cells
        return {"run": file.parent.name, "started": None, "finished": None}


def _last_run(record: dict[str, Any] | None) -> str:
    if record is None:
        return "never run"
    if record["started"] is None:
        return f"the log of the last run, {record['run']}, cannot be read; the cells are not affected"
    end = f"finished {record['finished']}" if record["finished"] else "not finished: still running, or stopped"
    return f"last run started {record['started']}, {end}"
