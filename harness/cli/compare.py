"""`aacbench compare`: compare two methods of a study, or one method in two studies, query by query."""

from dataclasses import asdict
from pathlib import Path

import click

from aacbench.cli.options import AS_JSON, FOLDER
from aacbench.cli.studies import ALL_OK, MISMATCH, echo_json, report_damage, study_folder


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--study", type=FOLDER, help="The study with both methods.  [default: the only one in ./studies]")
@click.option("--method", help="Compare this method in two studies: A and B are their folders.")
@AS_JSON
@click.pass_context
def compare(context: click.Context, a: str, b: str, study: Path | None, method: str | None, as_json: bool) -> None:
    """Compare A with B on the test queries that both answered.

    \b
    aacbench compare alt fps-rr10                      two methods of a study
    aacbench compare studies/one studies/two --method alt
    """
    from aacbench.reports import comparison
    from aacbench.reports.comparison import Side
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
        Side(name, root, chosen, studies[root].planned_cells())
        for name, root, chosen in zip((a, b), roots, methods, strict=True)
    )
    rows, differing = comparison.compare(one, other), comparison.differences(one, other)
    if as_json:
        found = {"differences": differing, "comparisons": list(map(asdict, rows))}
        echo_json({"a": a, "b": b, "method": method, **found})
    else:
        names = (f"{method} in {a}", f"{method} in {b}") if method else (a, b)
        click.echo(comparison.markdown(rows, *names, differing))
    context.exit(MISMATCH if any(contents.damaged for contents in studies.values()) else ALL_OK)
