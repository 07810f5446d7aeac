"""Pictures on the map: a method's landmarks, and what A* expands under two methods. They need graphs and bundles."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from aacbench.bundle import store
from aacbench.bundle.arrays import leaves
from aacbench.bundle.deploy import deploy
from aacbench.contract.method import LabelHeuristic
from aacbench.errors import UsageError
from aacbench.graphs.load import load
from aacbench.graphs.record import Array, Graph
from aacbench.reports.figures.style import (
    COLOURS,
    COLUMN,
    INK,
    LINE,
    PAGE,
    PAPER,
    Mark,
    add_caption,
    add_legend,
    canvas,
    marks_of,
    styled,
)
from aacbench.run.layout import ARTIFACTS
from aacbench.run.rebuild import stored_bundle
from aacbench.run.records import TEST
from aacbench.run.shared import Pools
from aacbench.run.store import Cell
from aacbench.search.expanded import expanded_vertices
from aacbench.search.networks import Network, stored_network

ON_A_GLOBE = ("dimacs:", "osmnx:")  # coordinates are degrees
DOTS = "#808080"  # seen on white and on black: an image cannot follow the scheme of a page
MOST_BACKGROUND = 60_000  # vertices drawn behind a picture; of more, an even share


@dataclass(frozen=True, eq=False, slots=True)
class Map:
    """A graph with coordinates, ready to be searched."""

    graph: Graph
    coords: Array
    network: Network

    @property
    def aspect(self) -> float:
        if not self.graph.name.startswith(ON_A_GLOBE):
            return 1.0
        latitude = float(np.median(self.coords[:, 1]))
        degrees = latitude / 1e6 if abs(latitude) > 90 else latitude
        return 1 / math.cos(math.radians(degrees))


def map_of(cell: Cell) -> Map:
    """Load the graph of a cell; refuse one without coordinates, or that is no longer what was measured."""
    if "traffic" in cell.key:
        raise UsageError("Maps show graphs as they were built on; choose a cell without traffic.")
    graph = load(cell.key["graph"])
    if graph.digest != cell.key["graph_digest"]:
        raise UsageError(f"The graph {cell.key['graph']} is not the one that was measured; its digest differs.")
    if graph.coords is None:
        raise UsageError(f"The graph {cell.key['graph']} has no coordinates, so nothing can be shown on a map.")
    return Map(graph, graph.coords, stored_network(graph))


@dataclass(frozen=True, eq=False, slots=True)
class Landmarks:
    """The landmarks of a cell, and the pool they were chosen from; the pool is empty where none was larger."""

    chosen: Array
    pool: Array


def landmarks(root: Path, cell: Cell, where: Map) -> Landmarks:
    """Read the landmarks off the labels: the label of a landmark for itself is 0."""
    parts = [part for part in leaves(_heuristic(root, cell)).values() if isinstance(part, LabelHeuristic)]
    tables = [part.arrays["rows"] for part in parts if part.kernel == "differential"]
    if not tables:
        raise UsageError(f"The arrays of {cell.key['label']} do not tell its landmarks.")
    found = [_first_zero(table[:, column]) for table in tables for column in range(table.shape[1])]
    chosen = np.array(sorted({vertex for vertex in found if vertex is not None}), dtype=np.int64)
    params = cell.key["params"]
    if "K0" not in params or "pool" not in params:
        return Landmarks(chosen, np.empty(0, dtype=np.int64))
    pools = Pools(where.network, (root / ARTIFACTS).absolute())
    return Landmarks(chosen, pools.selected(params["pool"], int(params["K0"])).landmarks)


def _first_zero(column: Array) -> int | None:
    zeros = np.flatnonzero(column == 0)
    return int(zeros[0]) if len(zeros) else None


@dataclass(frozen=True, eq=False, slots=True)
class Searched:
    """What one method expands on a query, and the path it finds."""

    method: str
    expanded: Array
    path: Array


def median_query(cell: Cell) -> int:
    """Return the number of the test query with the median expansions: neither a good nor a bad one is picked."""
    rows = np.flatnonzero((cell.queries["split"] == TEST) & (cell.queries["outcome"] == "ok"))
    if not len(rows):
        raise UsageError(f"{cell.key['label']} answered no test query on {cell.key['graph']}.")
    order = rows[np.argsort(cell.queries["expanded"][rows], kind="stable")]
    return int(cell.queries["query"][order[len(order) // 2]])


def searched(root: Path, cell: Cell, where: Map, query: int) -> Searched:
    """Search a test query again from the cell's bundle; it must expand what the rows say."""
    columns = cell.queries
    (rows,) = np.nonzero((columns["split"] == TEST) & (columns["query"] == query))
    if not len(rows):
        raise UsageError(f"There is no test query {query} in this study.")
    source, target = int(columns["source"][rows[0]]), int(columns["target"][rows[0]])
    deployed = deploy(_heuristic(root, cell), where.network)
    expanded, answers = expanded_vertices(where.network, deployed.searched, source, target, cell.key["policy"])
    if answers.expanded[0] != columns["expanded"][rows[0]]:
        raise UsageError(f"{cell.key['label']} expands other vertices than its rows say; replay cell {cell.cell_id}.")
    assert answers.paths is not None
    return Searched(cell.key["label"], expanded, answers.paths[0])


def _heuristic(root: Path, cell: Cell) -> Any:
    bundle = stored_bundle(root, cell)
    if bundle is None:
        raise UsageError(f"The bundle of cell {cell.cell_id} is gone or was never stored; run the study again.")
    return store.load(bundle)


@styled
def draw_landmarks(found: Landmarks, where: Map, caption: str, title: str = "") -> Figure:
    low, high = _frame(where.coords)
    figure, axes = canvas(height=0.75 + _height(where, low, high, COLUMN), width=COLUMN)
    _background(axes, where, low, high)
    if len(found.pool):
        look = {"markerfacecolor": PAPER, "markeredgecolor": INK, "markeredgewidth": 0.8, "markersize": 4}
        axes.plot(*where.coords[found.pool].T, linestyle="none", marker="o", label=f"pool of {len(found.pool)}", **look)
    look = {"color": COLOURS[1], "markeredgecolor": INK, "markeredgewidth": 0.6, "markersize": 7}
    axes.plot(*where.coords[found.chosen].T, linestyle="none", marker="*", label=f"{len(found.chosen)} chosen", **look)
    axes.set_title(title)
    add_legend(figure, axes)
    add_caption(figure, caption)
    return figure


@styled
def draw_search(found: Sequence[Searched], where: Map, caption: str, marks: Mapping[str, Mark] | None = None) -> Figure:
    """Draw the methods side by side, on the part of the map that any of them expands."""
    marks = marks or marks_of(one.method for one in found)
    low, high = _frame(where.coords[np.unique(np.concatenate([one.expanded for one in found]))])
    height = 0.65 + _height(where, low, high, PAGE / len(found))
    figure, panels = canvas(height=height, width=PAGE, columns=len(found), squeeze=False)
    for axes, one in zip(panels[0], found, strict=True):
        size = 1.6 * _background(axes, where, low, high)
        look = {"linestyle": "none", "marker": "o", "markersize": size, "markeredgewidth": 0, "rasterized": True}
        axes.plot(*where.coords[one.expanded].T, color=marks[one.method].colour, **look)
        path = where.coords[one.path]
        axes.plot(*path.T, color=PAPER, linewidth=3)
        axes.plot(*path.T, color=INK, linewidth=1.2)
        axes.plot(*path[0], marker="o", color=PAPER, markeredgecolor=INK, markersize=6)
        axes.plot(*path[-1], marker="*", color=PAPER, markeredgecolor=INK, markersize=9)
        axes.set_title(f"{one.method}: {len(one.expanded):,} vertices")
    add_caption(figure, f"{caption} Circle: source; star: target; line: the shortest path.")
    return figure


def _frame(coords: Array) -> tuple[Array, Array]:
    """Return the corners of a map of these points, with some room around them."""
    low, high = coords.min(axis=0), coords.max(axis=0)
    room = 0.05 * max(*(high - low), 1e-9)
    return low - room, high + room


def _height(where: Map, low: Array, high: Array, width: float) -> float:
    wide, tall = high - low
    return float(np.clip(width * tall * where.aspect / wide, 1.2, 4.5))


def _background(axes: Any, where: Map, low: Array, high: Array) -> float:
    """Draw the vertices inside the frame in grey, and return the size of their dots."""
    inside = np.flatnonzero(((where.coords >= low) & (where.coords <= high)).all(axis=1))
    shown = inside[:: max(1, len(inside) // MOST_BACKGROUND)]
    size = float(np.clip(100 / math.sqrt(max(1, len(shown))), 0.5, 3))  # so that they do not cover each other
    dots = {"linestyle": "none", "marker": "o", "markeredgewidth": 0, "rasterized": True}
    axes.plot(*where.coords[shown].T, color=DOTS, alpha=0.5, markersize=size, zorder=0, **dots)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[], aspect=where.aspect)
    for side in axes.spines.values():
        side.set(visible=True, color=LINE)
    return size
