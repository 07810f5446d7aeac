"""The choice among candidates, on the split that the study chooses on, and the record of it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.run.plan import CHOSEN_ON, CellPlan, chosen
from aacbench.run.records import TEST
from aacbench.run.store import Cell, read_or_damage

Choice = tuple[CellPlan, dict[str, Any], Cell]  # the cell to be run, what it was chosen from, and the winner's own cell


def choose(root: Path, groups: Iterable[list[tuple[CellPlan, str]]], selection: str) -> list[Choice]:
    """Choose from each group the candidate with the fewest mean expansions; of equals, the first."""
    cells = []
    for candidates in groups:
        found = [(cell, name, read_or_damage(root, name)) for cell, name in candidates]
        sound = [(cell, name, stored) for cell, name, stored in found if isinstance(stored, Cell)]
        scored = [(_mean_expansions(stored), cell, stored) for cell, _, stored in sound if stored.outcome == "ok"]
        if not scored or len(sound) < len(found):
            continue  # a choice made without a damaged cell could be another one
        note = {
            "selection": selection,
            "split": CHOSEN_ON[selection],
            "retrospective": CHOSEN_ON[selection] == TEST,
            "candidates": [_candidate(name, stored) for _, name, stored in sound],
        }
        _, best, winner = min(scored, key=lambda one: one[0])
        cells.append((chosen(best), {"chosen_from": note}, winner))
    return cells


def _candidate(name: str, cell: Cell) -> dict[str, Any]:
    return {"cell": name, "outcome": cell.outcome, "queries_sha256": cell.record["files"].get("queries.csv")}


def _mean_expansions(cell: Cell) -> float:
    return float(np.mean(cell.queries["expanded"]))
