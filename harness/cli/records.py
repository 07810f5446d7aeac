"""`aacbench records`: the best of those tried on each graph within each budget, and what a study of yours beats."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aacbench.cli.shared import AS_JSON, FOLDER, STUDY, echo_json, report_damage, report_missing, study_folder
from aacbench.errors import UsageError
from aacbench.run.exit_codes import ALL_OK, MISMATCH

if TYPE_CHECKING:
    from aacbench.run.study import StudyContents


@click.command()
@STUDY
@click.option("--graph", "graphs", multiple=True, help="Only this graph; may be given several times.")
@click.option(
    "--by",
    type=click.Choice(["expanded", "total", "time"]),
    default="expanded",
    show_default=True,
    help="What a record is: fewest expansions, with the heuristic's own work, or least time.",
)
@click.option("--all", "everything", is_flag=True, help="Everything that was measured, not only the records.")
@click.option("--from", "source", type=FOLDER, help="Read the records from this study instead of those shipped.")
@click.option(
    "--write",
    type=FOLDER,
    help="With --from: add them to this file, as shipped; what it has of other methods and graphs stays.",
)
@AS_JSON
@click.pass_context
def records(
    context: click.Context,
    study: Path | None,
    graphs: tuple[str, ...],
    by: str,
    everything: bool,
    source: Path | None,
    write: Path | None,
    as_json: bool,
) -> None:
    """Print the records that come with this version; with STUDY, mark what its methods beat.

    They are the best of what the protocol `records` tries; other combinations, and plugins, may beat them.

    \b
    aacbench records                                  the best on each graph within each budget
    aacbench records --graph road-5000 --by total     with the work of lazy heuristics
    aacbench run --protocol records --methods mine --plugin mine.py --out studies/mine
    aacbench records studies/mine                     what mine beats; with --by total, by expansions and work
    aacbench records --from studies/records --write reports/records.json
    """
    from dataclasses import asdict

    from aacbench.reports import records as known
    from aacbench.reports import records_text as text

    if write is not None and source is None:
        raise click.UsageError("--write needs --from, the study to take the records from.")
    if write is not None and (study or graphs or everything or as_json or by != "expanded"):
        raise click.UsageError("--write takes all of the study of --from; leave out everything but these two.")
    if study is not None and everything:
        raise click.UsageError("--all has no meaning with STUDY, all of which is shown; leave it out.")
    if study is not None and by == "time":
        raise click.UsageError("Times of different runs cannot be compared; with STUDY use --by expanded or total.")
    contents = [_read(folder) for folder in (source, study) if folder is not None]
    code = MISMATCH if any(each.damaged for each in contents) else ALL_OK
    if write is not None and code != ALL_OK:
        count = len(contents[0].damaged)
        raise UsageError(f"Nothing was written: damaged cells: {count}; `aacbench status {source}` lists them.")
    found = known.shipped() if source is None else known.records_of(contents[0])
    unknown = [graph for graph in graphs if graph not in found.settings]
    if unknown:
        raise UsageError(f"No records on {unknown[0]!r}. There are some on: {', '.join(found.settings)}.")
    if write is not None:
        known.write(found, write)
        click.echo(f"{write}: {len(found.records)} results on {', '.join(found.settings)}")
        _echo_reasons(text.reasons(found.left_out))
    elif study is not None:
        mine = known.records_of(contents[-1])
        compared = [each for each in text.compare(mine, found, by) if not graphs or each.mine.graph in graphs]
        without = [each for each in mine.left_out if not graphs or each.graph in graphs]
        if as_json:
            echo_json([*(each.told() for each in compared), *(each.told() for each in without)])
        else:
            click.echo(text.comparison_table(compared, by))
            _echo_reasons(text.reasons(without))
    elif as_json:
        echo_json(
            {
                "version": found.version,
                "graphs": [asdict(one) for one in found.settings.values()],
                "records": [one.told() for one in found.records if not graphs or one.graph in graphs],
                "best": [{"within": budget, **one.told()} for budget, one in text.rows(found, by, graphs)],
            }
        )
    else:
        click.echo(text.table(found, by, graphs, everything))
    context.exit(code)


def _read(folder: Path) -> "StudyContents":
    from aacbench.run.study import read_study

    contents = read_study(study_folder(folder))
    report_damage(contents)
    report_missing(contents)
    return contents


def _echo_reasons(lines: str) -> None:
    if lines:
        click.echo(f"\nThese cannot hold a record:\n{lines}")
