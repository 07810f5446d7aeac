"""The results table of a study: one row per graph, budget and method, computed from the stored rows."""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.reports.formatting import (
    LONGEST_REASON,
    WORK,
    aligned,
    cell_settings,
    is_matched,
    is_oracle,
    literal,
    mark_notes,
    marked,
    optional,
    said_in,
    setting_text,
    switches,
    tabular,
    with_short_graphs,
    with_spread,
    without_markup,
)
from aacbench.run.layout import short_ids
from aacbench.run.matched import bytes_per_vertex, self_reported
from aacbench.run.records import BASELINE, OUTCOMES, TEST, VALIDATION, without_traffic
from aacbench.run.store import Cell, read_totals
from aacbench.util.text import one_line

MOST_IDS = 5  # of the cells with one reason
_RULES = {
    "directionality-aware/1": "each value counts as 4 bytes, and direction is as declared by the data set",
    "four-byte/1": "each value counts as 4 bytes",
    "as-declared/1": "direction is as declared by the data set",
}
REMEDIES = {"timeout": "raise --time-limit", "out-of-memory": "raise --memory-limit"}
TEXT_COLUMNS = ("graph", "traffic", "method", "variant", "settings", "outcome")


_Place = tuple[str, str, float, str]  # variant, graph, budget and label


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a method on a graph at a budget, over its seeds; docs/running.md says what each field means."""

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
    test_sd: float | None
    h_work: float | None
    total: float | None
    reduction: float | None
    reduction_sd: float | None
    cost_mean: float | None
    cost_worst: float | None
    outcome: str
    reason: str
    failed: str
    parameters: str
    policy: str
    facts: str
    ids: tuple[str, ...]
    variant: str = ""
    traffic: str = ""

    def cells(self) -> dict[str, str]:
        baseline = self.method == BASELINE
        return {
            "graph": without_traffic(self.graph, self.traffic),
            "traffic": self.traffic,
            "budget": "" if baseline else f"{self.budget:g}",
            "method": marked(self.method, self.oracle, self.matched),
            "variant": self.variant,
            "nominal B/v": "" if self.convention.startswith("measured/") else optional(self.nominal, ".4g"),
            "measured B/v": "declared" if self.declared else optional(self.measured, ".1f"),
            "settings": self.settings,
            "seeds": "" if baseline else str(self.seeds),
            "validation": optional(self.validation, ".2f"),
            "test": with_spread(self.test, self.test_sd),
            "h_work": optional(self.h_work, ".2f"),
            "test + h_work": optional(self.total, ".2f"),
            "reduction %": "" if baseline else with_spread(self.reduction, self.reduction_sd),
            "mean cost": optional(self.cost_mean, ".4f"),
            "worst cost": optional(self.cost_worst, ".4f"),
            "outcome": "" if self.outcome == "ok" else self.outcome,
        }


def rows_of(cells: Iterable[Cell]) -> list[Row]:
    """Return the rows by graph, then by budget, at which methods are compared; the baseline comes first."""
    groups: dict[_Place, list[Cell]] = {}
    cells = list(cells)
    read_totals(cells)
    for cell in cells:
        key = cell.key
        groups.setdefault((cell.variant, key["graph"], key["budget"], key["label"]), []).append(cell)
    bases = {place[:2]: group for place, group in groups.items() if place[3] == BASELINE}
    places = {place: number for number, place in enumerate(dict.fromkeys(place[:2] for place in groups))}
    ordered = sorted(groups, key=lambda place: (places[place[:2]], place[3] != BASELINE, place[2]))
    return [_row(place, groups[place], bases.get(place[:2], [])) for place in ordered]


def markdown(rows: Sequence[Row], notes: Iterable[str] = (), plain_reasons: bool = False) -> str:
    """Return the table, notes, and the reasons of failures; these without the escapes of Markdown for a terminal."""
    if not rows:
        return "No cells yet."
    rows, graph_notes = with_short_graphs(with_told_work(rows))
    said = "\n".join([*notes, *_notes(rows), *graph_notes])
    reasons = "\n".join(_reasons(rows))
    reasons = reasons if plain_reasons else without_markup("\n".join(map(literal, reasons.splitlines())))
    table = aligned([row.cells() for row in rows], TEXT_COLUMNS)
    return "\n\n".join(filter(None, [without_markup(table), without_markup(said), reasons]))


def with_told_work(rows: Sequence[Row]) -> Sequence[Row]:
    """Leave `h_work` out if no method has any: the columns would say nothing."""
    return rows if any(row.h_work for row in rows) else [replace(row, h_work=None, total=None) for row in rows]


def latex(rows: Sequence[Row], notes: Iterable[str] = ()) -> str:
    """Return the table as a LaTeX tabular, under comments with what is to be said of it."""
    if not rows:
        return "% No cells yet."
    rows, graph_notes = with_short_graphs(with_told_work(rows))
    said = [*notes, *_notes(rows), *graph_notes, *_reasons(rows)]
    return tabular([row.cells() for row in rows], TEXT_COLUMNS, said)


def csv_text(rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(Row.__slots__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) | {"ids": " ".join(row.ids)} for row in rows)
    return out.getvalue()


def _row(place: _Place, group: list[Cell], baseline: list[Cell]) -> Row:
    variant, graph, budget, label = place
    final = [cell for cell in group if cell.is_reported] or group
    # A candidate that is unsupported is left out of the choice, which is no failure of what was chosen.
    at_fault = [cell for cell in group if cell.is_reported or cell.outcome != "unsupported"] or group
    worst = max(at_fault, key=lambda cell: OUTCOMES.index(cell.outcome))
    test, spread, work = _mean(final, TEST), _spread(final, TEST), _mean(final, TEST, "h_work")
    base = _mean(baseline, TEST)
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
        settings=_settings(final, baseline),
        seeds=len({cell.key["seed"] for cell in final}),
        validation=_mean(_candidates(group, final), VALIDATION),
        test=test,
        test_sd=spread,
        h_work=work,
        total=None if test is None or work is None else test + work,
        reduction=100 * (1 - test / base) if test is not None and base else None,
        reduction_sd=100 * spread / base if spread is not None and base else None,
        cost_mean=float(costs.mean()) if len(costs) else None,
        cost_worst=float(costs.max()) if len(costs) else None,
        outcome=worst.outcome,
        reason=worst.record.get("reason", ""),
        failed="" if worst.outcome == "ok" else worst.cell_id,
        parameters=_by_seed(final, _own_settings(final, False)),
        policy=_by_seed(final, map(_policy, final)),
        facts=_by_seed(final, (setting_text(cell.record.get("build", {}).get("facts", {})) for cell in final)),
        ids=tuple(cell.cell_id for cell in final),
        variant=variant,
        traffic=final[0].key.get("traffic", ""),
    )


def _candidates(group: list[Cell], final: list[Cell]) -> list[Cell]:
    """Return the cells with the reported settings: the validation rows of a chosen cell are in its candidate."""
    chosen: dict[int, list[Mapping[str, object]]] = {}
    for cell in final:
        chosen.setdefault(cell.key["seed"], []).append(cell.key["params"])
    return [cell for cell in group if cell.key["params"] in chosen.get(cell.key["seed"], ())]


def _notes(rows: Sequence[Row]) -> list[str]:
    notes = [_meaning(rows)] if any(row.test is not None or row.validation is not None for row in rows) else []
    if any(row.test_sd is not None for row in rows):
        notes.append("±: standard deviation over the seeds (of the sample, n - 1).")
    notes += [WORK] if any(row.h_work for row in rows) else []
    notes += [
        f"No reductions on {row.graph}: its {BASELINE} cell is {row.outcome}, for the reason below; "
        f"{REMEDIES.get(row.outcome, 'remove the cause')}, then run again with --existing retry-failed."
        for row in rows
        if row.method == BASELINE and row.outcome != "ok"
    ]
    with_baseline = {row.graph for row in rows if row.method == BASELINE}
    notes += [
        f"No reductions on {graph}: its {BASELINE} cell is missing or damaged; run the study again."
        for graph in dict.fromkeys(row.graph for row in rows)
        if graph not in with_baseline
    ]
    notes += [
        f"Nominal bytes follow {name}: {_RULES[name]}; measured bytes are those of the arrays."
        for name in sorted({row.convention for row in rows})
        if name in _RULES
    ]
    if any(row.declared for row in rows):
        notes.append("declared: self-reported memory; excluded from comparisons at matched memory.")
    if any(row.cost_mean is not None for row in rows):
        notes.append(
            "cost: path cost divided by the shortest, for methods that do not claim shortest paths; "
            "do not compare their expansions with those of methods that do."
        )
    return notes + mark_notes(any(row.oracle for row in rows), all(row.matched for row in rows))


def _meaning(rows: Sequence[Row]) -> str:
    reduced = any(row.reduction is not None for row in rows if row.method != BASELINE)
    against = f"; reduction is against {BASELINE} on the test queries" if reduced else ""
    return f"Mean expansions per query{against}."


def notes_of(rows: Sequence[Row]) -> list[str]:
    """Return what a reader of the table must know; the reasons of failed cells are not among them."""
    return _notes(rows)


def _reasons(rows: Sequence[Row]) -> list[str]:
    """Return a line for each reason, with the ids of the cells that have it, the worst first."""
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.outcome != "ok":
            grouped.setdefault((row.outcome, row.reason or "no reason given"), []).append(row)
    short = short_ids(name for row in rows for name in (*row.ids, row.failed) if name)
    lines = []
    for (outcome, reason), failed in sorted(grouped.items(), key=lambda item: -OUTCOMES.index(item[0][0])):
        places: dict[str, list[str]] = {}
        for row in failed:
            variant = f" ({row.variant})" if row.variant else ""
            places.setdefault(f"{row.method} on {row.graph}{variant}", []).append(f"{row.budget:g}")
        listed = "; ".join(f"{place} at {', '.join(budgets)} B/v" for place, budgets in places.items())
        names = ", ".join(short[row.failed] for row in failed[:MOST_IDS]) + (", ..." if failed[MOST_IDS:] else "")
        lines.append(f"- {names}: {outcome}: {one_line(listed)}: {one_line(reason, LONGEST_REASON)}")
    return lines


def _means(cells: list[Cell], split: str, column: str = "expanded") -> list[float]:
    """Return the mean over queries of each cell that has them, which is one a seed."""
    answered = (cell for cell in cells if cell.outcome == "ok" and split in cell.key["splits"])
    return [mean for cell in answered if (mean := cell.mean(split, column)) is not None]


def _mean(cells: list[Cell], split: str, column: str = "expanded") -> float | None:
    """Return the mean over seeds of the mean over queries."""
    means = _means(cells, split, column)
    return float(np.mean(means)) if means else None


def _spread(cells: list[Cell], split: str) -> float | None:
    """Return the sample standard deviation over seeds of the mean over queries; one seed has none."""
    means = _means(cells, split)
    return float(np.std(means, ddof=1)) if len(means) > 1 else None


def _cost_ratios(cells: list[Cell]) -> Array:
    """Return path cost / shortest cost on the test queries, if the method does not claim shortest paths."""
    ratios = [np.empty(0)]
    for cell in cells:
        if cell.outcome == "ok" and TEST in cell.key["splits"] and not cell.claims.get("admissible", True):
            columns = cell.queries
            counted = (columns["split"] == TEST) & (columns["outcome"] == "ok") & (columns["reference_cost"] > 0)
            ratios.append(columns["path_cost"][counted] / columns["reference_cost"][counted])
    return np.concatenate(ratios)


def _settings(cells: list[Cell], baseline: list[Cell]) -> str:
    """Return what differs from the defaults and is not in the label, and the search's switches if unlike dijkstra's."""
    usual, said = switches(_policy(baseline[0]) if baseline else "modern"), said_in(cells[0].key["label"])
    shown = set()
    for cell, own in zip(cells, _own_settings(cells, True, said), strict=True):
        changed = {key: value for key, value in switches(_policy(cell)).items() if usual.get(key) != value}
        shown.add(" ".join(filter(None, (own, setting_text(changed, said)))))
    return shown.pop() if len(shown) == 1 else "by seed"


def _by_seed(cells: list[Cell], texts: Iterable[str]) -> str:
    """Return a text about the cells: one for all, or one for each seed where they differ."""
    found = {cell.key["seed"]: text for cell, text in zip(cells, texts, strict=True)}
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    return "; ".join(f"seed {seed}: {said}" for seed, said in found.items())


def _own_settings(cells: list[Cell], known: bool, said: Collection[str] = ()) -> Iterator[str]:
    """Yield the settings of each cell, without the defaults where they are `known`; made once for equal neighbours."""
    last: tuple[Any, ...] = ()
    text = ""
    for cell in cells:
        build = cell.record.get("build", {})
        own = cell.key["method"], cell.key["params"], build.get("chosen"), build.get("facts", {}).get("chosen")
        if own != last:
            text, last = cell_settings(cell, known, said), own
        yield text


def _policy(cell: Cell) -> str:
    policy: str = cell.key.get("policy", "modern")
    return policy
