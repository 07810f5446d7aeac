"""`aacbench recommend`: run what can be deployed on a graph at a budget, and name one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from aacbench.library.options import RunOptions
from aacbench.library.running import carry_out, prepare_run
from aacbench.reports.deployable import Deployable, deployables, is_baseline, left_out
from aacbench.reports.formatting import LONGEST_REASON, aligned, graph_names, optional
from aacbench.run.store import Cell
from aacbench.util.text import one_line

PROTOCOL = "recommend"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The candidates, the best first, those that were left out with the reason, and Dijkstra beside them."""

    study: Path
    graph: str
    budget: float
    ranked: tuple[Deployable, ...]
    baseline: Deployable | None
    left_out: tuple[tuple[str, str], ...]
    exit_code: int

    @property
    def best(self) -> Deployable | None:
        return self.ranked[0] if self.ranked else None

    @property
    def export(self) -> str:
        """The command that writes the bundle of the recommended one."""
        if self.best is None:
            return ""
        return f"aacbench export {self.best.ids[0][:12]} FOLDER --study {quote(str(self.study))}"

    def record(self) -> dict[str, Any]:
        return {
            "study": str(self.study),
            "graph": self.graph,
            "budget": self.budget,
            "recommended": None if self.best is None else self.best.method,
            "sentence": self.sentence(),
            "candidates": [row.told() for row in self.ranked],
            "baseline": None if self.baseline is None else self.baseline.told(),
            "left_out": [{"method": method, "reason": reason} for method, reason in self.left_out],
            "export": self.export,
        }

    def sentence(self) -> str:
        best, where = self.best, f"{graph_names([self.graph])[self.graph]} at {self.budget:g} B/v"
        if best is None and not self.left_out:
            return f"There is no candidate on {where}: only dijkstra was asked for. Name others with --methods."
        if best is None:
            return f"No method can be deployed on {where}; the reasons are below."
        said = [f"{best.expanded:,.0f} expansions per query"]
        if best.h_work:
            said.append(f"{best.h_work:,.0f} steps of its own")
        if self.baseline is not None and self.baseline.expanded:
            said[0] += f" (dijkstra: {self.baseline.expanded:,.0f})"
        if best.p50_us is not None and best.p95_us is not None:
            said.append(f"p50 {_duration(best.p50_us)} and p95 {_duration(best.p95_us)}")
        said.append(f"built in {best.build_seconds:.1f} s")
        return f"Use {best.method} on {where}: {best.bytes:.1f} B/v, {', '.join(said)}.{self._caveats()}"

    def _caveats(self) -> str:
        """Name what is as fast up to the spread of the A/A control, and say where no heuristic pays."""
        timed = [row for row in self.ranked if row.mean_us is not None]
        close = [row.method for row in timed if row is not self.best and _time(row) <= _noise_limit(timed)]
        told = f" Within the noise of these times, as fast: {', '.join(close)}." if close else ""
        base = self.baseline
        if timed and base is not None and base.mean_us is not None and base.mean_us < min(map(_time, timed)):
            told += " Dijkstra is faster here: on this graph a heuristic does not pay."
        return told

    def text(self) -> str:
        parts = [self.sentence()]
        rows = [*self.ranked, *([] if self.baseline is None else [self.baseline])]
        if rows:
            lazy = any(row.h_work for row in rows)
            parts.insert(0, aligned([_columns(row, lazy) for row in rows], ("method", "settings")))
        if self.left_out:
            parts.append("\n".join(f"- {method}: {one_line(why, LONGEST_REASON)}" for method, why in self.left_out))
        if self.best is not None:
            load = 'aacbench.load_bundle("FOLDER").route(source, target)'
            parts.append(f"To deploy it:\n  {self.export}\n  In Python: {load}")
        return "\n\n".join(parts)


def recommend(graph: str, budget: float, **options: Any) -> Recommendation:
    """Run the candidates on a graph, unless they are there from an earlier call, and rank what can be deployed."""
    prepared = prepare_run(RunOptions(protocol=PROTOCOL, graphs=[graph], budgets=[budget], **options))
    finished = carry_out(prepared)
    return ranking(finished.root, finished.contents.planned_cells(), budget, finished.exit_code)


def ranking(study: Path, cells: Sequence[Cell], budget: float, exit_code: int) -> Recommendation:
    """Rank by mean time; what was not timed comes last, by expansions and work on the validation queries.

    Times within the noise of the fastest do not decide: of those, the one with the least counted work is the best.
    """
    found = deployables(cells)
    baseline = next((row for row in found if is_baseline(row)), None)
    candidates = [row for row in found if not is_baseline(row)]
    without = tuple((row.method, reason) for row, reason in left_out(cells))
    timed = sorted((row for row in candidates if row.mean_us is not None), key=_time)
    others = sorted((row for row in candidates if row.mean_us is None), key=_counted)
    close = sorted((row for row in timed if _time(row) <= _noise_limit(timed)), key=_counted)
    ranked = [*close, *(row for row in timed if row not in close), *others]
    graph = cells[0].key["graph"]
    return Recommendation(study, graph, budget, tuple(ranked), baseline, without, exit_code)


def _time(row: Deployable) -> float:
    assert row.mean_us is not None
    return row.mean_us


def _noise_limit(timed: Sequence[Deployable]) -> float:
    """Return the largest mean time that the A/A control cannot tell from the fastest one."""
    return min((_time(row) for row in timed), default=0.0) * (
        1 + max((row.spread or 0.0 for row in timed), default=0.0)
    )


def _counted(row: Deployable) -> float:
    return (row.expanded if row.validation is None else row.validation) + row.h_work


def _columns(row: Deployable, lazy: bool) -> dict[str, str]:
    return {
        "method": row.method,
        "settings": row.settings,
        "B/v": f"{row.bytes:.1f}",
        "expansions": f"{row.expanded:,.1f}",
        "h_work": f"{row.h_work:,.1f}" if row.h_work else "",
        "total": f"{row.total:,.1f}" if lazy else "",
        "mean us": optional(row.mean_us, ".1f"),
        "p50 us": optional(row.p50_us, ".1f"),
        "p95 us": optional(row.p95_us, ".1f"),
        "build s": f"{row.build_seconds:.1f}",
    }


def _duration(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms" if microseconds >= 1000 else f"{microseconds:.0f} us"
