"""A study folder as a whole: the plan it belongs to, and how far it has come."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, DamagedPlanError, DataError, UsageError
from aacbench.run.layout import ARTIFACTS, CELLS, DERIVED, PLAN, REGISTRATION, RUNS, is_cell_id
from aacbench.run.records import OUTCOMES, Study
from aacbench.run.store import Cell, scan
from aacbench.util.atomic_io import make_folder, replace_file, storing
from aacbench.util.canonical import digest, pretty
from aacbench.util.file_lock import LOCKS, file_lock

PROTOCOL_TAG, PLAN_TAG = "aacbench.protocol/1", "aacbench.plan/1"


@dataclass(frozen=True, slots=True)
class StudySummary:
    """How many cells of the plan have which outcome, and which are damaged, missing, or in no plan."""

    outcomes: Mapping[str, int]
    damaged: Mapping[str, str]
    planned: int
    missing: tuple[str, ...]
    unplanned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StudyContents:
    """All that a study holds, read and checked once: its plan, its sound cells, and what is wrong with the others."""

    plan: Mapping[str, Any] | None
    cells: Mapping[str, Cell]
    damaged: Mapping[str, str]

    def planned_cells(self) -> list[Cell]:
        """Every cell of the plan that is there and undamaged, in the order of the plan."""
        names = self.plan["cells"] if self.plan is not None else []
        return [self.cells[name] for name in names if name in self.cells]

    def summary(self) -> StudySummary:
        """How far the study has come."""
        planned = set(self.plan["cells"] if self.plan is not None else [])
        seen = self.cells.keys() | self.damaged.keys()
        outcomes = Counter(cell.outcome for cell in self.planned_cells())
        return StudySummary(
            outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES if outcomes[outcome]},
            damaged=self.damaged,
            planned=len(planned),
            missing=tuple(sorted(planned - seen)),
            unplanned=tuple(sorted(seen - planned)),
        )


def protocol_digest(study: Study) -> str:
    """The sha256 of everything the study decides; the order of keys and the spelling of numbers do not matter."""
    return digest(study.record(), PROTOCOL_TAG)


def check_folder(root: Path) -> None:
    """Refuse a folder that holds other things and no study, which would be mixed with ours."""
    ours = {PLAN, CELLS, RUNS, LOCKS, ARTIFACTS, DERIVED, REGISTRATION}
    try:
        names = {path.name for path in root.iterdir() if not path.name.startswith(".")}
    except OSError:  # not there yet, or no folder, which is told by whoever writes there
        return
    if PLAN not in names and names - ours:
        raise UsageError(f"{root} holds other things, such as {min(names - ours)}; choose a new folder with --out.")


def write_plan(root: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan, with at least its `protocol_digest` and the ids of its `cells`; one study has one protocol."""
    data = pretty({**_check(plan, "the plan"), "sha256": digest(plan, PLAN_TAG)})
    with storing(root):
        make_folder(root)
    with file_lock(root, PLAN, wait=True):
        there = read_plan(root)
        if there is not None and there["protocol_digest"] != plan["protocol_digest"]:
            raise UsageError(f"{root} holds another study; choose another folder with --out for this one.")
        with storing(root):
            replace_file(root / PLAN, data)


def read_plan(root: Path) -> dict[str, Any] | None:
    """The plan of a study, or None where there is none."""
    path = root / PLAN
    try:
        plan = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise DamagedPlanError(
            f"{path} is damaged; remove it and run the study again, which keeps its cells."
        ) from error
    if not isinstance(plan, dict) or plan.pop("sha256", None) != digest(plan, PLAN_TAG):
        raise DamagedPlanError(
            f"{path} is not what was written there; remove it and run the study again, which keeps its cells."
        )
    return _check(plan, str(path))


def read_study(root: Path) -> StudyContents:
    """Everything a study holds; each cell is read and checked."""
    plan = read_plan(root)
    cells: dict[str, Cell] = {}
    damaged: dict[str, str] = {}
    for name, found in scan(root):
        if isinstance(found, DamagedCellError):
            damaged[name] = str(found)
        else:
            cells[name] = found
    return StudyContents(plan, cells, damaged)


def summary(root: Path) -> StudySummary:
    """Count what a study holds, reading and checking every cell."""
    return read_study(root).summary()


def _check(plan: Any, where: str) -> dict[str, Any]:
    cells = plan.get("cells") if isinstance(plan, Mapping) else None
    listed = isinstance(cells, list | tuple) and all(isinstance(cell, str) and is_cell_id(cell) for cell in cells)
    if not listed or not isinstance(plan.get("protocol_digest"), str):
        raise DataError(f"{where} must have a `protocol_digest` and a list of `cells`, which are ids.")
    return dict(plan)
