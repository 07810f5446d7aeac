"""Expansions against how far the searched weights have departed from those that heuristics were built on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from aacbench.errors import UsageError
from aacbench.graphs.traffic import SAME, parse_traffic
from aacbench.reports.figures import Drawing, Subject, stem_of
from aacbench.reports.figures.style import (
    COLUMN,
    PAGE,
    PAPER,
    Mark,
    add_caption,
    add_legend,
    canvas,
    log_axis,
    marks_of,
    styled,
)
from aacbench.reports.formatting import graph_names
from aacbench.run.matched import by_query
from aacbench.run.records import BASELINE, without_traffic
from aacbench.run.store import Cell

TITLES = {"arcs": "single arcs", "regions": "regions", "network": "every arc"}


def drawing(subject: Subject) -> Drawing:
    """Draw a graph under all its traffic, at the smallest budget with the most methods unless told."""
    graph = without_traffic(subject.graph(), subject.traffic_by_graph.get(subject.graph(), ""))
    here = [cell for cell in subject.cells if _built_on(cell) == graph]
    drawn_at = Counter(cell.key["budget"] for cell in here if cell.key["label"] != BASELINE and cell.outcome == "ok")
    fullest = min(drawn_at, key=lambda size: (-drawn_at[size], size), default=None)
    budget = subject.choices.budget if subject.choices.budget is not None else fullest
    found = points(here, budget)
    if not any(point.kind for point in found):
        raise UsageError(f"No method was searched under traffic on {graph}; run the protocol traffic.")
    shown = [cell for cell in here if "traffic" not in cell.key] or here
    title = graph_names([graph])[graph] + ("" if budget is None else f" at {budget:g} B/v")
    caption = subject.caption([cell for cell in shown if budget in (None, cell.key["budget"])])
    said = [f"{each.method} {each.mean:,.0f} at {100 * each.growth:.3g} % ({each.kind or 'none'})" for each in found]
    alt = f"Mean expansions against the growth of all weights since the build on {title}: {'; '.join(said)}."
    drawn = draw(found, caption, subject.marks)
    return Drawing("traffic", f"traffic-{stem_of(graph)}", f"Traffic: {title}", alt, drawn, wide=True)


@dataclass(frozen=True, slots=True)
class Point:
    """A method under one traffic: by how much all weights together grew, and its mean expansions over seeds."""

    kind: str  # of the traffic; empty for none
    method: str
    growth: float
    mean: float
    total: float  # with the heuristic's own work


def points(cells: Sequence[Cell], budget: float | None) -> list[Point]:
    """Return a point for each method and traffic on one graph; dijkstra stands for every budget."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        key = cell.key
        if cell.outcome == "ok" and (budget in (None, key["budget"]) or key["label"] == BASELINE):
            groups.setdefault((key.get("traffic", ""), key["label"]), []).append(cell)
    return [_point(traffic, label, group) for (traffic, label), group in groups.items()]


def _built_on(cell: Cell) -> str:
    return without_traffic(cell.key["graph"], cell.key.get("traffic", ""))


def _point(traffic: str, label: str, cells: list[Cell]) -> Point:
    growth = cells[0].record["traffic"]["growth"] if traffic else 0.0
    mean, work = (float(np.mean([_mean(cell, name) for cell in cells])) for name in ("expanded", "h_work"))
    return Point(_kind(traffic), label, growth, mean, mean + work)


def _mean(cell: Cell, column: str) -> float:
    return float(np.mean([count for count in by_query(cell, column).values() if count is not None]))


def _kind(traffic: str) -> str:
    if not traffic:
        return ""
    told = parse_traffic(traffic)
    return TITLES[told.mode] + (" by one factor" if told.draw == SAME else "")


@styled
def draw(found: Sequence[Point], caption: str, marks: Mapping[str, Mark] | None = None) -> Figure:
    """Draw a panel for each kind of traffic; each begins at the weights that were built on."""
    marks = marks or marks_of(point.method for point in found)
    kinds = list(dict.fromkeys(point.kind for point in found if point.kind))
    figure, panels = canvas(
        height=2.9, width=PAGE if len(kinds) > 1 else COLUMN, columns=len(kinds), sharey=True, squeeze=False
    )
    for axes, kind in zip(panels[0], kinds, strict=True):
        for method in dict.fromkeys(point.method for point in found):
            here = [point for point in found if point.method == method and point.kind in ("", kind)]
            here = sorted(here, key=lambda point: point.growth)
            grown, mark = [100 * point.growth for point in here], marks[method]
            look = {"color": mark.colour, "marker": mark.marker}
            axes.plot(grown, [point.mean for point in here], linestyle=mark.line, label=method, **look)
            if any(point.total > point.mean for point in here):
                totals = [point.total for point in here]
                label = f"{method}, with h_work"
                axes.plot(grown, totals, linestyle=mark.line, markerfacecolor=PAPER, linewidth=0.7, label=label, **look)
        axes.set(yscale="log", xlabel="growth of all weights, %")
        axes.set_title(kind)
    panels[0][0].set(ylabel="mean expansions per query")
    log_axis(panels[0][0].yaxis, [end for point in found for end in (point.mean, point.total)])
    add_legend(figure, panels[0][0], columns=6 if len(kinds) > 1 else 3)
    add_caption(figure, caption)
    return figure
