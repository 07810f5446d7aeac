"""Mean expansions against measured bytes, with the spread over seeds and the lower envelope."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from aacbench.reports.figures.scope import why_apart
from aacbench.reports.figures.style import (
    COLUMN,
    LINE,
    PAPER,
    Mark,
    add_caption,
    add_legend,
    bytes_axis,
    canvas,
    log_axis,
    marks_of,
    styled,
)
from aacbench.run.matched import bytes_per_vertex, self_reported
from aacbench.run.records import BASELINE, TEST
from aacbench.run.store import Cell


@dataclass(frozen=True, slots=True)
class Point:
    """A method at a budget: measured bytes per vertex, and mean expansions over queries, then seeds."""

    graph: str
    budget: float
    method: str
    measured: float
    mean: float
    lowest: float  # of any seed
    highest: float
    seeds: int
    total: float  # with the heuristic's own work
    apart: str  # why the method cannot be on the envelope, such as "oracle"


def points(cells: Iterable[Cell]) -> list[Point]:
    """Return a point for each graph, budget and method with rows and measured bytes.

    Dijkstra stores nothing, and bytes that a method only declares are not drawn among measured ones.
    """
    groups: dict[tuple[str, float, str], list[Cell]] = {}
    for cell in cells:
        if cell.is_reported and cell.outcome == "ok" and cell.key["label"] != BASELINE and cell.mean(TEST) is not None:
            groups.setdefault((cell.key["graph"], cell.key["budget"], cell.key["label"]), []).append(cell)
    return [_point(*key, group) for key, group in groups.items() if _has_bytes(group)]


def _has_bytes(cells: list[Cell]) -> bool:
    return (bytes_per_vertex(cells) or 0) > 0 and not self_reported(cells)


def _point(graph: str, budget: float, label: str, cells: list[Cell]) -> Point:
    means = [mean for cell in cells if (mean := cell.mean(TEST)) is not None]
    return Point(
        graph=graph,
        budget=budget,
        method=label,
        measured=bytes_per_vertex(cells) or 0.0,
        mean=float(np.mean(means)),
        lowest=min(means),
        highest=max(means),
        seeds=len(means),
        total=float(np.mean(means)) + float(np.mean([cell.mean(TEST, "h_work") or 0.0 for cell in cells])),
        apart=why_apart(cells),
    )


def envelope(found: Iterable[Point]) -> list[Point]:
    """Return the points that no other beats with as few bytes, by bytes; oracles and the like are left out."""
    front: list[Point] = []
    for point in sorted(found, key=lambda each: (each.measured, each.mean)):
        if not point.apart and (not front or point.mean < front[-1].mean):
            front.append(point)
    return front


@styled
def draw(found: Sequence[Point], caption: str, title: str = "", marks: Mapping[str, Mark] | None = None) -> Figure:
    """Draw the points of one graph; open markers are methods that cannot be on the envelope."""
    figure, axes = canvas(height=2.9, width=COLUMN)
    marks = marks or marks_of(point.method for point in found)
    front = envelope(found)
    if front:  # on to the most bytes of all: what was reached with fewer holds there too
        front.append(replace(front[-1], measured=max(point.measured for point in found)))
    axes.plot(
        [point.measured for point in front],
        [point.mean for point in front],
        color=LINE,
        linewidth=4,
        solid_capstyle="round",
        drawstyle="steps-post",
        label="lower envelope",
        zorder=1,
    )
    for method in dict.fromkeys(point.method for point in found):
        _method(axes, [point for point in found if point.method == method], marks[method])
    axes.set(xscale="log", yscale="log", xlabel="measured bytes per vertex", ylabel="mean expansions per query")
    axes.set_title(title)
    bytes_axis(axes.xaxis, [point.measured for point in found])
    log_axis(axes.yaxis, [end for point in found for end in (point.lowest, point.highest, point.total)])
    add_legend(figure, axes)
    spread = "bars: lowest and highest seed" if any(point.seeds > 1 for point in found) else ""
    lazy = any(each.total > each.mean for each in found)
    work = "Thin lines and open markers: with h_work, a heuristic's own work." if lazy else ""
    add_caption(figure, " ".join(filter(None, [caption, f"{spread.capitalize()}." if spread else "", work])))
    return figure


def _method(axes: Any, found: list[Point], mark: Mark) -> None:
    """Draw a method, and above it a thin line with the work of a lazy heuristic."""
    found = sorted(found, key=lambda point: point.measured)
    sizes = [point.measured for point in found]
    means = np.array([point.mean for point in found])
    below = means - [point.lowest for point in found]
    above = np.array([point.highest for point in found]) - means
    name = f"{found[0].method} ({found[0].apart})" if found[0].apart else found[0].method
    axes.errorbar(
        sizes,
        means,
        yerr=np.maximum([below, above], 0),  # rounding can put the mean of equal values beside them
        color=mark.colour,
        marker=mark.marker,
        linestyle=mark.line,
        markerfacecolor=PAPER if found[0].apart else mark.colour,
        elinewidth=1,
        capsize=2.5,
        label=name,
        zorder=3,
    )
    if any(point.total > point.mean for point in found):
        look = {"color": mark.colour, "marker": mark.marker, "linestyle": mark.line, "markerfacecolor": PAPER}
        totals = [point.total for point in found]
        axes.plot(sizes, totals, linewidth=0.7, markersize=3, label=f"_{name}, with h_work", **look)
