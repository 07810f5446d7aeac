"""`aacbench paper`: list the paper's tables and figures, replay them, and compare the numbers with print."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.shared import AS_JSON, FOLDER, MEMORY_LIMIT, TIME_LIMIT, echo_json
from aacbench.errors import UsageError
from aacbench.run.exit_codes import ALL_OK, SOME_FAILED
from aacbench.run.layout import STUDIES

if TYPE_CHECKING:
    from aacbench.protocols.paper import Paper

DEFAULT_ROOT = STUDIES / "paper"
ROOT = click.option(
    "--studies",
    "root",
    type=FOLDER,
    default=DEFAULT_ROOT,
    show_default=True,
    help="The folder with the studies of replayed exhibits.",
)
LABELS = click.argument("labels", nargs=-1, metavar="[LABEL]...")


@click.group(invoke_without_command=True)
@ROOT
@AS_JSON
@click.pass_context
def paper(context: click.Context, root: Path, as_json: bool) -> None:
    """List every table and figure of the AAC paper: what it shows, whether its data is here, and how its replay went.

    \b
    aacbench paper show tab:valsplit            one of them, with its printed numbers
    aacbench paper run tab:valsplit             replay it
    aacbench paper report tab:valsplit          printed and replayed, cell by cell
    aacbench paper claims                       what the text claims, checked
    """
    if context.invoked_subcommand is None:
        _list(root, as_json)


@paper.command("list")
@ROOT
@AS_JSON
def list_exhibits(root: Path, as_json: bool) -> None:
    """List every table and figure, as `aacbench paper` alone does."""
    _list(root, as_json)


def _list(root: Path, as_json: bool) -> None:
    from aacbench.protocols.paper import read_paper
    from aacbench.reports.paper import listing
    from aacbench.reports.paper.studies import Shelf

    listed = listing.lines(Shelf(read_paper(), root))
    if as_json:
        echo_json([line.record() for line in listed])
        return
    click.echo(listing.table(listed))
    click.echo(
        "\nReplay: exact, approximate, partly (some of its graphs), arithmetic (from other exhibits), or not, and "
        "`aacbench paper show LABEL` says why. sd: the paper's own standard deviations."
    )


@paper.command()
@LABELS
@click.option("--all", "every", is_flag=True, help="All exhibits.")
@click.option("--here", is_flag=True, help="Leave out graphs whose data is not here, without complaint.")
@click.option("--modern", is_flag=True, help="Replay under measured/1 and the modern search instead, beside the other.")
@click.option("--stand-ins", is_flag=True, help="Also run the graphs that stand in for missing ones.")
@click.option(
    "--graph",
    "graphs",
    multiple=True,
    metavar="NAME=GRAPH",
    help="Use this graph for one of the paper's, such as dimacs:COL=file:col.gr; may be given several times.",
)
@click.option("--workers", type=click.IntRange(1), help="Worker processes.  [default: as for `aacbench run`]")
@click.option(
    "--existing",
    type=click.Choice(["keep", "retry-failed", "replace"]),
    help="What to do with cells that are there.  [default: retry-failed, but keep a study whose only failures are "
    "wrong cells]",
)
@TIME_LIMIT
@MEMORY_LIMIT
@click.option("--dry-run", is_flag=True, help="Print the studies and stop.")
@ROOT
@click.pass_context
def run(
    context: click.Context,
    /,
    labels: tuple[str, ...],
    every: bool,
    here: bool,
    modern: bool,
    stand_ins: bool,
    graphs: tuple[str, ...],
    dry_run: bool,
    root: Path,
    **options: Any,
) -> None:
    """Replay exhibits: a study for each run and graph. The same command again goes on where it stopped, and runs
    cells without a result again.

    \b
    aacbench paper run tab:training-drift
    aacbench paper run --all --here --dry-run
    """
    from aacbench.cli import paper_runs
    from aacbench.cli.run import STOPPED
    from aacbench.protocols.paper import read_paper

    known = read_paper()
    chosen = _chosen(known, labels, every)
    studies = paper_runs.wanted_studies(
        known, chosen, root, paper_runs.given_graphs(graphs, known), modern=modern, stand_ins=stand_ins
    )
    for label in chosen:
        if not known.runs_of(label):
            click.echo(f"{label}: nothing to run ({known.exhibit(label).replay_why}).", err=True)
    missing = dict.fromkeys(study.missing for study in studies if study.missing)
    for sentence in () if here else missing:
        click.echo(f"{sentence}.", err=True)
    studies = [study for study in studies if not study.missing]
    if dry_run:
        for study in studies:
            click.echo(f"{study.folder}: {paper_runs.progress_of(study.folder)}")
        context.exit(ALL_OK)
    try:
        code = paper_runs.run_all(studies, {key: value for key, value in options.items() if value is not None})
    except KeyboardInterrupt:
        click.echo("aacbench: stopped; what is finished is kept, and the same command goes on from there.", err=True)
        context.exit(STOPPED)
    if any(paper_runs.has_rows(study.folder) for study in studies):
        words = [*labels, *(() if root == DEFAULT_ROOT else ("--studies", str(root)))]
        click.echo(f"`{shlex.join(['aacbench', 'paper', 'report', *words])}` compares them with print.")
    context.exit(code or (SOME_FAILED if missing and not here else ALL_OK))


def _chosen(known: "Paper", labels: tuple[str, ...], every: bool) -> list[str]:
    if every and labels:
        raise UsageError("Give exhibits, or --all.")
    if not every and not labels:
        raise UsageError("Give an exhibit, such as tab:valsplit, or --all; `aacbench paper` lists them.")
    return [known.exhibit(label).id for label in labels] if labels else list(known.exhibits)


@paper.command()
@click.argument("label")
@ROOT
@AS_JSON
def show(label: str, root: Path, as_json: bool) -> None:
    """Print one exhibit: what it claims, every printed number, its studies, and what its data needs."""
    from aacbench.protocols.paper import read_paper, replays
    from aacbench.reports.paper import text
    from aacbench.reports.paper.data import missing_data

    known = read_paper()
    exhibit = known.exhibit(label)
    folders = [str(replay.folder(root)) for replay in replays(known, label) if not replay.stand_in]
    missing = [sentence for graph in exhibit.graphs if (sentence := missing_data(graph))]
    if as_json:
        echo_json(text.exhibit_record(exhibit) | {"studies": folders, "missing": missing})
        return
    click.echo(text.exhibit_text(exhibit, known.reasons_of(label), folders, missing))


@paper.command()
@LABELS
@click.option("--changed", is_flag=True, help="Print only values that differ from print.")
@ROOT
@AS_JSON
def report(labels: tuple[str, ...], changed: bool, root: Path, as_json: bool) -> None:
    """Set printed and replayed numbers side by side, for these exhibits or all that were replayed.

    \b
    aacbench paper report tab:valsplit
    aacbench paper report --changed
    """
    from aacbench.protocols.paper import read_paper
    from aacbench.reports.paper import text
    from aacbench.reports.paper.comparison import DIFFERENT, NEAR, compare, results
    from aacbench.reports.paper.studies import Shelf

    known = read_paper()
    shelf = Shelf(known, root)
    chosen = {label: compare(shelf, known.exhibit(label)) for label in labels or known.exhibits}
    if not labels:
        chosen = {
            label: rows for label, rows in chosen.items() if any(row.replayed for row in rows) or shelf.studies(label)
        }
    if changed:
        chosen = {label: [row for row in rows if row.result in (NEAR, DIFFERENT)] for label, rows in chosen.items()}
    if as_json:
        echo_json({label: list(map(text.record, rows)) for label, rows in chosen.items()})
        return
    for label, rows in chosen.items():
        exhibit = known.exhibit(label)
        missing = shelf.missing(exhibit).values()
        counted = text.summary(results(rows)) or "nothing replayed"
        click.echo(f"## {label}: {exhibit.title}\n\n{len(rows)} values; {counted}.\n\n{text.table(rows)}")
        others = text.other_rows(shelf.studies(label), shelf.studies(label, modern=True), known.graphs)
        click.echo("\n".join(["", *text.notes(exhibit, missing, others), ""]))


@paper.command()
@LABELS
@click.option("--replayed", is_flag=True, help="Check the claims on replayed values too.")
@click.option("--numbers", is_flag=True, help="Print the numbers behind each claim, and remarks on it.")
@click.option(
    "--verdict",
    type=click.Choice(["holds", "fails", "not checkable"]),
    help="Only claims with this verdict, printed or replayed.",
)
@ROOT
@AS_JSON
def claims(
    labels: tuple[str, ...], replayed: bool, numbers: bool, verdict: str | None, root: Path, as_json: bool
) -> None:
    """Check what the paper's text claims, by the printed numbers: holds, fails, or not checkable.

    With exhibits, only claims about these.

    \b
    aacbench paper claims
    aacbench paper claims tab:valsplit --verdict fails
    aacbench paper claims --replayed      on the replayed numbers beside
    """
    from aacbench.protocols.paper import read_paper
    from aacbench.reports.paper import claims as checks
    from aacbench.reports.paper import text
    from aacbench.reports.paper.claim_values import printed_values, replayed_values
    from aacbench.reports.paper.studies import Shelf

    known = read_paper()
    printed = printed_values(known)
    columns = {"printed": printed}
    if replayed:
        columns["replayed"] = replayed_values(Shelf(known, root))
    wanted = {known.exhibit(label).id for label in labels} or set(known.exhibits) | {""}
    chosen = [claim for claim in known.claims if wanted & set(claim.exhibits or ("",))]
    judged = [[checks.check(claim, values, printed) for values in columns.values()] for claim in chosen]
    shown = [found for found in judged if verdict in (None, *(one.verdict for one in found))]
    verdicts = {name: [found[at] for found in shown] for at, name in enumerate(columns)}
    if as_json:
        echo_json({name: list(map(text.verdict_record, found)) for name, found in verdicts.items()})
        return
    click.echo(text.claims_text(verdicts, numbers=numbers))
