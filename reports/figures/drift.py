"""Reduction along training: a point for each epoch at which labels were deployed, beside methods that do not train."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from aacbench.errors import UsageError
from aacbench.reports.figures import Drawing, stem_of
from aacbench.reports.figures.style import COLOURS, MARKERS, QUIET, add_caption, add_legend, canvas, styled
from aacbench.reports.formatting import said_in
from aacbench.run.matched import expansions
from aacbench.run.records import BASELINE
from aacbench.run.store import Cell

if TYPE_CHECKING:
    from aacbench.reports.figures import Subject

EPOCH = "epoch"  # the fact of a build that says after how many steps its labels were taken
STEPS = ("epochs", "checkpoints")  # settings that tell the points of a series apart
DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True, slots=True)
class Point:
    """Reductions in percent of the seeds of one method, at one epoch; without an epoch it does not train."""

    method: str
    budget: float
    epoch: int | None
    reductions: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.reductions))


def points(cells: Sequence[Cell]) -> list[Point]:
    """Return a point for each method, budget and epoch of one graph."""
    base = [_mean(cell) for cell in cells if cell.key["label"] == BASELINE and cell.outcome == "ok"]
    groups: dict[tuple[str, float, int | None], list[float]] = {}
    for cell in cells:
        if cell.key["label"] == BASELINE or cell.outcome != "ok" or not base:
            continue
        epoch = _epoch(cell)
        place = (_series(cell.key["label"]) if epoch is not None else cell.key["label"], cell.key["budget"], epoch)
        groups.setdefault(place, []).append(100 * (1 - _mean(cell) / base[0]))
    found = [Point(*place, tuple(values)) for place, values in groups.items()]
    return sorted(found, key=lambda point: (point.budget, point.epoch is None, point.epoch or 0))


def _epoch(cell: Cell) -> int | None:
    epoch: int | None = cell.record.get("build", {}).get("facts", {}).get(EPOCH)
    return epoch


def _mean(cell: Cell) -> float:
    return float(np.mean([count for count in expansions(cell).values() if count is not None]))


def _series(label: str) -> str:
    """Return a label without the settings that name an epoch: those of all points of a series are the same."""
    inside = [pair for pair in said_in(label) if pair and pair.partition("=")[0] not in STEPS]
    name = label.partition("[")[0]
    return f"{name}[{','.join(inside)}]" if inside else name


def drawing(subject: "Subject") -> Drawing:
    graph = subject.graph()
    cells = [cell for cell in subject.on(graph) if subject.choices.budget in (None, cell.key["budget"])]
    found = points(cells) if any(_epoch(cell) is not None for cell in cells) else []
    trained = {(point.method, point.budget) for point in found if point.epoch is not None}
    if not any(len([1 for point in found if (point.method, point.budget) == one]) > 1 for one in trained):
        raise UsageError(
            f"No method on {graph} was deployed at several epochs; use a grid such as aac[epochs=0|50|200]."
        )
    drawn = draw(found, subject.caption(cells), subject.shown(graph))
    said = [
        f"{point.method} at {point.budget:g} B/v, epoch {point.epoch}: {point.mean:.2f} %"
        for point in found
        if point.epoch is not None
    ]
    alt = f"Reduction of expansions along training on {subject.shown(graph)}: {'; '.join(said)}."
    return Drawing("drift", f"drift-{stem_of(graph)}", f"Reduction along training: {subject.shown(graph)}", alt, drawn)


@styled
def draw(found: Sequence[Point], caption: str, title: str) -> Figure:
    figure, axes = canvas(height=2.9)
    budgets = list(dict.fromkeys(point.budget for point in found))
    names = list(dict.fromkeys(point.method for point in found if point.epoch is not None))
    for budget in budgets:
        line = DASHES[budgets.index(budget) % len(DASHES)]
        for name in names:
            series = [p for p in found if (p.method, p.budget) == (name, budget) and p.epoch is not None]
            if not series:
                continue
            at = names.index(name)
            look = {"color": COLOURS[at % len(COLOURS)], "marker": MARKERS[at % len(MARKERS)], "linestyle": line}
            means = [point.mean for point in series]
            spread = [
                [mean - min(point.reductions) for mean, point in zip(means, series, strict=True)],
                [max(point.reductions) - mean for mean, point in zip(means, series, strict=True)],
            ]
            label = f"{name}, {budget:g} B/v"
            axes.errorbar([point.epoch for point in series], means, yerr=spread, label=label, capsize=2, **look)
        levels: dict[float, list[str]] = {}  # methods that coincide, as forced-first-m and alt do, share a line
        for point in found:
            if point.epoch is None and point.budget == budget:
                levels.setdefault(point.mean, []).append(point.method)
        for level, methods in levels.items():
            axes.axhline(level, color=QUIET, linestyle=line, linewidth=0.9)
            told = ", ".join(methods) + (f", {budget:g} B/v" if len(budgets) > 1 else "")
            place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            axes.annotate(told, (0.92, level), xytext=(0, 2), ha="right", fontsize=6, color=QUIET, **place)
    axes.set(xlabel="epoch", ylabel="reduction of expansions in %", title=title)
    add_legend(figure, axes, columns=2)
    add_caption(figure, f"bars: lowest and highest seed; {caption}")
    return figure
