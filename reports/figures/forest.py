"""The forest plot: one row per cell with estimate, 90 and 95 % interval, margin, predicted band and seeds."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from aacbench.reports.figures.style import (
    COLOURS,
    INK,
    LINE,
    PAGE,
    PAPER,
    QUIET,
    add_caption,
    canvas,
    log_axis,
    styled,
)
from aacbench.stats import Estimand, ForestRow

ROW_HEIGHT, HALF = 0.3, 0.32  # inches of a row; half the height of a band in rows
WORDS = {
    "reduction_of_means_pp": "difference of reductions, percentage points",
    "ratio_of_means": "ratio of mean expansions",
    "geometric_mean_ratio": "geometric mean of ratios of expansions",
    "median_ratio": "ratio of median expansions",
}
BLUE, ORANGE = COLOURS[0], COLOURS[1]
WIDEST = 4  # an interval may reach so many times beyond all estimates, seeds, margins and bands; the rest is cut off


@styled
def draw(rows: Sequence[ForestRow], estimand: Estimand, a: str, b: str, caption: str) -> Figure:
    """Draw the rows of `Table.forest()`, or of a registration with its predicted bands."""
    figure, axes = canvas(height=1.5 + ROW_HEIGHT * len(rows), width=PAGE)
    if estimand.is_ratio:
        axes.set_xscale("log")
    low, high = _limits(rows, estimand.is_ratio)
    axes.set_xlim(low, high)
    for at, row in enumerate(rows):
        _row(axes, at, row)
    for null in {row.null for row in rows}:
        axes.axvline(null, color=INK, linewidth=0.8, zorder=1)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [_short(row.cell) for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    if estimand.is_ratio:
        log_axis(axes.xaxis, [low, high])
    axes.set_xlabel(_axis_label(estimand, a, b))
    outcomes = axes.secondary_yaxis("right")
    outcomes.set_yticks(range(len(rows)), [row.label for row in rows])
    outcomes.tick_params(length=0)
    outcomes.spines["right"].set_visible(False)
    handles = _legend(rows)
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), handlelength=2, columnspacing=1.2)
    add_caption(figure, caption)
    return figure


def _row(axes: Any, at: int, row: ForestRow) -> None:
    if row.margin:
        start, end = row.margin
        axes.add_patch(Rectangle((start, at - 0.5), end - start, 1, color=LINE, alpha=0.55, linewidth=0, zorder=0))
    if row.band:
        start, end = row.band
        box = Rectangle(
            (start, at - HALF), end - start, 2 * HALF, fill=False, edgecolor=ORANGE, linewidth=1.1, zorder=2
        )
        axes.add_patch(box)
    for interval, width in ((row.interval95, 1.1), (row.interval90, 3.2)):
        if interval:
            axes.plot(interval, (at, at), color=BLUE, linewidth=width, solid_capstyle="butt", zorder=3)
    if row.seeds:
        y = [at + 0.24] * len(row.seeds)
        axes.plot(row.seeds, y, linestyle="none", marker="o", markersize=2.6, color=QUIET, zorder=4)
    if row.estimate is not None:
        look = {"markersize": 5.5, "markeredgecolor": PAPER, "markeredgewidth": 0.6}
        axes.plot([row.estimate], [at], marker="D", color=BLUE, zorder=5, **look)


def _limits(rows: Sequence[ForestRow], ratio: bool) -> tuple[float, float]:
    """Return the ends of the axis; an interval of few degrees of freedom must not squeeze everything else."""
    scale, back = (math.log, math.exp) if ratio else (float, float)
    inner = [scale(value) for row in rows for value in _values(row)] or [0.0]
    low, high = min(inner), max(inner)
    span = max(high - low, 1e-9)
    ends = [scale(end) for row in rows for end in row.interval95 or () if end > 0 or not ratio]
    low = max(min([low, *ends]), low - WIDEST * span)
    high = min(max([high, *ends]), high + WIDEST * span)
    room = 0.04 * (high - low) or 1.0
    return back(low - room), back(high + room)


def _values(row: ForestRow) -> list[float]:
    found = [row.null, *(row.margin or ()), *(row.band or ()), *row.seeds]
    return found if row.estimate is None else [*found, row.estimate]


def _axis_label(estimand: Estimand, a: str, b: str) -> str:
    left, right = (b, a) if estimand.better == "higher" else (a, b)
    what = WORDS.get(estimand.name, f"{estimand.name}, {estimand.unit}")
    return f"« {_short(left)} ahead    {what}    {_short(right)} ahead »"


def _short(text: str, most: int = 44) -> str:
    return text if len(text) <= most else f"{text[: most // 2 - 1]}..{text[-(most // 2 - 1) :]}"


def _legend(rows: Sequence[ForestRow]) -> list[Any]:
    handles: list[Any] = [
        Line2D([], [], color=BLUE, marker="D", linewidth=3.2, markersize=5.5, label="estimate, 90 %"),
        Line2D([], [], color=BLUE, linewidth=1.1, label="95 %"),
    ]
    if any(row.seeds for row in rows):
        handles.append(Line2D([], [], color=QUIET, marker="o", markersize=2.6, linestyle="none", label="seeds"))
    if any(row.margin for row in rows):
        handles.append(Patch(color=LINE, alpha=0.55, linewidth=0, label="margin"))
    if any(row.band for row in rows):
        handles.append(Patch(fill=False, edgecolor=ORANGE, label="predicted"))
    return handles
