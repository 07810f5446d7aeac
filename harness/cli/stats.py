"""`aacbench stats`: test whether two methods of a study differ, and whether they are equivalent."""

from pathlib import Path

import click

from aacbench.cli.options import AS_JSON, STUDY
from aacbench.cli.studies import echo_json, exit_code, report_damage, study_folder


@click.command()
@STUDY
@click.option("--profile", metavar="NAME/VERSION", help="paper/1 or crossed/1.  [default: the study's analysis]")
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
    missing = contents.summary().missing
    if missing:
        click.echo(f"aacbench: {len(missing)} planned cells are missing; run the study again.", err=True)
    compared = ["ok"] if table.cells else []
    failed = [outcome for outcome in table.outcomes if outcome not in ("ok", "unsupported")]
    incomplete = ["skipped"] if missing else []
    context.exit(exit_code([*compared, *failed, *incomplete], bool(contents.damaged)))
