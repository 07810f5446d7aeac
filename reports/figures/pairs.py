"""Two methods query by query: expansions and their ratio against how far Dijkstra had to search."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from aacbench.graphs.record import Array
from aacbench.reports.figures.style import (
    COLUMN,
    INK,
    RASTER_DPI,
    Mark,
    add_caption,
    add_legend,
    canvas,
    log_axis,
    marks_of,
    styled,
)
from aacbench.run.matched import expansions
from aacbench.run.records import BASELINE
from aacbench.run.store import Cell

MANY_POINTS = 3000  # beyond, points are drawn as an image


@dataclass(frozen=True, slots=True)
class Pairs:
    """Expansions of two methods on the queries both answered, means over seeds, and Dijkstra's for each."""

    a: str
    b: str
    dijkstra: Array
    expanded_a: Array
    expanded_b: Array

    @property
    def ratio(self) -> Array:
        return self.expanded_a / self.expanded_b


def pairs(cells: Iterable[Cell], graph: str, budget: float, a: str, b: str) -> Pairs:
    """Pair two methods on a graph at a budget; queries that a side or Dijkstra did not answer are left out."""
    here = [cell for cell in cells if cell.is_reported and cell.key["graph"] == graph and cell.outcome == "ok"]
    one, other = (
        [cell for cell in here if cell.key["label"] == label and cell.key["budget"] == budget] for label in (a, b)
    )
    return paired(here, one, other, a, b)


def paired(of_graph: Iterable[Cell], cells_a: Sequence[Cell], cells_b: Sequence[Cell], a: str, b: str) -> Pairs:
    """Pair these cells of two sides; Dijkstra's cell is looked for among those `of_graph`."""
    base = _means([cell for cell in of_graph if cell.key["label"] == BASELINE and cell.outcome == "ok"][:1])
    one, other = (_means([cell for cell in cells if cell.outcome == "ok"]) for cells in (cells_a, cells_b))
    common = [query for query in base if base[query] > 0 and one.get(query, 0) > 0 and other.get(query, 0) > 0]
    columns = (np.array([means[query] for query in common], dtype=float) for means in (base, one, other))
    return Pairs(a, b, *columns)


def _means(cells: Sequence[Cell]) -> dict[object, float]:
    """Return the mean over seeds of each query that every seed answered."""
    answers = [expansions(cell) for cell in cells]
    found = {}
    for query in answers[0] if answers else ():
        counts = [count for answer in answers if (count := answer.get(query)) is not None]
        if len(counts) == len(answers):
            found[query] = float(np.mean(counts))
    return found


@dataclass(frozen=True, slots=True)
class Bin:
    """Queries whose ranks have the same power of two: the median rank, and quartiles of some values."""

    rank: float
    low: float
    middle: float
    high: float


def bins(ranks: Array, values: Array) -> list[Bin]:
    power = np.floor(np.log2(np.maximum(ranks, 1))).astype(int)
    found = []
    for exponent in np.unique(power):
        inside = values[power == exponent]
        low, middle, high = (float(value) for value in np.quantile(inside, [0.25, 0.5, 0.75]))
        found.append(Bin(float(np.median(ranks[power == exponent])), low, middle, high))
    return found


@styled
def draw(
    found: Pairs, caption: str, title: str = "", marks: Mapping[str, Mark] | None = None, by_rank: bool = False
) -> Figure:
    """Draw expansions above and the ratio A/B below, each with medians by power of two."""
    figure, (upper, lower) = canvas(height=4.1, width=COLUMN, rows=2, sharex=True, height_ratios=(3, 2))
    marks = marks or marks_of((found.a, found.b))
    raster = {"rasterized": len(found.dijkstra) > MANY_POINTS}
    for name, values in ((found.a, found.expanded_a), (found.b, found.expanded_b)):
        look = {"color": marks[name].colour, "marker": marks[name].marker}
        upper.plot(
            found.dijkstra, values, linestyle="none", markersize=2.6, alpha=0.45, markeredgewidth=0, **look, **raster
        )
        middle = bins(found.dijkstra, values)
        line = {"linestyle": marks[name].line, "label": f"{name}: median"}
        upper.plot([each.rank for each in middle], [each.middle for each in middle], **look, **line)
    lower.plot(
        found.dijkstra, found.ratio, linestyle="none", marker=".", markersize=3, alpha=0.45, color=INK,
        markeredgewidth=0, **raster,
    )  # fmt: skip
    for each in bins(found.dijkstra, found.ratio):
        lower.plot([each.rank] * 2, [each.low, each.high], color=INK, linewidth=2.5, alpha=0.5, solid_capstyle="butt")
        lower.plot([each.rank], [each.middle], color=INK, marker="_", markersize=9, markeredgewidth=2)
    lower.axhline(1, color=INK, linewidth=0.8)
    upper.set(xscale="log", yscale="log", ylabel="expansions")
    upper.set_title(title)
    lower.set(yscale="log", ylabel=_ratio_label(found.a, found.b))
    lower.set_xlabel("Dijkstra rank of the query" if by_rank else "vertices that Dijkstra expands on the query")
    log_axis(lower.xaxis, found.dijkstra.tolist())
    log_axis(upper.yaxis, [*found.expanded_a.tolist(), *found.expanded_b.tolist()])
    lower.set_ylim(0.9 * min(0.75, found.ratio.min()), 1.1 * max(1.35, found.ratio.max()))
    log_axis(lower.yaxis, [0.75, 1.35, *found.ratio.tolist()])
    add_legend(figure, upper)
    add_caption(figure, f"{caption} Bars: medians and quartiles by power of two.")
    figure.dpi = RASTER_DPI
    return figure


def _ratio_label(a: str, b: str) -> str:
    return f"{a} / {b}" if len(a) + len(b) < 26 else "first / second"
