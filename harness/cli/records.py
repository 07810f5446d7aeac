"""`aacbench records`: the best known on each graph within each budget, and what a study of yours beats."""

from pathlib import Path

import click

from aacbench.cli.shared import AS_JSON, FOLDER, STUDY, echo_json, study_folder
from aacbench.errors import UsageError


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
def records(
    study: Path | None,
    graphs: tuple[str, ...],
    by: str,
    everything: bool,
    source: Path | None,
    write: Path | None,
    as_json: bool,
) -> None:
    """Print the records that come with this version; with STUDY, mark what its methods beat.

    \b
    aacbench records                                  the best known on each graph within each budget
    aacbench records --graph road-5000 --by total     with the work of lazy heuristics
    aacbench run --protocol records --methods mine --plugin mine.py --out studies/mine
    aacbench records studies/mine                     what mine beats; with --by total, by expansions and work
    aacbench records --from studies/records --write reports/records.json
    """
    from dataclasses import asdict

    from aacbench.reports import records as known
    from aacbench.reports import records_text as text
    from aacbench.run.study import planned_cells

    if write is not None and source is None:
        raise click.UsageError("--write needs --from, the study to take the records from.")
    if write is not None and (study or graphs or everything or as_json or by != "expanded"):
        raise click.UsageError("--write takes all of the study of --from; leave out everything but these two.")
    if study is not None and everything:
        raise click.UsageError("--all has no meaning with STUDY, all of which is shown; leave it out.")
    if study is not None and by == "time":
        raise click.UsageError("Times of different runs cannot be compared; with STUDY use --by expanded or total.")
    found = known.records_of(planned_cells(study_folder(source))) if source is not None else known.shipped()
    unknown = [graph for graph in graphs if graph not in found.settings]
    if unknown:
        raise UsageError(f"No records on {unknown[0]!r}. There are some on: {', '.join(found.settings)}.")
    if write is not None:
        known.write(found, write)
        click.echo(f"{write}: {len(found.records)} results on {', '.join(found.settings)}")
        return
    if study is not None:
        compared = text.compare(known.records_of(planned_cells(study_folder(study))), found, by)
        compared = [each for each in compared if not graphs or each.mine.graph in graphs]
        if as_json:
            echo_json([each.told() for each in compared])
        else:
            click.echo(text.comparison_table(compared, by))
        return
    if as_json:
        echo_json(
            {
                "version": found.version,
                "graphs": [asdict(one) for one in found.settings.values()],
                "records": [asdict(one) for one in found.records if not graphs or one.graph in graphs],
                "best": [{"within": budget, **asdict(one)} for budget, one in text.rows(found, by, graphs)],
            }
        )
    else:
        click.echo(text.table(found, by, graphs, everything))
