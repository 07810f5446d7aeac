"""Ratios of expansions A/B, a row per graph and budget: of the means, and the geometric mean over queries."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from aacbench.reports.figures.style import (
    COLOURS,
    INK,
    LINE,
    PAGE,
    PAPER,
    add_caption,
    add_legend,
    canvas,
    log_axis,
    styled,
)

ROW_HEIGHT = 0.26  # inches


@dataclass(frozen=True, slots=True)
class Ratio:
    """A row: where, the ratio of the means, and the geometric mean of the ratios."""

    place: str
    of_means: float
    geometric: float


@styled
def draw(found: Sequence[Ratio], a: str, b: str, caption: str) -> Figure:
    figure, axes = canvas(height=1.2 + ROW_HEIGHT * len(found), width=PAGE)
    rows = range(len(found))
    axes.hlines(rows, [one.of_means for one in found], [one.geometric for one in found], color=LINE, linewidth=2)
    look = {"linestyle": "none", "label": "ratio of the means"}
    axes.plot([one.of_means for one in found], rows, marker="D", color=COLOURS[0], **look)
    hollow = {"markerfacecolor": PAPER, "markeredgecolor": COLOURS[1], "markeredgewidth": 1.3}
    axes.plot(
        [one.geometric for one in found],
        rows,
        marker="o",
        label="geometric mean over queries",
        linestyle="none",
        **hollow,
    )
    axes.axvline(1, color=INK, linewidth=0.8, zorder=1)
    ends = [1.0, *(end for one in found for end in (one.of_means, one.geometric))]
    room = 0.06 * math.log(max(ends) / min(ends)) + 0.01
    axes.set(xscale="log", xlim=(min(ends) * math.exp(-room), max(ends) * math.exp(room)))
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_yticks(rows, [one.place for one in found])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"« {a} expands less    expansions A / B    {b} expands less »")
    log_axis(axes.xaxis, ends)
    add_legend(figure, axes)
    add_caption(figure, caption)
    return figure
