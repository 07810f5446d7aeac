"""The results table of a study: one row per graph, budget and method, computed from the stored rows."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.reports.formatting import (
    LONGEST_REASON,
    aligned,
    is_matched,
    is_oracle,
    literal,
    mark_notes,
    marked,
    optional,
    short_settings,
    with_short_graphs,
    without_markup,
)
from aacbench.run.matched import bytes_per_vertex, self_reported
from aacbench.run.records import BASELINE, OUTCOMES, TEST, VALIDATION
from aacbench.run.store import Cell
from aacbench.util.text import one_line

TEXT_COLUMNS = ("graph", "method", "settings", "outcome")


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a method on a graph at a budget, over its seeds; means are of expansions."""

    graph: str
    budget: float
    method: str
    oracle: bool
    matched: bool
    convention: str
    nominal: float | None
    measured: float | None
    declared: bool
    settings: str
    seeds: int
    validation: float | None
    test: float | None
    reduction: float | None
    cost_mean: float | None
    cost_worst: float | None
    outcome: str
    reason: str

    def cells(self) -> dict[str, str]:
        baseline = self.method == BASELINE
        return {
            "graph": self.graph,
            "budget": "" if baseline else f"{self.budget:g}",
            "method": marked(self.method, self.oracle, self.matched),
            "nominal B/v": "" if self.convention.startswith("measured/") else optional(self.nominal, ".4g"),
            "measured B/v": "declared" if self.declared else optional(self.measured, ".1f"),
            "settings": self.settings,
            "seeds": "" if baseline else str(self.seeds),
            "validation": optional(self.validation, ".2f"),
            "test": optional(self.test, ".2f"),
            "reduction %": "" if baseline else optional(self.reduction, ".2f"),
            "mean cost": optional(self.cost_mean, ".4f"),
            "worst cost": optional(self.cost_worst, ".4f"),
            "outcome": "" if self.outcome == "ok" else self.outcome,
        }


def rows_of(cells: Iterable[Cell]) -> list[Row]:
    groups: dict[tuple[str, float, str], list[Cell]] = {}
    for cell in cells:
        key = cell.key
        groups.setdefault((key["graph"], key["budget"], key["label"]), []).append(cell)
    base = {graph: _mean(group, TEST) for (graph, _, label), group in groups.items() if label == BASELINE}
    return [_row(key, group, base.get(key[0])) for key, group in groups.items()]


def markdown(rows: Sequence[Row], notes: Iterable[str] = ()) -> str:
    if not rows:
        return "No cells yet."
    rows, graph_notes = with_short_graphs(rows)
    parts = [aligned([row.cells() for row in rows], TEXT_COLUMNS)]
    parts += ["\n".join(lines) for lines in ([*notes, *_notes(rows), *graph_notes], _reasons(rows)) if lines]
    return without_markup("\n\n".join(parts))


def csv_text(rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(Row.__slots__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def _row(key: tuple[str, float, str], group: list[Cell], base: float | None) -> Row:
    graph, budget, label = key
    worst = max(group, key=lambda cell: OUTCOMES.index(cell.outcome))
    final = [cell for cell in group if cell.is_reported] or group
    test = _mean(final, TEST)
    charged = final[0].key["convention"]
    costs = _cost_ratios(final)
    return Row(
        graph=graph,
        budget=budget,
        method=label,
        oracle=is_oracle(group),
        matched=is_matched(group),
        convention=f"{charged['name']}/{charged['version']}",
        nominal=None if label == BASELINE else bytes_per_vertex(final, "nominal_per_vertex"),
        measured=bytes_per_vertex(final),
        declared=self_reported(final),
        settings=_settings(final),
        seeds=len({cell.key["seed"] for cell in final}),
        validation=_mean(_candidates(group, final), VALIDATION),
        test=test,
        reduction=100 * (1 - test / base) if test is not None and base else None,
        cost_mean=float(costs.mean()) if len(costs) else None,
        cost_worst=float(costs.max()) if len(costs) else None,
        outcome=worst.outcome,
        reason=worst.record.get("reason", ""),
    )


def _candidates(group: list[Cell], final: list[Cell]) -> list[Cell]:
    """Return the cells with the reported settings: the validation rows of a chosen cell are in its candidate."""
    chosen = [(cell.key["params"], cell.key["seed"]) for cell in final]
    return [cell for cell in group if (cell.key["params"], cell.key["seed"]) in chosen]


def _notes(rows: Sequence[Row]) -> list[str]:
    notes = ["Mean expansions per query; reduction is against dijkstra on the test queries."]
    notes += [
        f"No reductions on {row.graph}: its {BASELINE} cell is {row.outcome}, for the reason below; "
        "raise the limit or remove the cause, then run again with --existing retry-failed."
        for row in rows
        if row.method == BASELINE and row.outcome != "ok"
    ]
    with_baseline = {row.graph for row in rows if row.method == BASELINE}
    notes += [
        f"No reductions on {graph}: its {BASELINE} cell is missing or damaged; run the study again."
        for graph in dict.fromkeys(row.graph for row in rows)
        if graph not in with_baseline
    ]
    conventions = sorted({row.convention for row in rows})
    if any(not name.startswith("measured/") for name in conventions):
        notes.append(
            f"Nominal bytes follow {', '.join(conventions)}: each value counts as 4 bytes, and direction is as "
            "declared by the data set; measured bytes are those of the arrays."
        )
    if any(row.declared for row in rows):
        notes.append("declared: self-reported memory; excluded from comparisons at matched memory.")
    if any(row.cost_mean is not None for row in rows):
        notes.append(
            "cost: path cost divided by the shortest, for methods that do not claim shortest paths; "
            "do not compare their expansions with those of methods that do."
        )
    return notes + mark_notes(any(row.oracle for row in rows), all(row.matched for row in rows))


def _reasons(rows: Sequence[Row]) -> list[str]:
    grouped: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        if row.outcome != "ok":
            places = grouped.setdefault((row.outcome, row.reason or "no reason given"), {})
            places.setdefault(f"{row.method} on {row.graph}", []).append(f"{row.budget:g}")
    worst_first = sorted(grouped.items(), key=lambda item: -OUTCOMES.index(item[0][0]))
    lines = []
    for (outcome, reason), places in worst_first:
        listed = "; ".join(f"{place} at {', '.join(budgets)} B/v" for place, budgets in places.items())
        lines.append(f"- {outcome}: {literal(one_line(listed))}: {literal(one_line(reason, LONGEST_REASON))}")
    return lines


def _mean(cells: list[Cell], split: str) -> float | None:
    """Return the mean over seeds of the mean over queries."""
    means = []
    for cell in cells:
        if cell.outcome != "ok" or split not in cell.key["splits"]:
            continue
        of_split = cell.queries["expanded"][cell.queries["split"] == split]
        means += [float(np.mean(of_split))] if len(of_split) else []
    return float(np.mean(means)) if means else None


def _cost_ratios(cells: list[Cell]) -> Array:
    """Return path cost / shortest cost on the test queries, if the method does not claim shortest paths."""
    ratios = [np.empty(0)]
    for cell in cells:
        if cell.outcome == "ok" and TEST in cell.key["splits"] and not cell.claims.get("admissible", True):
            columns = cell.queries
            counted = (columns["split"] == TEST) & (columns["outcome"] == "ok") & (columns["reference_cost"] > 0)
            ratios.append(columns["path_cost"][counted] / columns["reference_cost"][counted])
    return np.concatenate(ratios)


def _settings(cells: list[Cell]) -> str:
    settings = {
        short_settings(cell.key["method"], cell.key["params"], cell.record.get("defaults", {})) for cell in cells
    }
    return settings.pop() if len(settings) == 1 else "by seed"
