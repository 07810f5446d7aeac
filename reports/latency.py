"""The latency table of a study: p50 and p95 of each method's searches, and the A/A control."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.reports.formatting import (
    aligned,
    is_matched,
    is_oracle,
    mark_notes,
    marked,
    optional,
    tabular,
    with_short_graphs,
    without_markup,
)
from aacbench.run.layout import CONTROL_FILE, TIMED_ON, TIMINGS_FILE
from aacbench.run.rows import read_timings
from aacbench.run.store import Cell

MICROSECOND, MIB = 1000, 2**20
TEXT_COLUMNS = ("graph", "method", "variant")


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds per search of a method on a graph at a budget, its build cost, and the A/A control of its group.

    A query's time is the median of its repetitions; mean, p50 and p95 are over queries and seeds. Build values are the
    largest of any seed, without pools, which a study computes once. Old cells have no `build_bytes`.
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
    mean: float
    variant: str = ""
    where: str = ""  # the machine of a cluster that it was timed on

    def cells(self) -> dict[str, str]:
        return {
            "graph": self.graph,
            "budget": f"{self.budget:g}",
            "method": marked(self.method, self.oracle, self.matched),
            "variant": self.variant,
            "build s": f"{self.build_seconds:.1f}",
            "pool s": f"{self.pool_seconds:.1f}",
            "build MiB": "" if self.build_bytes is None else f"{self.build_bytes / MIB:.0f}",
            "mean us": f"{self.mean:.1f}",
            "p50 us": f"{self.p50:.1f}",
            "p95 us": f"{self.p95:.1f}",
            "A/A ratio": optional(self.control_ratio, ".3f"),
            "A/A spread": "" if self.control_spread is None else f"{100 * self.control_spread:.1f} %",
        }


def latencies(cells: Iterable[Cell]) -> list[Latency]:
    """Return a row for every timed method; refuse cells of several tiers, whose times are not comparable."""
    timed = [cell for cell in cells if TIMINGS_FILE in cell.files]
    tiers = sorted({str(cell.record["tier"]) for cell in timed})
    if len(tiers) > 1:
        raise UsageError(f"One table of times cannot mix the tiers {' and '.join(tiers)}; time each in its own study.")
    groups: dict[tuple[str, float, str], dict[tuple[str, str], list[Cell]]] = {}
    for cell in timed:
        place = groups.setdefault(cell.timing_group, {})
        place.setdefault((cell.variant, cell.key["label"]), []).append(cell)
    return [
        _latency(label, cells, _control([cell for group in labels.values() for cell in group]), variant)
        for labels in groups.values()
        for (variant, label), cells in labels.items()
    ]


def markdown(rows: Sequence[Latency]) -> str:
    rows, graph_notes = with_short_graphs(rows)
    table = aligned([row.cells() for row in rows], TEXT_COLUMNS)
    return without_markup("\n".join([table, "", *notes(rows), *graph_notes]))


def latex(rows: Sequence[Latency]) -> str:
    rows, graph_notes = with_short_graphs(rows)
    return tabular([row.cells() for row in rows], TEXT_COLUMNS, [*notes(rows), *graph_notes])


def notes(rows: Sequence[Latency]) -> list[str]:
    """Return how to read the table, one line each."""
    return [
        f"Times of single searches ({rows[0].tier} tier, {rows[0].repetitions} repetitions). The first method of each "
        "graph and budget, except dijkstra, ran twice under two names: the A/A ratio compares the two, and differences "
        "between methods below the A/A spread mean nothing. A build costs its own seconds plus those of its pools; its "
        "memory is the increase of the worker's peak memory, including libraries that the build imports.",
        *_places(rows),
        *mark_notes(any(row.oracle for row in rows), all(row.matched for row in rows)),
    ]


def _places(rows: Sequence[Latency]) -> list[str]:
    """Where searches were timed, if not on the machine of the run."""
    hosts = sorted({row.where for row in rows} - {""})
    if not hosts:
        return []
    here = " and on the machine of the run" if any(not row.where for row in rows) else ""
    return [f"Timed on a worker of a cluster that had its machine to itself: {', '.join(hosts)}{here}."]


def _latency(label: str, cells: list[Cell], control: tuple[float, float] | None, variant: str) -> Latency:
    tables = [_by_repetition(cell.files[TIMINGS_FILE]) for cell in cells]
    per_query = np.concatenate([np.median(table, axis=0) for table in tables]) / MICROSECOND
    p50, p95 = (float(value) for value in np.percentile(per_query, [50, 95]))
    key, repetitions = cells[0].key, min(len(table) for table in tables)
    ratio, spread = control or (None, None)
    builds = [cell.record["build"] for cell in cells]
    memory = [build["peak_rss"] - build["rss_before"] for build in builds if "rss_before" in build]
    return Latency(
        graph=key["graph"],
        budget=key["budget"],
        method=label,
        matched=is_matched(cells),
        tier=cells[0].record["tier"],
        repetitions=repetitions,
        p50=p50,
        p95=p95,
        control_ratio=ratio,
        control_spread=spread,
        oracle=is_oracle(cells),
        build_seconds=max(build["seconds"] for build in builds),
        pool_seconds=max(build["pool_seconds"] for build in builds),
        build_bytes=max(memory, default=None),
        mean=float(per_query.mean()),
        variant=variant,
        where=", ".join(sorted({str(cell.record[TIMED_ON]) for cell in cells if TIMED_ON in cell.record})),
    )


def _control(cells: list[Cell]) -> tuple[float, float] | None:
    """Return the control's p50 divided by that of the cell it repeats, and their largest difference in a repetition."""
    for cell in cells:
        if CONTROL_FILE in cell.files:
            cell_times, control = _by_repetition(cell.files[TIMINGS_FILE]), _by_repetition(cell.files[CONTROL_FILE])
            ratio = np.median(np.median(control, axis=0)) / np.median(np.median(cell_times, axis=0))
            by_repetition = np.median(control, axis=1) / np.median(cell_times, axis=1)
            return float(ratio), float(np.abs(np.maximum(by_repetition, 1 / by_repetition) - 1).max())
    return None


def _by_repetition(data: bytes) -> Array:
    """Return nanoseconds with a row per repetition and a column per query."""
    columns = read_timings(data)
    order = np.lexsort((columns["query"], columns["repetition"]))
    return columns["wall_ns"][order].reshape(columns["repetition"].max() + 1, -1)
