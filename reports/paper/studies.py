"""The studies that replay an exhibit, as read from disk, and which of their cells a printed value is of."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.protocols.paper import Exhibit, Paper, Replay, replays
from aacbench.protocols.paper.records import SETTINGS
from aacbench.reports.paper.data import missing_data
from aacbench.run.events import RUN_FILE
from aacbench.run.layout import PLAN, QUERIES_FILE, RUNS
from aacbench.run.records import BASELINE, OUTCOMES, TEST, VALIDATION
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents, read_study

ANSWERED = ("ok", "wrong")  # outcomes with rows; the paper's CDH is wrong on some queries
SIZES = ("K", "m", "r")
ABSENT = object()


@dataclass(frozen=True, slots=True)
class ReplayedStudy:
    """A study that replays a run on one graph: its cells, and when it was last run."""

    replay: Replay
    root: Path
    contents: StudyContents
    finished: str

    @property
    def cells(self) -> list[Cell]:
        return self.contents.planned_cells()

    @property
    def graph(self) -> str:
        """The name of the graph it was run on, which a user may have chosen."""
        return str((self.contents.plan or {})["study"]["graphs"][0])

    @property
    def vertices(self) -> int | None:
        """The number of vertices, from the one array that Dijkstra deploys."""
        base = [cell.record.get("bytes", {}).get("arrays") for cell in self.cells if cell.key["method"] == BASELINE]
        return next((arrays[0]["shape"][0] for arrays in base if arrays), None)

    def base(self, split: str) -> float | None:
        """Return Dijkstra's mean expansions."""
        found = (mean(cell, split) for cell in self.cells if cell.key["method"] == BASELINE)
        return next((value for value in found if value is not None), None)

    def independent_queries(self) -> int:
        """Return how many test queries the seeds have together; what several seeds share counts once, 0 is unknown."""
        drawn = {cell.key.get("query_digests", {}).get(TEST): cell for cell in self.cells if cell.outcome in ANSWERED}
        return 0 if None in drawn else sum(len(expanded(cell)) for cell in drawn.values())

    def validated(self, cell: Cell) -> Cell:
        """Return the cell with the validation rows: of a chosen cell, the candidate that was chosen."""
        same = (other for other in self.cells if _same_build(other, cell) and VALIDATION in other.key["splits"])
        return cell if VALIDATION in cell.key["splits"] else next(same, cell)


@dataclass(frozen=True, slots=True)
class Sample:
    """One cell of a replay: a method with a seed."""

    study: ReplayedStudy
    cell: Cell

    @property
    def seed(self) -> int:
        return int(self.cell.key["seed"])

    def expansions(self, split: str) -> float | None:
        return mean(self.study.validated(self.cell) if split == VALIDATION else self.cell, split)

    def reduction(self, split: str) -> float | None:
        """Return the reduction of mean expansions against Dijkstra in percent."""
        own, base = self.expansions(split), self.study.base(split)
        return None if own is None or not base else 100 * (1 - own / base)


@dataclass(slots=True)
class Shelf:
    """The studies below one folder, each read once."""

    paper: Paper
    root: Path
    _read: dict[Path, ReplayedStudy | None] = field(default_factory=dict)

    def studies(self, label: str, modern: bool = False) -> list[ReplayedStudy]:
        """Return the studies of an exhibit that are there."""
        found = (self._study(replay) for replay in replays(self.paper, label, modern))
        return [study for study in found if study is not None]

    def missing(self, exhibit: Exhibit) -> dict[str, str]:
        """Return the graphs of an exhibit that are neither here nor replayed on another one, with what to do."""
        replayed = {study.replay.graph for study in self.studies(exhibit.id)}
        wanted = {graph: missing_data(graph) for graph in exhibit.graphs if graph not in replayed}
        return {graph: sentence for graph, sentence in wanted.items() if sentence}

    def _study(self, replay: Replay) -> ReplayedStudy | None:
        root = replay.folder(self.root)
        if root not in self._read:
            there = (root / PLAN).is_file()
            self._read[root] = ReplayedStudy(replay, root, read_study(root), _finished(root)) if there else None
        return self._read[root]


def samples(studies: Sequence[ReplayedStudy], row: Mapping[str, Any]) -> list[Sample]:
    """Return the cells that a row of the paper names, of the first run that has any; one for each seed."""
    fitting = [study for study in studies if _may_hold(study, row)]
    for study in fitting:
        run = [other for other in fitting if other.replay.run is study.replay.run]
        found = [
            Sample(other, cell)
            for other in run
            for cell in other.cells
            if cell.is_reported and cell.outcome in ANSWERED and _is_row(other, cell, row)
        ]
        if found:
            return found
    return []


def failures(studies: Sequence[ReplayedStudy], row: Mapping[str, Any]) -> list[str]:
    """Return the outcomes other than `ok` of the cells that a row needs: its own, or else those of Dijkstra."""
    fitting = [study for study in studies if _may_hold(study, row)]
    own = [cell for study in fitting for cell in study.cells if _is_row(study, cell, row)]
    base = [cell for study in fitting for cell in study.cells if cell.key["method"] == BASELINE]
    for cells in (own, base):
        if found := [outcome for outcome in OUTCOMES[1:] if any(cell.outcome == outcome for cell in cells)]:
            return found
    return []


def _may_hold(study: ReplayedStudy, row: Mapping[str, Any]) -> bool:
    """Whether a row is of this graph and these queries: one that names its half is of a run that has two."""
    replay, queries = study.replay, study.replay.run.protocol["queries"]
    if not replay.run.compare or replay.stand_in or replay.graph != row.get("graph"):
        return False
    return row.get("mode", queries["mode"]) == queries["mode"] and bool(queries["validation"]) == ("split" in row)


def _is_row(study: ReplayedStudy, cell: Cell, row: Mapping[str, Any]) -> bool:
    if cell.key["method"] == BASELINE:  # stores no labels: one cell stands for every budget
        return row.get("method") == BASELINE
    shown = {"method": cell.key["method"], "budget_bytes": cell.key["budget"], **study.replay.run.prints}
    if shown["method"] != row.get("method") or row.get("budget_bytes", shown["budget_bytes"]) != shown["budget_bytes"]:
        return False
    named = {key: plain(value) for key, value in row.items() if key in SETTINGS}
    if study.replay.modern:  # what fits a budget is another number where memory is measured
        named = {key: value for key, value in named.items() if key not in SIZES}
    return all(setting(cell.key["params"], key) in (ABSENT, value) for key, value in named.items())


def setting(params: Mapping[str, Any], key: str) -> Any:
    """Return a setting of a method, or of the part of it that has one; ABSENT if none has."""
    if key in params:
        return params[key]
    found = (setting(part["params"], key) for part in params.get("parts", ()))
    return next((value for value in found if value is not ABSENT), ABSENT)


def plain(value: Any) -> Any:
    """Return a printed number as the float or whole number that a cell holds."""
    return value if isinstance(value, str | bool | int) else float(value)


def mean(cell: Cell, split: str) -> float | None:
    """Return the mean expansions of a cell on a split, also where some of its paths are too long."""
    if cell.outcome not in ANSWERED or QUERIES_FILE not in cell.files:
        return None
    rows = expanded(cell, split)
    return float(np.mean(rows)) if len(rows) else None


def expanded(cell: Cell, split: str = TEST) -> Any:
    return cell.queries["expanded"][cell.queries["split"] == split]


def _same_build(one: Cell, other: Cell) -> bool:
    return all(one.key[part] == other.key[part] for part in ("label", "params", "seed", "budget", "graph"))


def _finished(root: Path) -> str:
    """Return when the last run of a study ended, or an empty text."""
    file = max((root / RUNS).glob(f"*/{RUN_FILE}"), default=None)
    try:
        return str(json.loads(file.read_bytes()).get("finished") or "") if file else ""
    except (OSError, ValueError):
        return ""
