"""The tables of `aacbench report --by`, each of which is printed alone."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from aacbench.cli.shared import echo_json
from aacbench.errors import UsageError
from aacbench.reports import buckets, controls, facts, tables
from aacbench.reports.formatting import table_notes
from aacbench.run.study import StudyContents


def echo_table(by: str, root: Path, contents: StudyContents, form: str) -> None:
    """Print results by bucket, by variant, or with the facts of the builds; `form` is markdown, csv, latex or json."""
    record, texts = {"bucket": _buckets, "variant": _variants, "facts": _facts}[by](contents)
    if form == "json":
        echo_json({"study": str(root), **record})
        return
    if form not in texts:
        raise click.UsageError(f"Option --by {by} prints Markdown, CSV or JSON; leave out --{form}.")
    click.echo(texts[form].removesuffix("\n"))


def _buckets(contents: StudyContents) -> tuple[dict[str, Any], dict[str, str]]:
    rows = buckets.rows_of(contents.own_cells())
    mode = (contents.plan or {}).get("study", {}).get("queries", {}).get("mode", "")
    text = buckets.markdown(rows, mode, table_notes(contents.plan))
    return {"buckets": list(map(asdict, rows))}, {"markdown": text, "csv": buckets.csv_text(rows)}


def _variants(contents: StudyContents) -> tuple[dict[str, Any], dict[str, str]]:
    found = controls.controls_of(contents)
    if found is None:
        raise UsageError("This study has no variants of two methods; `aacbench run --protocol controls` has some.")
    texts = {"markdown": controls.markdown(found), "csv": controls.csv_text(found), "latex": controls.latex(found)}
    return {"controls": controls.record(found)}, texts


def _facts(contents: StudyContents) -> tuple[dict[str, Any], dict[str, str]]:
    cells = contents.planned_cells()
    rows = facts.rows_of(tables.rows_of(cells), cells)
    texts = {"markdown": facts.markdown(rows), "csv": facts.csv_text(rows), "latex": facts.latex(rows)}
    return {"facts": facts.records(rows)}, texts
