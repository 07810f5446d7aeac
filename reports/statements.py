"""The calibrated statements of a study on maps: what each encoder's predictions allow to say about true costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.maps.calibration import (
    Statement,
    ambiguity,
    band_statement,
    ratios,
    regret_statement,
    selective_statement,
)
from aacbench.maps.names import PAPER
from aacbench.maps.record import CALIBRATION, TEST
from aacbench.reports.formatting import optional
from aacbench.run.predicted import MAP_COLUMNS, MAPS_FILE, of_cell
from aacbench.run.rows import read_table
from aacbench.run.store import Cell

TEXT = ("maps", "encoder", "statement", "state")
NOT_AVAILABLE, BROKEN = "not available", "broken"
SENTENCES = {
    "regret": "the path costs at most this many times the least",
    "band": "every cost is within a band of its prediction, so the path costs at most this many times the least",
    "selective": "made for this share of maps: the path is of least cost",
}
NOTE = (
    "Statements are about maps drawn like the calibration maps, and hold with probability 1 - alpha: regret: "
    f"{SENTENCES['regret']}; band: {SENTENCES['band']}; selective: {SENTENCES['selective']}, at confidence 0.9. "
    "held: share of test maps (of the selective statement, of those it is made for) on which it was right. broken: it "
    "held less often than chance explains. Paths are those from corner to corner."
)


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement by one encoder with one seed."""

    maps: str
    encoder: str
    seed: int
    statement: Statement

    def cells(self) -> dict[str, str]:
        told = self.statement
        state = NOT_AVAILABLE if told.bound is None else BROKEN if told.broken else ""
        share = told.kind == "selective" and told.bound is not None
        return {
            "maps": self.maps,
            "encoder": self.encoder,
            "seed": str(self.seed),
            "statement": told.kind,
            "alpha": f"{told.alpha:g}",
            "calibration maps": str(told.calibration),
            "test maps": str(told.test),
            "bound": f"{100 * (told.bound or 0):.1f} %" if share else optional(told.bound, ".4f"),
            "held %": optional(None if told.held is None else 100 * told.held, ".1f"),
            "state": state,
        }


def statement_rows(cells: Iterable[Cell], alphas: Sequence[float]) -> list[StatementRow]:
    """Return all statements of the encoders' cells that are ok."""
    return [row for cell in cells if cell.outcome == "ok" for alpha in alphas for row in _rows(cell, alpha)]


def alphas_of(plan: Mapping[str, Any] | None) -> Sequence[float]:
    """Return the error rates that a study's plan has."""
    study = {} if plan is None else plan.get("study", {})
    found: Sequence[float] = study.get("certificates", {}).get("alpha", ())
    return found


def _rows(cell: Cell, alpha: float) -> list[StatementRow]:
    found, columns = of_cell(cell), read_table(MAP_COLUMNS, cell.files[MAPS_FILE], MAPS_FILE)
    parts = {
        split: {key: values[columns["split"] == split] for key, values in columns.items()} for split in found.truth
    }
    scores = {split: part["true_cost"] / part["true_optimum"] for split, part in parts.items()}
    regret = regret_statement(scores[CALIBRATION], scores[TEST], alpha)
    low = {split: ratios(truth, found.costs[split], found.scale) for split, truth in found.truth.items()}
    band, _ = band_statement(*low[CALIBRATION], *low[TEST], alpha)
    # A band of cells bounds sums of cells, which is not what a path weighs by the paper's edges.
    statements = [regret] if cell.record.get("edges") == PAPER else [regret, band]
    if values := cell.record.get("training_costs"):
        known = np.array(values) * found.scale
        doubt = {split: ambiguity(found.costs[split], known) for split in found.truth}
        optimal = {split: part["true_cost"] == part["true_optimum"] for split, part in parts.items()}
        statements.append(_selective(doubt, optimal, alpha))
    key = cell.key
    return [StatementRow(key["graph"], key["label"], key["seed"], told) for told in statements]


def _selective(doubt: Mapping[str, Array], optimal: Mapping[str, Array], alpha: float) -> Statement:
    return selective_statement(doubt[CALIBRATION], optimal[CALIBRATION], doubt[TEST], optimal[TEST], alpha)


def safe_scales(cells: Iterable[Cell], alpha: float) -> dict[str, float]:
    """Return by encoder's cell the a of its band: a times h is admissible for true costs on maps where that holds."""
    found = {}
    for cell in cells:
        if cell.outcome == "ok":
            predicted = of_cell(cell)
            low, high = ratios(predicted.truth[CALIBRATION], predicted.costs[CALIBRATION], predicted.scale)
            found[cell.cell_id] = band_statement(low, high, low, high, alpha)[1]
    return {name: scale for name, scale in found.items() if not np.isnan(scale)}
