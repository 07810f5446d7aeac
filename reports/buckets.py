"""Results by bucket: a scenario's buckets, or strata of Dijkstra rank."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.reports.formatting import (
    aligned,
    is_matched,
    is_oracle,
    mark_notes,
    marked,
    with_short_graphs,
    without_markup,
)
from aacbench.run.records import BASELINE, STRATA, TEST
from aacbench.run.store import Cell

NOTE = {
    False: "Mean expansions per test query of each bucket of the scenario.",
    True: "Mean expansions per test query of each stratum; bucket k has the Dijkstra ranks from 2^k to 2^(k+1) - 1.",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A method on a graph at a budget, in one bucket: its answered test queries, and their mean over all seeds."""

    graph: str
    budget: float
    method: str
    oracle: bool
    matched: bool
    bucket: int
    queries: int
    expanded: float


def has_buckets(cell: Cell) -> bool:
    return cell.is_reported and TEST in cell.record.get("buckets", {})


def rows_of(cells: Iterable[Cell]) -> list[Row]:
    groups: dict[tuple[str, float, str], list[Cell]] = {}
    for cell in cells:
        if has_buckets(cell):
            groups.setdefault((cell.key["graph"], cell.key["budget"], cell.key["label"]), []).append(cell)
    if not groups:
        raise UsageError(
            'This study has no test queries in buckets; set queries.mode = "scenario" or "strata", '
            "or run it again with --existing replace if its rows were made by an older aacbench."
        )
    return [row for key, group in groups.items() for row in _rows(key, group)]


def markdown(rows: Sequence[Row], mode: str, notes: Iterable[str] = ()) -> str:
    """Return a table with a column for each method; `mode` is that of the study's queries."""
    rows, graph_notes = with_short_graphs(rows)
    methods = {row.method: marked(row.method, row.oracle, row.matched) for row in rows}
    base = {(row.graph, row.bucket): row for row in rows if row.method == BASELINE}
    found = {(row.graph, row.budget, row.bucket, row.method): row for row in rows}
    others = [method for method in methods if method != BASELINE]
    places = dict.fromkeys((row.graph, row.budget) for row in rows if row.method != BASELINE or not others)
    table = []
    for graph, budget in places:
        for bucket in sorted({row.bucket for row in rows if row.graph == graph}):
            here = {method: found.get((graph, budget, bucket, method)) for method in others}
            dijkstra = base.get((graph, bucket))
            known = next(row for row in (*here.values(), dijkstra) if row is not None)
            line = {"graph": graph, "budget": f"{budget:g}", "bucket": str(bucket), "queries": str(known.queries)}
            for method, row in ((BASELINE, dijkstra), *here.items()):
                line[methods.get(method, method)] = "" if row is None else f"{row.expanded:.2f}"
            table.append(line)
    marks = mark_notes(any(row.oracle for row in rows), all(row.matched for row in rows))
    text = "\n".join([NOTE[mode == STRATA], *marks, *graph_notes, *notes])
    return without_markup(f"{aligned(table, ('graph',))}\n\n{text}")


def csv_text(rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(Row.__slots__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def _rows(key: tuple[str, float, str], group: list[Cell]) -> list[Row]:
    found = [_answered(cell) for cell in group]
    buckets, expanded = (np.concatenate(column) for column in zip(*found, strict=True))
    marks = is_oracle(group), is_matched(group)
    return [
        Row(*key, *marks, bucket, int(np.sum(found[0][0] == bucket)), float(expanded[buckets == bucket].mean()))
        for bucket in np.unique(buckets).tolist()
    ]


def _answered(cell: Cell) -> tuple[Array, Array]:
    """Return the bucket and the expansions of each test query that was answered."""
    columns = cell.queries
    test = columns["split"] == TEST
    answered = columns["outcome"][test] == "ok"
    return np.array(cell.record["buckets"][TEST])[answered], columns["expanded"][test][answered]
