"""`aacbench compare`: two methods of a study, or one method in two studies, query by query."""

from pathlib import Path

import click

from aacbench.cli.studies import AS_JSON, FOLDER, echo_json, study_folder


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--study", type=FOLDER, help="The study that has both methods.  [default: the only one in ./studies]")
@click.option("--method", help="Compare this method in two studies: A and B are their folders.")
@AS_JSON
def compare(a: str, b: str, study: Path | None, method: str | None, as_json: bool) -> None:
    """Compare A with B on the test queries that both answered.

    \b
    aacbench compare alt fps-rr10                      two methods of a study
    aacbench compare studies/one studies/two --method alt
    """
    from aacbench.reports import comparison
    from aacbench.reports.comparison import Side

    if method is None:
        if Path(a).is_dir() and Path(b).is_dir():
            raise click.UsageError("name the method to compare in the two studies with --method")
        root = study_folder(study)
        sides = Side(a, root, a), Side(b, root, b)
    else:
        if study is not None:
            raise click.UsageError("give either --study, with two methods, or --method, with two studies")
        sides = Side(a, study_folder(Path(a)), method), Side(b, study_folder(Path(b)), method)
    rows = comparison.compare(*sides)
    if as_json:
        echo_json({"a": a, "b": b, "method": method, "comparisons": comparison.records(rows)})
        return
    names = (f"{method} in {a}", f"{method} in {b}") if method else (a, b)
    click.echo(comparison.markdown(rows, *names))
