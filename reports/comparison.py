"""Two methods, or one method in two studies, query by query."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.reports.cells import UNMATCHED, Marks, all_marks, marks_of
from aacbench.reports.tables import aligned
from aacbench.run.plan import BASELINE, TEST
from aacbench.run.rows import read_queries
from aacbench.run.store import Cell

Array = npt.NDArray[Any]
Place = tuple[str, float]  # graph and budget


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: a method in a study, and the study's cells."""

    name: str
    study: Path
    method: str
    planned: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B on one graph at one budget, over the test queries that both answered; ratios are A over B."""

    graph: str
    budget: float
    queries: int
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


def compare(a: Side, b: Side) -> list[Comparison]:
    """Every graph and budget that both sides have; seeds are paired, and a side with one seed meets each of the other.

    Dijkstra stores nothing, so its one cell a graph stands for every budget.
    """
    mine, yours = _cells(a), _cells(b)
    places = [place for place in _places(mine, yours) if _at(mine, place, a) and _at(yours, place, b)]
    found = [_compared(place, _at(mine, place, a), _at(yours, place, b)) for place in places]
    if not found:
        raise UsageError(f"{a.name} and {b.name} have no graph and budget in common on which both were run.")
    return found


def differences(a: Side, b: Side) -> dict[str, tuple[str, str]]:
    """What else than the method is different between the two, and so may be what is seen: the search, the bytes."""
    mine, yours = _terms(_cells(a)), _terms(_cells(b))
    return {name: (mine[name], yours[name]) for name in mine if mine[name] != yours[name]}


def _terms(cells: list[Cell]) -> dict[str, str]:
    policies = {str(cell.key.get("policy", "")) for cell in cells}
    conventions = {f"{charged['name']}/{charged['version']}" for charged in (cell.key["convention"] for cell in cells)}
    return {"search": " or ".join(sorted(policies)), "convention": " or ".join(sorted(conventions))}


def markdown(rows: Sequence[Comparison], a: str, b: str, apart: Mapping[str, tuple[str, str]] | None = None) -> str:
    """The table, and how to read it; `apart` is what differs besides the two methods."""
    table = [
        {
            "graph": row.graph,
            "budget": f"{row.budget:g}",
            "queries": str(row.queries),
            "left out": str(row.left_out) if row.left_out else "",
            "mean A": f"{row.mean_a:.2f}",
            "mean B": f"{row.mean_b:.2f}",
            "mean of the lesser": f"{row.mean_of_minimum:.2f}",
            "A/B": f"{row.ratio_of_means:.4f}",
            "geometric A/B": f"{row.geometric_mean_ratio:.4f}",
            "A fewer %": f"{100 * row.won:.1f}",
            "B fewer %": f"{100 * row.lost:.1f}",
            "tied %": f"{100 * row.tied:.1f}",
            "A B/v": _number(row.bytes_a),
            "B B/v": _number(row.bytes_b),
            "A - B B/v": _number(_difference(row)),
        }
        for row in rows
    ]
    marks = [all_marks(Marks(shown, matched=True) for shown in side) for side in _oracles(rows)]
    a, b = a + marks[0].text, b + marks[1].text
    notes = [] if all(row.matched for row in rows) else [f"A or B {UNMATCHED}"]
    notes += [
        f"Not the same for both: {name}, {one} for A and {other} for B." for name, (one, other) in (apart or {}).items()
    ]
    note = "".join(f"\n\n{note}" for note in notes + all_marks(marks).notes)
    return (
        f"A is {a}, B is {b}. Expansions per test query, paired; below 1, A expands less. The mean of the lesser "
        f"takes, query by query, whichever of two separate searches expanded less: no search does that.\n\n"
        f"{aligned(table, ('graph',))}{note}"
    )


def records(rows: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The table for a script."""
    return [asdict(row) for row in rows]


def _cells(side: Side) -> list[Cell]:
    labels = list(dict.fromkeys(cell.key["label"] for cell in side.planned))
    if side.method not in labels:
        known = ", ".join(labels) or "none"
        raise UsageError(f"there is no method {side.method!r} in {side.study}; there are {known}.")
    return [cell for cell in side.planned if cell.key["label"] == side.method and TEST in cell.key["splits"]]


def _places(mine: list[Cell], yours: list[Cell]) -> list[Place]:
    every = [(cell.key["graph"], cell.key["budget"]) for cell in [*mine, *yours]]
    return list(dict.fromkeys(every))


def _at(cells: list[Cell], place: Place, side: Side) -> list[Cell]:
    graph, budget = place
    anywhere = side.method == BASELINE
    return [cell for cell in cells if cell.key["graph"] == graph and (anywhere or cell.key["budget"] == budget)]


def _compared(place: Place, mine: list[Cell], yours: list[Cell]) -> Comparison:
    pairs = [_paired(one, other) for one, other in _by_seed(mine, yours)]
    a, b = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    left_out = sum(pair[2] for pair in pairs)
    sizes, marks = (_bytes(mine), _bytes(yours)), (marks_of(mine), marks_of(yours))
    matched, oracles = all_marks(marks).matched, tuple(side.oracle for side in marks)
    if not len(a):
        nan = float("nan")
        return Comparison(*place, 0, left_out, nan, nan, nan, nan, nan, nan, nan, *sizes, nan, matched, *oracles)
    return Comparison(
        *place,
        queries=len(a),
        left_out=left_out,
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        ratio_of_means=float(a.mean() / b.mean()),
        geometric_mean_ratio=float(np.exp(np.mean(np.log(a) - np.log(b)))),
        won=float(np.mean(a < b)),
        lost=float(np.mean(a > b)),
        tied=float(np.mean(a == b)),
        bytes_a=sizes[0],
        bytes_b=sizes[1],
        mean_of_minimum=float(np.minimum(a, b).mean()),
        matched=matched,
        oracle_a=oracles[0],
        oracle_b=oracles[1],
    )


def _by_seed(mine: list[Cell], yours: list[Cell]) -> Iterator[tuple[Cell, Cell]]:
    for one in mine:
        for other in yours:
            if len(mine) == 1 or len(yours) == 1 or one.key["seed"] == other.key["seed"]:
                yield one, other


def _paired(one: Cell, other: Cell) -> tuple[Array, Array, int]:
    """Expansions of both on the queries both answered, and how many queries were left out."""
    if one.key["graph_digest"] != other.key["graph_digest"]:
        raise UsageError(f"the two studies mean different graphs by {one.key['graph']}, so they cannot be compared.")
    mine, yours = _answered(one), _answered(other)
    both = [query for query, expanded in mine.items() if expanded and yours.get(query)]
    every = len(mine.keys() | yours.keys())
    a, b = (np.array([side[query] for query in both], dtype=np.float64) for side in (mine, yours))
    return a, b, every - len(both)


def _answered(cell: Cell) -> dict[tuple[int, int, int], int]:
    """Expansions by query, zero where there is no answer to compare."""
    if "queries.csv" not in cell.files:
        return {}
    columns = read_queries(cell.files["queries.csv"])
    test = columns["split"] == TEST
    good = (columns["outcome"] == "ok") & (cell.outcome == "ok")
    names = zip(*(columns[name][test].tolist() for name in ("query", "source", "target")), strict=True)
    return dict(zip(names, np.where(good, columns["expanded"], 0)[test].tolist(), strict=True))


def _oracles(rows: Sequence[Comparison]) -> tuple[list[bool], list[bool]]:
    return [row.oracle_a for row in rows], [row.oracle_b for row in rows]


def _bytes(cells: list[Cell]) -> float | None:
    found = [cell.record["bytes"]["measured_per_vertex"] for cell in cells if "bytes" in cell.record]
    return max(found) if found else None


def _difference(row: Comparison) -> float | None:
    return None if row.bytes_a is None or row.bytes_b is None else row.bytes_a - row.bytes_b


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
