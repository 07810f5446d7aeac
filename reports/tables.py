"""The results table of a study: one row per graph, budget and method, from the raw rows on disk."""

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

from aacbench.contract.composite import PARTS
from aacbench.reports.cells import Marks, all_marks, marks_of
from aacbench.run.plan import BASELINE
from aacbench.run.records import OUTCOMES
from aacbench.run.rows import read_queries
from aacbench.run.store import Cell
from aacbench.util.text import one_line

Array = npt.NDArray[Any]

TEXT_COLUMNS = ("graph", "method", "settings", "outcome")
LONGEST_CELL, LONGEST_REASON = 200, 400  # characters of a plugin's words in a table, and below it


@dataclass(frozen=True, slots=True)
class Row:
    """A method's result on a graph at a budget, over its seeds; means are of expansions."""

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

    @property
    def marks(self) -> Marks:
        """What keeps it from standing beside others as if it were one of them."""
        return Marks(self.oracle, self.matched)

    def cells(self) -> dict[str, str]:
        """The row as the table shows it, by column."""
        baseline = self.method == BASELINE
        return {
            "graph": self.graph,
            "budget": "" if baseline else f"{self.budget:g}",
            "method": self.method + self.marks.text,
            "nominal B/v": "" if self._measured_only() else _text(self.nominal, ".4g"),
            "measured B/v": "declared" if self.declared else _text(self.measured, ".1f"),
            "settings": self.settings,
            "seeds": "" if baseline else str(self.seeds),
            "validation": _text(self.validation, ".2f"),
            "test": _text(self.test, ".2f"),
            "reduction %": "" if baseline else _text(self.reduction, ".2f"),
            "mean cost": _text(self.cost_mean, ".4f"),
            "worst cost": _text(self.cost_worst, ".4f"),
            "outcome": "" if self.outcome == "ok" else self.outcome,
        }

    def _measured_only(self) -> bool:
        return self.convention.startswith("measured/")


def rows_of(cells: Iterable[Cell], oracles: Collection[str] = ()) -> list[Row]:
    """The rows of a study's cells, in their order; `oracles` are methods that are shown the test queries."""
    groups: dict[tuple[str, float, str], list[Cell]] = {}
    for cell in cells:
        key = cell.key
        groups.setdefault((key["graph"], key["budget"], key["label"]), []).append(cell)
    base = {graph: _mean(group, "test") for (graph, _, label), group in groups.items() if label == BASELINE}
    return [_row(key, group, base.get(key[0]), oracles) for key, group in groups.items()]


def markdown(rows: Sequence[Row], notes: Iterable[str] = ()) -> str:
    """The table, to be pasted anywhere, and below it what it cannot say."""
    tables = [row.cells() for row in rows]
    if not tables:
        return "No cells yet."
    parts = [aligned(tables, TEXT_COLUMNS)]
    parts += ["\n".join(lines) for lines in ([*notes, *_notes(rows)], _reasons(rows)) if lines]
    return "\n\n".join(parts)


def study_notes(plan: Mapping[str, Any] | None) -> list[str]:
    """What a reader of any table of a study with this plan must know, in a line each."""
    if plan is None or plan.get("study", {}).get("selection") != "retrospective":
        return []
    return ["Settings were chosen on the test queries themselves, so these numbers are too good."]


def aligned(rows: Sequence[Mapping[str, str]], text_columns: Collection[str]) -> str:
    """A Markdown table with numbers to the right and without the columns that are empty in every row."""
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    align = ["left" if name in text_columns else "right" for name in columns]
    body = [[one_line(row[name], LONGEST_CELL).replace("|", "\\|") for name in columns] for row in rows]
    return tabulate(body, headers=columns, tablefmt="pipe", colalign=align, disable_numparse=True)


def csv_text(rows: Iterable[Row]) -> str:
    """The table with one line a row and full precision."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(Row.__slots__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The table for a script."""
    return [asdict(row) for row in rows]


def _row(key: tuple[str, float, str], group: list[Cell], base: float | None, oracles: Collection[str]) -> Row:
    graph, budget, label = key
    worst = max(group, key=lambda cell: OUTCOMES.index(cell.outcome))
    # Under the retrospective rule candidates have test rows too; what is reported is the chosen one's.
    reported = [cell for cell in group if "test" in cell.key["splits"] and cell.key.get("role") != "candidate"]
    final = reported or group
    test = _mean(final, "test")
    charged = final[0].key["convention"]
    costs, marks = _cost_ratios(final), marks_of(group, oracles)
    return Row(
        graph=graph,
        budget=budget,
        method=label,
        oracle=marks.oracle,
        matched=marks.matched,
        convention=f"{charged['name']}/{charged['version']}",
        nominal=None if label == BASELINE else _bytes(final, "nominal_per_vertex"),  # which stores nothing
        measured=_bytes(final, "measured_per_vertex"),
        declared=any(not cell.record["bytes"].get("measured", True) for cell in final if "bytes" in cell.record),
        settings=_settings(final),
        seeds=len({cell.key["seed"] for cell in final}),
        validation=_mean(_candidates(group, final), "validation"),
        test=test,
        reduction=100 * (1 - test / base) if test is not None and base else None,
        cost_mean=float(costs.mean()) if len(costs) else None,
        cost_worst=float(costs.max()) if len(costs) else None,
        outcome=worst.outcome,
        reason=worst.record.get("reason", ""),
    )


def _candidates(group: list[Cell], final: list[Cell]) -> list[Cell]:
    """The cells with the settings that were chosen; after a choice, the validation rows are not in the final cells."""
    chosen = [(cell.key["params"], cell.key["seed"]) for cell in final]
    return [cell for cell in group if (cell.key["params"], cell.key["seed"]) in chosen]


def _notes(rows: Sequence[Row]) -> list[str]:
    notes = ["Mean expansions per query; reduction is against dijkstra on the test queries."]
    conventions = sorted({row.convention for row in rows})
    if any(not name.startswith("measured/") for name in conventions):
        notes.append(
            f"Bytes are charged by {', '.join(conventions)}: a value counts as 4 bytes whatever is held, and direction "
            "is as declared by the data set; measured are the bytes that are really there."
        )
    if any(row.declared for row in rows):
        notes.append(
            "declared: nobody measured these bytes, so the method is no part of a comparison at matched memory."
        )
    if any(row.cost_mean is not None for row in rows):
        notes.append(
            "cost: that of the paths found over that of shortest ones, for methods that do not claim to find those; "
            "their expansions are no match for those of methods that do."
        )
    return notes + all_marks(row.marks for row in rows).notes


def _reasons(rows: Sequence[Row]) -> list[str]:
    """Why something is not ok, each reason once with all it holds for."""
    grouped: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        if row.outcome != "ok":
            places = grouped.setdefault((row.outcome, row.reason or "no reason given"), {})
            places.setdefault(f"{row.method} on {row.graph}", []).append(f"{row.budget:g}")
    worst_first = sorted(grouped.items(), key=lambda item: -OUTCOMES.index(item[0][0]))
    return [
        f"- {outcome}: {_spelt(places)}: {one_line(reason, LONGEST_REASON)}"
        for (outcome, reason), places in worst_first
    ]


def _spelt(places: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{place} at {', '.join(budgets)} B/v" for place, budgets in places.items())


def _mean(cells: list[Cell], split: str) -> float | None:
    """The mean over seeds of the mean over queries."""
    means = []
    for cell in cells:
        if cell.outcome != "ok" or split not in cell.key["splits"]:
            continue
        columns = read_queries(cell.files["queries.csv"])
        of_split = columns["expanded"][columns["split"] == split]
        means += [float(np.mean(of_split))] if len(of_split) else []
    return float(np.mean(means)) if means else None


def _cost_ratios(cells: list[Cell]) -> Array:
    """Path costs over shortest ones on the test queries, of cells whose method does not claim shortest paths."""
    found = [np.empty(0)]
    for cell in cells:
        if cell.outcome == "ok" and "test" in cell.key["splits"] and not _claims_optimal(cell):
            columns = read_queries(cell.files["queries.csv"])
            counted = (columns["split"] == "test") & (columns["outcome"] == "ok") & (columns["reference_cost"] > 0)
            found.append(columns["path_cost"][counted] / columns["reference_cost"][counted])
    return np.concatenate(found)


def _claims_optimal(cell: Cell) -> bool:
    return bool(cell.record.get("claims", {}).get("admissible", True))


def _bytes(cells: list[Cell], name: str) -> float | None:
    found = [cell.record["bytes"][name] for cell in cells if "bytes" in cell.record]
    return max(found) if found else None


def _settings(cells: list[Cell]) -> str:
    """The settings, or that they differ between seeds."""
    spelt = {short_settings(cell.key["method"], cell.key["params"], cell.record.get("defaults", {})) for cell in cells}
    return spelt.pop() if len(spelt) == 1 else "by seed"


def short_settings(method: str, params: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]) -> str:
    """`K=8 labels=exact`, without what is as its method has it by default; the parts of a method follow it."""
    known = defaults.get(method, {})
    told = {key: value for key, value in sorted(params.items()) if key not in known or known[key] != value}
    own = " ".join(f"{key}={value}" for key, value in told.items() if key != PARTS)
    parts = " ".join(
        f"{part['method']}[{short_settings(part['method'], part['params'], defaults)}]"
        for part in params.get(PARTS, ())
    )
    return f"{own}: {parts}" if own and parts else own or parts


def _text(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
