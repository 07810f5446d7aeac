"""`aacbench status` and `aacbench report`: read a study's store; nothing is run again."""

from pathlib import Path
from typing import Any

import click

from aacbench.cli.codes import MISMATCH
from aacbench.cli.studies import AS_JSON, STUDY, echo_json, study_folder, tell_damage


@click.command()
@STUDY
@AS_JSON
@click.pass_context
def status(context: click.Context, study: Path | None, as_json: bool) -> None:
    """Say how far a study has come, what is damaged, and when it was last run.

    \b
    aacbench status                    the only study in ./studies
    aacbench status studies/valsplit
    """
    facts = _facts(study_folder(study))
    code = MISMATCH if facts["damaged"] else 0
    if as_json:
        echo_json(facts)
        context.exit(code)
    click.echo(f"{facts['study']}: {facts['done']} of {facts['planned']} planned cells are there")
    for outcome, count in facts["outcomes"].items():
        click.echo(f"  {outcome:14}{count:6}")
    if facts["unplanned"]:
        click.echo(f"  besides, {len(facts['unplanned'])} cells are in no current plan")
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
    """Print a study's tables from the rows on disk; what is damaged is told, and not in them.

    \b
    aacbench report studies/quick                      Markdown to paste
    aacbench report studies/quick --csv > quick.csv    every digit, for a script
    """
    from aacbench.reports import latency, tables
    from aacbench.run.study import read_study

    root = study_folder(study)
    contents = read_study(root)
    tell_damage(contents)
    code = MISMATCH if contents.damaged else 0
    cells = contents.planned_cells()
    rows, times = tables.rows_of(cells, _oracles()), latency.latencies(cells)
    if as_json:
        echo_json({"study": str(root), "results": tables.records(rows), "latencies": latency.records(times)})
        context.exit(code)
    if as_csv:
        click.echo(tables.csv_text(rows), nl=False)
        context.exit(code)
    click.echo(tables.markdown(rows, tables.study_notes(contents.plan)))
    if times:
        click.echo("\n" + latency.markdown(times))
    context.exit(code)


def _facts(root: Path) -> dict[str, Any]:
    from aacbench.run.study import summary

    found = summary(root)
    return {
        "study": str(root),
        "planned": found.planned,
        "done": found.planned - len(found.missing),
        "missing": list(found.missing),
        "outcomes": dict(found.outcomes),
        "damaged": dict(found.damaged),
        "unplanned": list(found.unplanned),
        "last_run": _run_record(root),
    }


def _run_record(root: Path) -> dict[str, Any] | None:
    """Start and end of the run that was begun last."""
    import json

    from aacbench.run.events import RUN_FILE
    from aacbench.run.layout import RUNS

    for file in sorted((root / RUNS).glob(f"*/{RUN_FILE}"), reverse=True):
        try:
            record = json.loads(file.read_bytes())
            return {"run": record["run"], "started": record["started"], "finished": record.get("finished")}
        except (OSError, ValueError, LookupError, TypeError):  # a damaged log says nothing about the cells
            return {"run": file.parent.name, "started": None, "finished": None}
    return None


def _last_run(record: dict[str, Any] | None) -> str:
    if record is None:
        return "never run"
    if record["started"] is None:
        return f"the log of the last run, {record['run']}, cannot be read; that changes nothing about the cells"
    end = f"finished {record['finished']}" if record["finished"] else "not finished: still at work, or stopped"
    return f"last run started {record['started']}, {end}"


def _oracles() -> set[str]:
    from aacbench.plugins.manager import load_plugins

    return {name for name, found in load_plugins().methods().items() if found.method.claims.oracle}
