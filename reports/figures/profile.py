"""The performance profile: on what share of the queries is a method within a factor of the best one."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from aacbench.graphs.record import Array
from aacbench.reports.figures.scope import why_apart
from aacbench.reports.figures.style import COLUMN, Mark, add_caption, add_legend, canvas, log_axis, marks_of, styled
from aacbench.run.matched import expansions
from aacbench.run.records import BASELINE
from aacbench.run.store import Cell, read_counts
from aacbench.stats.paired import aligned

Problem = tuple[str, float, Hashable]  # graph, budget, query
LARGEST_SHOWN = 32.0  # the axis ends here, or before where all curves are flat


@dataclass(frozen=True, slots=True)
class Profile:
    """A method's ratios to the best, sorted; a query it did not answer has an infinite one."""

    method: str
    ratios: Array

    def share(self, factor: float) -> float:
        """Return the share of problems on which the method is within this factor of the best."""
        return float(np.searchsorted(self.ratios, factor, side="right") / len(self.ratios))


def profiles(cells: Sequence[Cell]) -> tuple[list[Profile], list[str]]:
    """Return the profile of each method over (graph, budget, query), and the methods that were left out, with why.

    Expansions are means over seeds. A query counts if some method answered it; one that only some seeds answered is
    not answered.
    """
    groups: dict[str, list[Cell]] = {}
    read_counts(cells)
    for cell in cells:
        if cell.is_reported and cell.key["label"] != BASELINE:
            groups.setdefault(cell.key["label"], []).append(cell)
    means_of = {label: _means(group) for label, group in groups.items()}
    apart = {label: why for label, group in groups.items() if (why := _apart(group, means_of[label]))}
    found = {label: means for label, means in means_of.items() if label not in apart}
    problems = list(dict.fromkeys(problem for means in found.values() for problem in means))
    table = np.array([[means.get(problem, np.inf) for problem in problems] for means in found.values()])
    if not problems:
        return [], []
    ratios = np.sort(table / table.min(axis=0), axis=1)
    named = [Profile(label, row) for label, row in zip(found, ratios, strict=True)]
    return named, [f"{label} ({why})" for label, why in apart.items()]


def _apart(cells: list[Cell], means: Mapping[Problem, float]) -> str:
    return why_apart(cells) if means else "no answers"


def _means(cells: list[Cell]) -> dict[Problem, float]:
    places: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        places.setdefault((cell.key["graph"], cell.key["budget"]), []).append(cell)
    means: dict[Problem, float] = {}
    for place, group in places.items():
        if any(cell.outcome != "ok" for cell in group):
            continue
        answers = [expansions(cell) for cell in group]
        if (table := aligned(answers)) is not None:
            found = np.maximum(1.0, table.mean(axis=0)).tolist()
            means |= {(*place, query): mean for query, mean in zip(answers[0], found, strict=True)}
            continue
        for query in answers[0]:
            counts = [answer.get(query) for answer in answers]
            if all(count is not None for count in counts):
                means[(*place, query)] = max(1.0, float(np.mean([count for count in counts if count is not None])))
    return means


@styled
def draw(found: list[Profile], caption: str, marks: Mapping[str, Mark] | None = None) -> Figure:
    figure, axes = canvas(height=2.9, width=COLUMN)
    marks = marks or marks_of(profile.method for profile in found)
    finite = [profile.ratios[np.isfinite(profile.ratios)] for profile in found]
    end = min(LARGEST_SHOWN, max([1.05, *(float(ratios.max()) for ratios in finite if len(ratios))]))
    for profile in found:
        x, y = _steps(profile, end)
        mark = marks[profile.method]
        look = {"marker": mark.marker, "markevery": 0.2, "markersize": 3.5}
        axes.plot(x, y, color=mark.colour, linestyle=mark.line, drawstyle="steps-post", label=profile.method, **look)
    axes.set(xscale="log", xlim=(1, end), ylim=(0, 102))
    axes.set(xlabel="expansions, as a multiple of the best method's", ylabel="% of queries within that")
    log_axis(axes.xaxis, [1, end])
    add_legend(figure, axes)
    add_caption(figure, caption)
    return figure


def _steps(profile: Profile, end: float) -> tuple[Array, Array]:
    """Return the corners of the curve, up to the end of the axis."""
    values, counts = np.unique(profile.ratios[profile.ratios <= end], return_counts=True)
    shares = 100 * np.cumsum(counts) / len(profile.ratios)
    x, y = (
        np.concatenate(([1.0], values, [end])),
        np.concatenate(([0.0], shares, shares[-1:] if len(shares) else [0.0])),
    )
    return x, y
