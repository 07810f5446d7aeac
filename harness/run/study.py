"""A study folder as a whole: its plan, its cells, and its progress."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, DamagedPlanError, DataError, UsageError
from aacbench.run.layout import ARTIFACTS, CELLS, DERIVED, PLAN, REGISTRATION, RUNS, is_cell_id
from aacbench.run.records import ENCODE, OUTCOMES, Study
from aacbench.run.store import Cell, outcomes, scan
from aacbench.run.verified import Verified
from aacbench.util.atomic_io import make_folder, replace_file, storing
from aacbench.util.canonical import digest, pretty
from aacbench.util.file_lock import LOCKS, file_lock
from aacbench.util.input_file import read_input

PROTOCOL_TAG, PLAN_TAG = "aacbench.protocol/1", "aacbench.plan/1"
_RERUN = "remove it and run the study again, which keeps its cells."


@dataclass(frozen=True, slots=True)
class StudySummary:
    """The planned cells by outcome, and the cells that are damaged, missing, or not planned."""

    outcomes: Mapping[str, int]
    damaged: Mapping[str, str]
    planned: int
    missing: tuple[str, ...]
    unplanned: tuple[str, ...]


@dataclass(frozen=True)  # without slots, which `cached_property` cannot have
class StudyContents:
    """A study as read from disk once: its plan, its undamaged cells, and an error for each damaged one."""

    plan: Mapping[str, Any] | None
    cells: Mapping[str, Cell]
    damaged: Mapping[str, str]

    def planned_cells(self) -> list[Cell]:
        """The cells of methods, which have queries."""
        return list(self._planned)

    def encode_cells(self) -> list[Cell]:
        """The cells of encoders, of a study on maps."""
        return list(self._encoders)

    @cached_property
    def _encoders(self) -> list[Cell]:
        return [cell for cell in self._every_planned() if cell.key.get("role") == ENCODE]

    @cached_property
    def _planned(self) -> list[Cell]:
        return [cell for cell in self._every_planned() if cell.key.get("role") != ENCODE]

    def _every_planned(self) -> list[Cell]:
        names = self.plan["cells"] if self.plan is not None else []
        return [self.cells[name] for name in names if name in self.cells]

    @property
    def has_variants(self) -> bool:
        return bool((self.plan or {}).get("study", {}).get("variants"))

    def own_cells(self) -> list[Cell]:
        """The planned cells of the study itself, without those of its variants."""
        return list(self._own)

    def reported_cells(self) -> list[Cell]:
        """Those of them that results are reported of."""
        return list(self._reported)

    @cached_property
    def _own(self) -> list[Cell]:
        return [cell for cell in self._planned if not cell.variant]

    @cached_property
    def _reported(self) -> list[Cell]:
        return [cell for cell in self._own if cell.is_reported]

    def outcomes(self) -> dict[str, str | DamagedCellError]:
        """The outcome of every cell, or the error that says how it is damaged."""
        damaged = {name: DamagedCellError(sentence) for name, sentence in self.damaged.items()}
        return {name: cell.outcome for name, cell in self.cells.items()} | damaged

    def summary(self) -> StudySummary:
        return self._counted

    @cached_property
    def _counted(self) -> StudySummary:
        return _summary(self.plan, {name: cell.outcome for name, cell in self.cells.items()}, self.damaged)


def _summary(plan: Mapping[str, Any] | None, outcomes: Mapping[str, str], damaged: Mapping[str, str]) -> StudySummary:
    planned = set(plan["cells"] if plan is not None else [])
    seen = outcomes.keys() | damaged.keys()
    counts = Counter(outcomes[name] for name in planned & outcomes.keys())
    return StudySummary(
        outcomes={outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]},
        damaged=damaged,
        planned=len(planned),
        missing=tuple(sorted(planned - seen)),
        unplanned=tuple(sorted(seen - planned)),
    )


def protocol_digest(study: Study) -> str:
    """Return the sha256 of everything the study fixes; key order and number format do not matter."""
    return digest(study.record(), PROTOCOL_TAG)


def check_folder(root: Path, study: Study) -> None:
    """Refuse a folder that contains another study, or other files and no study."""
    ours = {PLAN, CELLS, RUNS, LOCKS, ARTIFACTS, DERIVED, REGISTRATION}
    try:
        names = {path.name for path in root.iterdir() if not path.name.startswith(".")}
    except OSError:  # does not exist yet, or is not a folder, which the first write reports
        return
    if PLAN not in names and names - ours:
        raise UsageError(f"{root} contains other files, such as {min(names - ours)}; choose a new folder with --out.")
    _check_same(root, read_plan(root), protocol_digest(study))


def _check_same(root: Path, stored: Mapping[str, Any] | None, protocol: str) -> None:
    if stored is not None and stored["protocol_digest"] != protocol:
        raise UsageError(f"{root} contains another study; choose another folder with --out.")


def write_plan(root: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan, with at least its `protocol_digest` and `cells` (ids); refuse one of another protocol."""
    data = pretty({**_check(plan, "The plan"), "sha256": digest(plan, PLAN_TAG)})
    with storing(root):
        make_folder(root)
    with file_lock(root, PLAN, wait=True):
        _check_same(root, read_plan(root), plan["protocol_digest"])
        with storing(root):
            replace_file(root / PLAN, data)


def read_plan(root: Path) -> dict[str, Any] | None:
    path = root / PLAN
    try:
        plan = json.loads(read_input(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise DamagedPlanError(f"{path} is damaged: it is not JSON; {_RERUN}") from error
    if not isinstance(plan, dict) or plan.pop("sha256", None) != digest(plan, PLAN_TAG):
        raise DamagedPlanError(f"{path} is damaged: it changed since it was written; {_RERUN}")
    return _check(plan, str(path))


def read_study(root: Path, *, remember: bool = True) -> StudyContents:
    """Read a whole study; every byte is checked, and cells found right are remembered as `outcomes` does."""
    cells: dict[str, Cell] = {}
    damaged: dict[str, str] = {}
    plan, verified = read_plan(root), Verified(root)
    for name, cell in scan(root, verified):
        if isinstance(cell, DamagedCellError):
            damaged[name] = str(cell)
        else:
            cells[name] = cell
    if remember:
        verified.save()
    return StudyContents(plan, cells, damaged)


def planned_cells(root: Path) -> list[Cell]:
    return read_study(root).planned_cells()


def summary(root: Path) -> StudySummary:
    """Return the same as `read_study(root).summary()`, with one cell at a time in memory."""
    plan, found = read_plan(root), outcomes(root)
    sound = {name: outcome for name, outcome in found.items() if not isinstance(outcome, DamagedCellError)}
    damaged = {name: str(outcome) for name, outcome in found.items() if isinstance(outcome, DamagedCellError)}
    return _summary(plan, sound, damaged)


def _check(plan: Any, where: str) -> dict[str, Any]:
    cells = plan.get("cells") if isinstance(plan, Mapping) else None
    listed = isinstance(cells, list | tuple) and all(isinstance(cell, str) and is_cell_id(cell) for cell in cells)
    if not listed or not isinstance(plan.get("protocol_digest"), str):
        raise DataError(f"{where} must have a `protocol_digest` and a list of cell ids `cells`.")
    return dict(plan)
