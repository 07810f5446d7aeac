"""What `aacbench paper run` does: find the data of each study, and run the studies one after the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from aacbench.cli.shared import stop_by_signals
from aacbench.errors import AacbenchError, UsageError
from aacbench.graphs.load import check_file
from aacbench.library.options import RunOptions, default_workers
from aacbench.library.running import carry_out, prepare_run
from aacbench.processes.pool import start_server
from aacbench.protocols.paper import Paper, Replay, replays
from aacbench.protocols.reader import to_toml
from aacbench.reports.paper import text as texts
from aacbench.reports.paper.data import missing_data
from aacbench.reports.paper.studies import ANSWERED
from aacbench.run.exit_codes import ALL_OK, MISMATCH, NOTHING_RAN, SOME_FAILED, SOME_WRONG, USAGE
from aacbench.run.layout import PLAN
from aacbench.run.study import protocol_digest, read_plan, summary
from aacbench.util.atomic_io import make_folder, replace_file, storing

# As in `run`: damage goes before wrong cells, those before failed ones.
SEVERITY = (ALL_OK, NOTHING_RAN, SOME_FAILED, USAGE, SOME_WRONG, MISMATCH)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A study to be run: where it goes, the graph to use, and what is missing of its data."""

    replay: Replay
    folder: Path
    graph: str
    missing: str


def given_graphs(given: Iterable[str], paper: Paper) -> dict[str, str]:
    """Return the graphs given as NAME=GRAPH, by the paper's name."""
    graphs = {}
    for text in given:
        name, equals, graph = text.partition("=")
        if name not in paper.graphs or not equals or not graph:
            raise UsageError(
                f"--graph {text}: write a graph of the paper, = and the graph to use, such as "
                f"dimacs:COL=file:USA-road-d.COL.gr. The paper's graphs are {', '.join(paper.graphs)}."
            )
        check_file(graph)
        graphs[name] = graph
    return graphs


def wanted_studies(
    paper: Paper,
    labels: Iterable[str],
    root: Path,
    graphs: Mapping[str, str],
    *,
    modern: bool = False,
    stand_ins: bool = False,
) -> list[Wanted]:
    """Return the studies of these exhibits, each once; a given graph that none of them uses is refused."""
    found: dict[Path, Wanted] = {}
    for label in labels:
        for replay in replays(paper, label, modern):
            if replay.stand_in and not stand_ins:
                continue
            graph = graphs.get(replay.graph, replay.graph)
            folder = replay.folder(root)
            found.setdefault(folder, Wanted(replay, folder, graph, missing_data(graph)))
    used = {wanted.replay.graph for wanted in found.values()}
    if idle := [name for name in graphs if name not in used]:
        raise UsageError(
            f"--graph {idle[0]}: no study of these exhibits is on {idle[0]}; their graphs are {', '.join(used)}."
        )
    return list(found.values())


def progress_of(folder: Path) -> str:
    """How far a study is: cells that are there of those planned."""
    if not (folder / PLAN).is_file():
        return "not run"
    counted = summary(folder)
    done = counted.planned - len(counted.missing)
    return "complete" if not counted.missing else f"{done} of {counted.planned} cells"


def has_rows(folder: Path) -> bool:
    """Whether any cell of a study can be compared with print."""
    return (folder / PLAN).is_file() and any(outcome in ANSWERED for outcome in summary(folder).outcomes)


def run_all(studies: Sequence[Wanted], options: Mapping[str, Any]) -> int:
    """Run studies whose data is here, and return the worst exit code; an error of one does not stop the others.

    Without `existing`, cells without rows are run again. Wrong cells are kept: they would come out wrong again.
    """
    stop_by_signals()
    start_server()
    codes = [ALL_OK]
    for number, study in enumerate(studies, 1):
        click.echo(f"[{number}/{len(studies)}] {study.folder}", err=True)
        try:
            codes.append(_run(study, options))
            click.echo("".join(_failures(study.folder)), nl=False, err=True)
        except AacbenchError as error:
            click.echo(f"aacbench: {study.folder}: {error}", err=True)
            codes.append(USAGE)
    return max(codes, key=SEVERITY.index)


def _run(wanted: Wanted, options: Mapping[str, Any]) -> int:
    """Run one study by the path of `aacbench run`; its protocol is kept beside it, its tables are in its folder."""
    protocol = wanted.folder.with_name(wanted.folder.name + ".toml")
    study, there = wanted.replay.study(wanted.graph), read_plan(wanted.folder)
    if there is not None and there["protocol_digest"] != protocol_digest(study):
        raise UsageError("It was made with another graph or an earlier protocol; move it away, and run again.")
    with storing(protocol.parent):
        make_folder(protocol.parent)
        replace_file(protocol, to_toml(study).encode())
    usual = {"workers": default_workers(), "existing": "retry-failed" if _failed(wanted.folder) else "keep"}
    asked = RunOptions(protocol=str(protocol), out=wanted.folder, **{**usual, **options})
    return carry_out(prepare_run(asked)).exit_code


def _failed(folder: Path) -> dict[str, int]:
    """Count the cells without rows by their outcome."""
    outcomes = summary(folder).outcomes if (folder / PLAN).is_file() else {}
    return {outcome: count for outcome, count in outcomes.items() if outcome in texts.FAILED}


def _failures(folder: Path) -> Iterator[str]:
    """Yield a sentence that names what failed, and what to do."""
    if failed := _failed(folder):
        yield (
            f"aacbench: {folder}: cells without a result: {texts.summary(failed)}. `aacbench report {folder}` has the "
            "reasons; the same command runs these cells again, unless it has --existing keep.\n"
        )
