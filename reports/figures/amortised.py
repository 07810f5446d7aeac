"""Offline seconds plus N searches: when does a heuristic pay for its build."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from aacbench.reports.figures.style import (
    COLUMN,
    INK,
    PAPER,
    Mark,
    add_caption,
    add_legend,
    canvas,
    log_axis,
    marks_of,
    styled,
)
from aacbench.reports.latency import Latency
from aacbench.run.records import BASELINE

MICROSECOND = 1e-6
FEWEST, MOST = 1.0, 1e9  # searches


@dataclass(frozen=True, slots=True)
class Cost:
    """A method's seconds before the first search, and its median seconds a search; None where Dijkstra stays ahead."""

    method: str
    offline: float
    each: float
    breakeven: float | None  # searches after which it has cost less than Dijkstra

    def after(self, searches: float) -> float:
        return self.offline + searches * self.each


def costs(rows: Iterable[Latency]) -> list[Cost]:
    """Return the cost of each method from the latencies of one graph at one budget."""
    rows = list(rows)
    base = next((row for row in rows if row.method == BASELINE), None)
    return [
        Cost(row.method, offline := _offline(row), row.p50 * MICROSECOND, _breakeven(offline, row, base))
        for row in rows
    ]


def _offline(row: Latency) -> float:
    return row.build_seconds + row.pool_seconds


def _breakeven(offline: float, row: Latency, base: Latency | None) -> float | None:
    if base is None or row.method == BASELINE or row.p50 >= base.p50:
        return None
    return max(FEWEST, (offline - _offline(base)) / ((base.p50 - row.p50) * MICROSECOND))


@styled
def draw(found: Sequence[Cost], caption: str, title: str = "", marks: Mapping[str, Mark] | None = None) -> Figure:
    figure, axes = canvas(height=2.7, width=COLUMN)
    marks = marks or marks_of(cost.method for cost in found)
    late = max((cost.breakeven or FEWEST for cost in found), default=FEWEST)
    end = min(MOST, max(1e4, 30 * late))
    searches = np.geomspace(FEWEST, end, 121)
    for cost in found:
        mark = marks[cost.method]
        name = cost.method if cost.breakeven is None else f"{cost.method}: from {rounded(cost.breakeven)}"
        spent = [cost.after(each) for each in searches]
        axes.plot(searches, spent, color=mark.colour, linestyle=mark.line, label=name)
        if cost.breakeven is not None and cost.breakeven <= end:
            look = {"markerfacecolor": PAPER, "markeredgecolor": mark.colour, "markeredgewidth": 1.3}
            axes.plot([cost.breakeven], [cost.after(cost.breakeven)], marker=mark.marker, color=mark.colour, **look)
    axes.set(xscale="log", yscale="log", xlabel="searches", ylabel="seconds in all", xlim=(1, end))
    axes.set_title(title, color=INK)
    log_axis(axes.xaxis, searches.tolist())
    log_axis(axes.yaxis, [cost.after(each) for cost in found for each in (FEWEST, end)])
    add_legend(figure, axes, columns=2)
    add_caption(figure, f"{caption} Build and pools, then p50 a search. Open: from here on cheaper than Dijkstra.")
    return figure


def rounded(searches: float) -> str:
    """Return a number of searches to two digits: breakevens are no more exact than times."""
    digits = 10 ** max(0, len(f"{searches:.0f}") - 2)
    return f"{np.ceil(searches / digits) * digits:,.0f}"
