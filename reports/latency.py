"""The latency table of a study: p50 and p95 of each method's searches, and what two equal methods differ by."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.reports.cells import Marks, all_marks, marks_of
from aacbench.reports.tables import aligned
from aacbench.run.rows import read_timings
from aacbench.run.store import Cell
from aacbench.run.timing import CONTROL, TIMINGS

Array = npt.NDArray[Any]

MICROSECOND, MIB = 1000, 2**20


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds of a method's searches on a graph at a budget, what its build took, and its group's A/A control.

    A query's time is the median of its repetitions; p50 and p95 are over queries, and over seeds. Of builds it is the
    one seed that took most; pools are apart, as a study computes each once. Old cells do not know their memory.
    """

    graph: str
    budget: float
    method: str
    matched: bool
    tier: str
    repetitions: int
    p50: float
    p95: float
    control_ratio: float | None
    control_spread: float | None
    oracle: bool
    build_seconds: float
    pool_seconds: float
    build_bytes: int | None

    @property
    def marks(self) -> Marks:
        """What keeps it from standing beside others as if it were one of them."""
        return Marks(self.oracle, self.matched)


def latencies(cells: Iterable[Cell]) -> list[Latency]:
    """Every timed method among a study's cells; a table that mixed tiers would compare languages, not heuristics."""
    timed = [cell for cell in cells if TIMINGS in cell.files]
    tiers = sorted({str(cell.record["tier"]) for cell in timed})
    if len(tiers) > 1:
        raise UsageError(f"a table of times cannot mix the tiers {' and '.join(tiers)}; time each in its own study.")
    groups: dict[tuple[str, float], dict[str, list[Cell]]] = {}
    for cell in timed:
        place = groups.setdefault((cell.key["graph"], cell.key["budget"]), {})
        place.setdefault(cell.key["label"], []).append(cell)
    return [
        _latency(label, cells, _control([cell for group in labels.values() for cell in group]))
        for labels in groups.values()
        for label, cells in labels.items()
    ]


def markdown(rows: Sequence[Latency]) -> str:
    """The table, and how to read it."""
    table = [
        {
            "graph": row.graph,
            "budget": f"{row.budget:g}",
            "method": row.method + row.marks.text,
            "build s": f"{row.build_seconds:.1f}",
            "pool s": f"{row.pool_seconds:.1f}",
            "build MiB": "" if row.build_bytes is None else f"{row.build_bytes / MIB:.0f}",
            "p50 us": f"{row.p50:.1f}",
            "p95 us": f"{row.p95:.1f}",
            "A/A ratio": "" if row.control_ratio is None else f"{row.control_ratio:.3f}",
            "A/A spread": "" if row.control_spread is None else f"{100 * row.control_spread:.1f} %",
        }
        for row in rows
    ]
    return (
        f"{aligned(table, ('graph', 'method'))}\n\n"
        f"Times of single searches ({rows[0].tier} tier, {rows[0].repetitions} repetitions). The first method of each "
        "graph and budget, dijkstra aside, ran twice under two names: the A/A ratio compares the two, and differences "
        "between methods below the A/A spread mean nothing. A build costs its own seconds and those of its pools; its "
        "memory is what it took beyond what its worker held before, libraries included that it imports."
        + "".join(f"\n{note}" for note in all_marks(row.marks for row in rows).notes)
    )


def records(rows: Sequence[Latency]) -> list[dict[str, Any]]:
    """The table for a script."""
    return [asdict(row) for row in rows]


def _latency(label: str, cells: list[Cell], control: tuple[float, float] | None) -> Latency:
    tables = [_by_repetition(cell.files[TIMINGS]) for cell in cells]
    per_query = np.concatenate([np.median(table, axis=0) for table in tables]) / MICROSECOND
    p50, p95 = (float(value) for value in np.percentile(per_query, [50, 95]))
    key, repetitions = cells[0].key, min(len(table) for table in tables)
    ratio, spread = control or (None, None)
    marks, builds = marks_of(cells), [cell.record["build"] for cell in cells]
    return Latency(
        graph=key["graph"],
        budget=key["budget"],
        method=label,
        matched=marks.matched,
        tier=cells[0].record["tier"],
        repetitions=repetitions,
        p50=p50,
        p95=p95,
        control_ratio=ratio,
        control_spread=spread,
        oracle=marks.oracle,
        build_seconds=max(build["seconds"] for build in builds),
        pool_seconds=max(build["pool_seconds"] for build in builds),
        build_bytes=max((_taken(build) for build in builds if "rss_before" in build), default=None),
    )


def _taken(build: Mapping[str, int]) -> int:
    return build["peak_rss"] - build["rss_before"]


def _control(cells: list[Cell]) -> tuple[float, float] | None:
    """The control's p50 over that of the cell it repeats, and the most the two differ by in one repetition."""
    for cell in cells:
        if CONTROL in cell.files:
            one, other = _by_repetition(cell.files[TIMINGS]), _by_repetition(cell.files[CONTROL])
            ratio = np.median(np.median(other, axis=0)) / np.median(np.median(one, axis=0))
            apart = np.median(other, axis=1) / np.median(one, axis=1)
            return float(ratio), float(np.abs(np.maximum(apart, 1 / apart) - 1).max())
    return None


def _by_repetition(data: bytes) -> Array:
    """Nanoseconds, a row a repetition and a column a query."""
    columns = read_timings(data)
    order = np.lexsort((columns["query"], columns["repetition"]))
    return columns["wall_ns"][order].reshape(columns["repetition"].max() + 1, -1)
