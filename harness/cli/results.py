"""The commands that read a study without running its methods: status, report, compare and stats."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from aacbench.cli.shared import (
    AS_JSON,
    FOLDER,
    PLUGIN_FILES,
    STUDY,
    echo_json,
    last_run_text,
    report_damage,
    report_missing,
    study_folder,
)
from aacbench.errors import StoreError
from aacbench.run.exit_codes import ALL_OK, MISMATCH, exit_code


@click.command()
@STUDY
@click.option("--cells", "list_cells", is_flag=True, help="List the cells too, with the ids that other commands take.")
@AS_JSON
@click.pass_context
def status(context: click.Context, study: Path | None, list_cells: bool, as_json: bool) -> None:
    """Show the progress of a study, its damaged cells, and its last run.

    \b
    aacbench status                            the only study in ./studies
    aacbench status studies/valsplit --cells   every cell with its id, for replay, export and delete
    """
    from aacbench.cli.cells import cell_records, cell_table
    from aacbench.run.events import last_run
    from aacbench.run.study import read_study, summary

    root = study_folder(study)
    contents = read_study(root) if list_cells else None
    counted = summary(root) if contents is None else contents.summary()
    done = counted.planned - len(counted.missing)
    facts = {"study": str(root), "done": done, **asdict(counted), "last_run": last_run(root)}
    listed = [] if contents is None else cell_records(contents)
    code = MISMATCH if facts["damaged"] else ALL_OK
    if as_json:
        echo_json({**facts, "cells": listed} if list_cells else facts)
        context.exit(code)
    if list_cells:
        click.echo(cell_table(listed, counted.damaged) + "\n")
    click.echo(f"{facts['study']}: {facts['done']} of {facts['planned']} planned cells are there")
    for outcome, count in facts["outcomes"].items():
        click.echo(f"  {outcome:14}{count:6}")
    if facts["unplanned"]:
        click.echo(f"  {len(facts['unplanned'])} more cells are not in the current plan")
    for sentence in facts["damaged"].values():
        click.echo(f"damaged: {sentence}")
    click.echo(last_run_text(facts["last_run"]))
    context.exit(code)


@click.command()
@STUDY
@click.option(
    "--by",
    type=click.Choice(["bucket", "variant", "facts"]),
    help="Only print results by bucket of a scenario or stratum, by variant, or with the facts of the builds.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with full precision instead of Markdown.")
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX tabular (booktabs) instead of Markdown.")
@AS_JSON
@click.option("--out", type=FOLDER, help="Write page, figures and tables to this folder.  [default: STUDY/derived]")
@click.option("--open", "show", is_flag=True, help="Show the page in a browser.")
@click.option("--maps", is_flag=True, help="Also draw landmarks and a search on the map; runs the code in the bundles.")
@PLUGIN_FILES
@click.pass_context
def report(
    context: click.Context,
    study: Path | None,
    by: str | None,
    as_csv: bool,
    as_latex: bool,
    as_json: bool,
    out: Path | None,
    show: bool,
    maps: bool,
    plugin_files: tuple[Path, ...],
) -> None:
    """Print the tables of a study from its stored rows; missing and damaged cells are reported.

    Unless CSV, LaTeX or JSON is asked for, a page with figures, the figures, and the tables for LaTeX are written too.

    \b
    aacbench report studies/quick --open                 the page, in a browser
    aacbench report studies/quick --csv > quick.csv      full precision, for a script
    aacbench report studies/quick --latex > quick.tex    for \\input{quick} in a paper
    aacbench report studies/mine --by bucket             a scenario's buckets, or strata of Dijkstra rank
    aacbench report studies/controls --by variant        what each switch is worth beside the method
    aacbench report studies/mine --by facts              what builds report: covering radius, rows moved, ...
    aacbench report shared/study --out my-report         a study that may only be read
    aacbench report studies/quick --plugin mine.py       with the reports that a plugin declares
    """
    from aacbench.reports import controls, latency, tables
    from aacbench.reports.formatting import table_notes
    from aacbench.reports.study_text import study_text
    from aacbench.run.study import read_study

    if as_csv + as_latex + as_json > 1:
        raise click.UsageError("Give one of --csv, --latex and --json.")
    root = study_folder(study)
    contents = read_study(root)
    report_damage(contents)
    report_missing(contents)
    cells = contents.planned_cells()
    if by is not None:
        from aacbench.cli.report_tables import echo_table

        form = "json" if as_json else "csv" if as_csv else "latex" if as_latex else "markdown"
        echo_table(by, root, contents, form)
        context.exit(MISMATCH if contents.damaged else ALL_OK)
    rows, times = tables.rows_of(cells), latency.latencies(cells)
    if as_json:
        found = controls.controls_of(contents)
        more = {"controls": controls.record(found)} if found else {}
        results, latencies = list(map(asdict, rows)), list(map(asdict, times))
        echo_json({"study": str(root), "results": results, "latencies": latencies, **more})
    elif as_csv:
        click.echo(tables.csv_text(rows), nl=False)
    elif as_latex:
        click.echo(tables.latex(rows, table_notes(contents.plan)))
        if times:
            click.echo("\n" + latency.latex(times))
    else:
        on_terminal = sys.stdout.isatty()  # a file or another program gets Markdown
        click.echo(study_text(contents, rows, times, plain_reasons=on_terminal))
    if not (as_json or as_csv or as_latex) or out or show or maps or plugin_files:
        from aacbench.cli.report_files import write_files
        from aacbench.library.plugin_reports import plugin_sections

        sections = plugin_sections(plugin_files, root, contents)
        _written(
            lambda: write_files(root, contents, rows, times, study_text(contents, rows, times), out, maps, sections),
            required=bool(out or show),
            show=show,
        )
    context.exit(MISMATCH if contents.damaged else ALL_OK)


def _written(write: Callable[[], Path], required: bool, show: bool) -> None:
    """Write the page and say where it is; a study that may only be read is no error unless the page was asked for."""
    try:
        page = write()
    except StoreError as problem:
        if required:
            raise
        click.echo(f"aacbench: no page was written: {problem}", err=True)
        return
    beside = ", with figures and tables beside it" if page.name == "report.html" else ""
    click.echo(f"Also in {page}{beside}.", err=True)
    if show:
        import webbrowser

        if not webbrowser.open(page.absolute().as_uri()):
            click.echo(f"aacbench: no browser was found; open {page} in one.", err=True)


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--study", type=FOLDER, help="The study with both methods.  [default: the only one in ./studies]")
@click.option("--method", help="Compare this method in two studies: A and B are their folders.")
@AS_JSON
@click.option("--out", type=FOLDER, help="Write the page to this folder.  [default: STUDY/derived]")
@click.option("--open", "show", is_flag=True, help="Show the page in a browser.")
@click.pass_context
def compare(
    context: click.Context,
    a: str,
    b: str,
    study: Path | None,
    method: str | None,
    as_json: bool,
    out: Path | None,
    show: bool,
) -> None:
    """Compare A with B on the test queries that both answered.

    Unless JSON is asked for, a page with the table and figures is written too.

    \b
    aacbench compare alt fps-rr10 --open               two methods of a study
    aacbench compare studies/one studies/two --method alt
    """
    from aacbench.reports import comparison
    from aacbench.reports.comparison import Side
    from aacbench.reports.formatting import study_notes
    from aacbench.run.study import read_study

    if method is None:
        if Path(a).is_dir() and Path(b).is_dir():
            raise click.UsageError("Give the method to compare in the two studies with --method.")
        root = study_folder(study)
        roots, methods = (root, root), (a, b)
    else:
        if study is not None:
            raise click.UsageError("Give either --study and two methods, or --method and two studies.")
        roots, methods = (study_folder(Path(a)), study_folder(Path(b))), (method, method)
    studies = {root: read_study(root) for root in dict.fromkeys(roots)}
    for contents in studies.values():
        report_damage(contents)
    one, other = (
        Side(name, root, chosen, studies[root].own_cells())
        for name, root, chosen in zip((a, b), roots, methods, strict=True)
    )
    rows, differing = comparison.compare(one, other), comparison.differences(one, other)
    if as_json:
        compared = {"differences": differing, "comparisons": list(map(asdict, rows))}
        echo_json({"a": a, "b": b, "method": method, **compared})
    names = (f"{method} in {a}", f"{method} in {b}") if method else (a, b)
    if not as_json:
        notes = dict.fromkeys(note for contents in studies.values() for note in study_notes(contents.plan))
        click.echo(comparison.markdown(rows, *names, differing, notes))
    if not as_json or out or show:
        from aacbench.cli.report_files import write_comparison
        from aacbench.reports.comparison_page import Compared

        where = f"--method {shlex.quote(method)}" if method else f"--study {shlex.quote(str(roots[0]))}"
        found = Compared(
            a=one,
            b=other,
            names=names,
            contents=(studies[roots[0]], studies[roots[1]]),
            rows=rows,
            differing=differing,
            command=f"aacbench compare {shlex.quote(a)} {shlex.quote(b)} {where}",
        )
        _written(lambda: write_comparison(found, out), required=bool(out or show), show=show)
    context.exit(MISMATCH if any(contents.damaged for contents in studies.values()) else ALL_OK)


@click.command()
@STUDY
@click.option(
    "--profile", metavar="NAME/VERSION", help="paper/1, crossed/1 or crossed/2.  [default: the study's analysis]"
)
@click.option("--a", metavar="METHOD", help="The method to judge.  [default: the first of two]")
@click.option("--b", metavar="METHOD", help="The method to judge it against.  [default: the second of two]")
@click.option("--estimand", metavar="NAME", help="The quantity to estimate.  [default: the profile's]")
@AS_JSON
@click.pass_context
def stats(
    context: click.Context,
    study: Path | None,
    profile: str | None,
    a: str | None,
    b: str | None,
    estimand: str | None,
    as_json: bool,
) -> None:
    """Test A against B on every graph and budget where both use the same memory.

    \b
    aacbench stats studies/quick --a alt --b random-subset
    aacbench stats studies/quick --a alt --b random-subset --profile paper/1
    """
    from aacbench.reports import statistics, statistics_text
    from aacbench.run.study import read_study

    root = study_folder(study)
    contents = read_study(root)
    table = statistics.analyse(contents, a, b, profile, estimand)
    if as_json:
        echo_json({"study": str(root), **statistics_text.records(table)})
    else:
        click.echo(statistics_text.markdown(table))
    report_damage(contents)
    missing = report_missing(contents)
    compared = ["ok"] if table.cells else []
    failed = [outcome for outcome in table.outcomes if outcome not in ("ok", "unsupported")]
    incomplete = ["skipped"] if missing else []
    context.exit(exit_code([*compared, *failed, *incomplete], bool(contents.damaged)))
