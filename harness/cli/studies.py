"""`aacbench studies`: what each study folder holds, without reading any rows."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aacbench.cli.shared import AS_JSON, FOLDER, echo_json, last_run_text
from aacbench.errors import UsageError
from aacbench.run.layout import STUDIES

if TYPE_CHECKING:
    from aacbench.run.overview import Overview


@click.command()
@click.argument("folder", required=False, type=FOLDER)
@AS_JSON
def studies(folder: Path | None, as_json: bool) -> None:
    """List the studies in FOLDER and in the folders below it, by default in ./studies.

    Outcomes are those that the cells record; `aacbench status` also checks every file of a study.

    \b
    aacbench studies
    aacbench studies results --json
    """
    from aacbench.run.overview import find_studies, overview

    where = STUDIES if folder is None else folder
    if not where.is_dir():
        raise UsageError(f"No folder {where}. Give the folder with your studies, or start one with `aacbench run`.")
    found = [overview(root) for root in find_studies(where)]
    if as_json:
        echo_json([study.record() for study in found])
    elif not found:
        click.echo(f"No study in {where}. Start one with `aacbench run`.")
    else:
        click.echo("\n\n".join(map(_text, found)))


def _text(study: "Overview") -> str:
    from rich.filesize import decimal

    from aacbench.reports.formatting import graph_names

    if study.problem:
        return f"{study.root}\n  {study.problem}"
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in study.outcomes.items()) or "none yet"
    missing = f", {study.missing} missing" if study.missing else ""
    lines = {
        "protocol": study.protocol + (", bound to a registration" if study.registered else ""),
        "graphs": ", ".join(graph_names(study.graphs).values()),
        "methods": ", ".join(study.methods),
        "budgets": ", ".join(f"{budget:g}" for budget in study.budgets) + " B/v",
        "seeds": ", ".join(map(str, study.seeds)),
        "cells": f"{study.planned} planned: {outcomes}{missing}",
        "on disk": decimal(study.size),
        "last run": last_run_text(study.last_run).removeprefix("last run "),
    }
    return "\n".join([str(study.root), *(f"  {name:9} {value}".rstrip() for name, value in lines.items())])
