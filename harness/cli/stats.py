"""`aacbench stats`: whether two methods of a study differ, and whether they are equivalent."""

import sys
from pathlib import Path

import click

from aacbench.cli.studies import AS_JSON, STUDY, echo_json, study_folder, tell_damage


@click.command()
@STUDY
@click.option("--profile", metavar="NAME/VERSION", help="paper/1 or crossed/1.  [default: the study's analysis]")
@click.option("--a", metavar="METHOD", help="The method that is judged.  [default: the first of two]")
@click.option("--b", metavar="METHOD", help="The method it is judged against.  [default: the second of two]")
@click.option("--estimand", metavar="NAME", help="What is estimated.  [default: the profile's]")
@AS_JSON
def stats(
    study: Path | None, profile: str | None, a: str | None, b: str | None, estimand: str | None, as_json: bool
) -> None:
    """Test A against B on every graph and budget where both hold the same bytes.

    \b
    aacbench stats studies/quick --a alt --b random-subset
    aacbench stats studies/quick --a alt --b random-subset --profile paper/1
    """
    from aacbench.cli.running import exit_code
    from aacbench.reports import statistics, statistics_text
    from aacbench.run.study import read_study

    root = study_folder(study)
    contents = read_study(root)
    table = statistics.analyse(contents, a, b, profile, estimand)
    if as_json:
        echo_json({"study": str(root), **statistics_text.records(table)})
    else:
        click.echo(statistics_text.markdown(table))
    found = contents.summary()
    tell_damage(contents)
    if found.missing:
        click.echo(f"aacbench: {len(found.missing)} planned cells are missing; run the study again.", err=True)
    compared = ["ok"] if table.cells else []
    failed = [outcome for outcome in table.outcomes if outcome not in ("ok", "unsupported")]
    missing = ["skipped"] if found.missing else []
    sys.exit(exit_code([*compared, *failed, *missing], bool(found.damaged)))
