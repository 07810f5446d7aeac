"""What builds report of themselves, such as the covering radius of their landmarks, as columns of a table."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.errors import UsageError
from aacbench.reports.formatting import aligned, tabular, with_short_graphs, without_markup
from aacbench.reports.tables import TEXT_COLUMNS, Row
from aacbench.run.store import Cell

NOTE = "Facts of the builds: mean over the seeds, ± standard deviation (of the sample, n - 1) where they differ."
PLACE = ("graph", "budget", "method", "variant", "settings", "seeds", "reduction %")


@dataclass(frozen=True, slots=True)
class FactRow:
    """A row of the results with the facts of its builds, a value for each seed that has one."""

    row: Row
    facts: Mapping[str, tuple[float, ...]]


def rows_of(rows: Iterable[Row], cells: Iterable[Cell]) -> list[FactRow]:
    """Return the rows whose builds report facts."""
    by_id = {cell.cell_id: cell for cell in cells}
    found = []
    for row in rows:
        facts: dict[str, list[float]] = {}
        for name in row.ids:
            for fact, value in by_id[name].record.get("build", {}).get("facts", {}).items():
                facts.setdefault(fact, []).append(value)
        if facts:
            found.append(FactRow(row, {fact: tuple(values) for fact, values in facts.items()}))
    if not found:
        raise UsageError("No build of this study reports facts about itself.")
    return found


def _tables(rows: Sequence[FactRow]) -> tuple[list[dict[str, str]], list[str]]:
    short, notes = with_short_graphs([each.row for each in rows])
    names = _names(rows)
    return [
        {name: row.cells()[name] for name in PLACE} | {name: _shown(each.facts.get(name, ())) for name in names}
        for row, each in zip(short, rows, strict=True)
    ], [NOTE, *notes]


def markdown(rows: Sequence[FactRow]) -> str:
    table, notes = _tables(rows)
    return without_markup("\n".join([aligned(table, TEXT_COLUMNS), "", *notes]))


def latex(rows: Sequence[FactRow]) -> str:
    table, notes = _tables(rows)
    return tabular(table, TEXT_COLUMNS, notes)


def records(rows: Sequence[FactRow]) -> list[dict[str, object]]:
    """Return the rows for a script: each fact is the mean over the seeds, in full precision."""
    place = ("graph", "budget", "method", "variant", "reduction")
    names = _names(rows)
    return [
        {name: getattr(each.row, name) for name in place}
        | {name: float(np.mean(each.facts[name])) if name in each.facts else None for name in names}
        for each in rows
    ]


def csv_text(rows: Sequence[FactRow]) -> str:
    table = records(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def _names(rows: Sequence[FactRow]) -> list[str]:
    return list(dict.fromkeys(name for each in rows for name in each.facts))


def _shown(values: Sequence[float]) -> str:
    if not values:
        return ""
    spread = f" ± {np.std(values, ddof=1):.4g}" if len(set(values)) > 1 else ""
    mean = float(np.mean(values))
    return (f"{mean:.0f}" if mean == int(mean) else f"{mean:.6g}") + spread
