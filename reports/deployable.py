"""What can be deployed from a study: each method that finds shortest paths within its budget, with what it costs."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from aacbench.reports.latency import latencies
from aacbench.reports.tables import Row, rows_of
from aacbench.run.records import BASELINE
from aacbench.run.store import Cell


@dataclass(frozen=True, slots=True)
class Deployable:
    """A method on a graph at a budget: measured bytes per vertex, means per test query, and seconds of the build.

    `build_seconds` has the landmark pools too. Times, in microseconds, are None where the study has none. `spread` is
    that of the A/A control: smaller differences between times mean nothing.
    """

    graph: str
    budget: float
    method: str
    settings: str
    bytes: float
    validation: float | None
    expanded: float
    h_work: float
    build_seconds: float
    mean_us: float | None = None
    p50_us: float | None = None
    p95_us: float | None = None
    spread: float | None = None
    ids: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        return self.expanded + self.h_work

    def told(self) -> dict[str, Any]:
        return {**asdict(self), "total": self.total}


def deployables(cells: Iterable[Cell]) -> list[Deployable]:
    """Return what was measured and may be ranked; the baseline is among it, oracles and the like are not."""
    found = list(cells)
    times = {(row.graph, row.budget, row.method): row for row in latencies(found) if not row.variant}
    by_id = {cell.cell_id: cell for cell in found}
    rankable = []
    for row in rows_of(found):
        used = [by_id[name] for name in row.ids]
        if row.variant or row.test is None or row.measured is None or why_not(row, used):
            continue
        timed = times.get((row.graph, row.budget, row.method))
        builds = [cell.record["build"] for cell in used]
        rankable.append(
            Deployable(
                graph=row.graph,
                budget=row.budget,
                method=row.method,
                settings=row.settings,
                bytes=row.measured,
                validation=row.validation,
                expanded=row.test,
                h_work=row.h_work or 0.0,
                build_seconds=max(build["seconds"] + build["pool_seconds"] for build in builds),
                mean_us=timed.mean if timed else None,
                p50_us=timed.p50 if timed else None,
                p95_us=timed.p95 if timed else None,
                spread=timed.control_spread if timed else None,
                ids=row.ids,
            )
        )
    return rankable


def left_out(cells: Iterable[Cell]) -> list[tuple[Row, str]]:
    """Return what cannot be deployed, each with the reason; the baseline is not among it."""
    found = list(cells)
    by_id = {cell.cell_id: cell for cell in found}
    reasons = [(row, why_not(row, [by_id[name] for name in row.ids])) for row in rows_of(found)]
    return [(row, reason) for row, reason in reasons if reason and row.method != BASELINE]


def why_not(row: Row, cells: Iterable[Cell]) -> str:
    """Return why a row cannot be deployed within its budget, or an empty text."""
    if row.outcome != "ok":
        return f"{row.outcome}: {row.reason}" if row.reason else row.outcome
    if row.oracle:
        return "it sees the test queries"
    if not row.matched:
        return "it is over its budget"
    if row.declared:
        return "its memory is self-reported"
    if any(not cell.claims.get("admissible", True) for cell in cells):
        return "it does not find shortest paths"
    return ""


def is_baseline(row: Deployable) -> bool:
    return row.method == BASELINE
