"""Compare two methods, or one method in two studies, query by query."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.reports.formatting import (
    UNMATCHED,
    WORK,
    aligned,
    is_matched,
    is_oracle,
    literal,
    mark_notes,
    marked,
    optional,
    with_short_graphs,
    without_markup,
)
from aacbench.run.layout import QUERIES_FILE
from aacbench.run.matched import by_query, bytes_apart, bytes_per_vertex, expansions
from aacbench.run.records import BASELINE, TEST
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents
from aacbench.stats import CROSSED_2
from aacbench.stats.paired import Expansions

Place = tuple[str, float]  # graph and budget
TEXT_COLUMNS = ("graph",)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a method in a study, and the study's cells."""

    name: str
    study: Path
    method: str
    planned: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B on one graph at one budget, over the test queries that both answered; ratios are A / B.

    `pairs` counts each query once for every pair of seeds, and so does `left_out`. `work` is the mean `h_work`, which a
    total adds to the expansions.
    """

    graph: str
    budget: float
    queries: int
    pairs: int
    left_out: int
    mean_a: float
    mean_b: float
    ratio_of_means: float
    geometric_mean_ratio: float
    won: float
    lost: float
    tied: float
    bytes_a: float | None
    bytes_b: float | None
    mean_of_minimum: float
    matched: bool
    oracle_a: bool
    oracle_b: bool
    work_a: float
    work_b: float
    ratio_of_totals: float


def compare(a: Side, b: Side) -> list[Comparison]:
    """Compare A and B on every graph and budget that both have.

    Seeds are paired; a side with a single seed is paired with every seed of the other. Dijkstra's one cell per graph
    stands for every budget.
    """
    cells_a, cells_b = _cells(a), _cells(b)
    places = dict.fromkeys((cell.key["graph"], cell.key["budget"]) for cell in [*cells_a, *cells_b])
    pairs = {place: (_at(cells_a, place, a), _at(cells_b, place, b)) for place in places}
    rows = [_compared(place, at_a, at_b) for place, (at_a, at_b) in pairs.items() if at_a and at_b]
    if not rows:
        raise UsageError(f"{a.name} and {b.name} have no graph and budget in common.")
    return rows


def differences(a: Side, b: Side) -> dict[str, tuple[str, str]]:
    terms_a, terms_b = _terms(_cells(a)), _terms(_cells(b))
    return {name: (terms_a[name], terms_b[name]) for name in terms_a if terms_a[name] != terms_b[name]}


def _terms(cells: list[Cell]) -> dict[str, str]:
    policies = {str(cell.key.get("policy", "")) for cell in cells}
    conventions = {f"{charged['name']}/{charged['version']}" for charged in (cell.key["convention"] for cell in cells)}
    return {"search": " or ".join(sorted(policies)), "convention": " or ".join(sorted(conventions))}


def markdown(
    rows: Sequence[Comparison],
    a: str,
    b: str,
    differing: Mapping[str, tuple[str, str]] | None = None,
    study_notes: Iterable[str] = (),
) -> str:
    """Return the table and how to read it; `differing` is the result of `differences`."""
    rows, graph_notes = with_short_graphs(rows)
    said = [*notes(rows, a, b, differing or {}), *graph_notes, *study_notes]
    names = (
        literal(marked(a, any(row.oracle_a for row in rows))),
        literal(marked(b, any(row.oracle_b for row in rows))),
    )
    parts = [legend(*names), aligned(table(rows), TEXT_COLUMNS), *said]
    return without_markup("\n\n".join(parts))


def marked_names(rows: Sequence[Comparison], a: str, b: str) -> tuple[str, str]:
    return marked(a, any(row.oracle_a for row in rows)), marked(b, any(row.oracle_b for row in rows))


def left_out(contents: StudyContents) -> list[str]:
    """Return a sentence where a study has variants, which are not compared."""
    shown = "`aacbench report STUDY --by variant` shows what they are worth"
    return [f"The variants of the study are left out; {shown}."] if contents.has_variants else []


def legend(a: str, b: str) -> str:
    return (
        f"A is {a}, B is {b}. Expansions per test query, paired; below 1, A expands less. "
        "The mean of the lesser takes the search that expanded less, query by query; no method does so."
    )


def table(rows: Sequence[Comparison]) -> list[dict[str, str]]:
    """Return the cells of the table by column; empty ones are those that a reader needs not see."""
    lazy = _lazy(rows)
    return [
        {
            "graph": row.graph,
            "budget": f"{row.budget:g}",
            "queries": str(row.queries),
            "pairs": str(row.pairs),
            "left out": str(row.left_out) if row.left_out else "",
            "mean A": _counted(row, row.mean_a, ".2f"),
            "mean B": _counted(row, row.mean_b, ".2f"),
            "mean of the lesser": _counted(row, row.mean_of_minimum, ".2f"),
            "A/B": _counted(row, row.ratio_of_means, ".4f"),
            "h_work A": _counted(row, row.work_a, ".2f") if lazy else "",
            "h_work B": _counted(row, row.work_b, ".2f") if lazy else "",
            "total A/B": _counted(row, row.ratio_of_totals, ".4f") if lazy else "",
            "geometric A/B": _counted(row, row.geometric_mean_ratio, ".4f"),
            "A fewer %": _counted(row, 100 * row.won, ".1f"),
            "B fewer %": _counted(row, 100 * row.lost, ".1f"),
            "tied %": _counted(row, 100 * row.tied, ".1f"),
            "A B/v": optional(row.bytes_a, ".1f"),
            "B B/v": optional(row.bytes_b, ".1f"),
            "A - B B/v": "" if row.bytes_a is None or row.bytes_b is None else f"{row.bytes_a - row.bytes_b:.1f}",
        }
        for row in rows
    ]


def _counted(row: Comparison, value: float, form: str) -> str:
    return format(value, form) if row.pairs else ""


def notes(rows: Sequence[Comparison], a: str, b: str, differing: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return what a reader of the table must know, one line each."""
    found = [] if all(row.matched for row in rows) else [f"A or B {UNMATCHED}"]
    empty = [f"{row.graph} at {row.budget:g} B/v" for row in rows if not row.pairs]
    found += [f"A and B answered no test query in common on {', '.join(empty)}."] if empty else []
    found += [] if BASELINE in (a, b) else unlike_memory(rows)
    found += [f"{WORK} A total is expansions and h_work together."] if _lazy(rows) else []
    found += [
        f"Not the same for both: {name}, {one} for A and {other} for B." for name, (one, other) in differing.items()
    ]
    return found + mark_notes(any(row.oracle_a or row.oracle_b for row in rows))


def _lazy(rows: Sequence[Comparison]) -> bool:
    return any(row.work_a > 0 or row.work_b > 0 for row in rows)


def unlike_memory(rows: Sequence[Comparison]) -> list[str]:
    """Return a sentence if the bytes of A and B differ by more than `stats` tolerates."""
    figures = [
        f"{row.bytes_a:.1f} B/v for A and {row.bytes_b:.1f} for B on {row.graph} with a budget of {row.budget:g}"
        for row in rows
        if row.bytes_a is not None and row.bytes_b is not None
        if bytes_apart(row.bytes_a, row.bytes_b) > CROSSED_2.bytes_tolerance
    ]
    more = f"; {len(figures) - 3} more" if figures[3:] else ""
    return [f"Memory is not matched: {'; '.join(figures[:3])}{more}."] if figures else []


def cells_at(side: Side, place: Place) -> list[Cell]:
    """Return the cells of a side on a graph at a budget; Dijkstra's stand for every budget."""
    return _at(_cells(side), place, side)


def _cells(side: Side) -> list[Cell]:
    labels = list(dict.fromkeys(cell.key["label"] for cell in side.planned))
    if side.method not in labels:
        known = ", ".join(labels) or "none"
        raise UsageError(f"No method {side.method!r} in {side.study}. Its methods are: {known}.")
    return [cell for cell in side.planned if cell.key["label"] == side.method and TEST in cell.key["splits"]]


def _at(cells: list[Cell], place: Place, side: Side) -> list[Cell]:
    graph, budget = place
    any_budget = side.method == BASELINE
    return [cell for cell in cells if cell.key["graph"] == graph and (any_budget or cell.key["budget"] == budget)]


def _compared(place: Place, cells_a: list[Cell], cells_b: list[Cell]) -> Comparison:
    pairs = [_paired(one, other) for one, other in _by_seed(cells_a, cells_b)]
    both = (np.concatenate([np.empty((2, 0)), *(pair[side] for pair in pairs)], axis=1) for side in (0, 1))
    (a, work_a), (b, work_b) = both
    return Comparison(
        *place,
        queries=len({query for pair in pairs for query in pair[2]}),
        pairs=len(a),
        left_out=sum(pair[3] for pair in pairs),
        mean_a=_mean(a),
        mean_b=_mean(b),
        ratio_of_means=_mean(a) / _mean(b),
        geometric_mean_ratio=float(np.exp(_mean(np.log(a) - np.log(b)))),
        won=_mean(a < b),
        lost=_mean(a > b),
        tied=_mean(a == b),
        bytes_a=bytes_per_vertex(cells_a),
        bytes_b=bytes_per_vertex(cells_b),
        mean_of_minimum=_mean(np.minimum(a, b)),
        matched=is_matched([*cells_a, *cells_b]),
        oracle_a=is_oracle(cells_a),
        oracle_b=is_oracle(cells_b),
        work_a=_mean(work_a),
        work_b=_mean(work_b),
        ratio_of_totals=_mean(a + work_a) / _mean(b + work_b),
    )


def _mean(values: Array) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _by_seed(cells_a: list[Cell], cells_b: list[Cell]) -> Iterator[tuple[Cell, Cell]]:
    for one in cells_a:
        for other in cells_b:
            if len(cells_a) == 1 or len(cells_b) == 1 or one.key["seed"] == other.key["seed"]:
                yield one, other


def _paired(one: Cell, other: Cell) -> tuple[Array, Array, list[Hashable], int]:
    """Return expansions and h_work of both on the queries both answered, these, and how many were left out."""
    if one.key["graph_digest"] != other.key["graph_digest"]:
        raise UsageError(
            f"The two studies have different graphs of the name {one.key['graph']}; they cannot be compared."
        )
    answers_a, answers_b = _answered(one), _answered(other)
    both = [query for query, expanded in answers_a.items() if expanded and answers_b.get(query)]
    every = len(answers_a.keys() | answers_b.keys())
    return _counts(one, both), _counts(other, both), both, every - len(both)


def _counts(cell: Cell, queries: Sequence[Hashable]) -> Array:
    counted = [by_query(cell, column) for column in ("expanded", "h_work")] if queries else [{}, {}]
    return np.array([[count[query] for query in queries] for count in counted], dtype=np.float64)


def _answered(cell: Cell) -> Expansions:
    if QUERIES_FILE not in cell.files:
        return {}
    answers = expansions(cell)
    return answers if cell.outcome == "ok" else dict.fromkeys(answers)
