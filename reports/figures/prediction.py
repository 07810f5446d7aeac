"""A test map as an encoder sees it: the image, true and predicted costs with the paths of both, expanded cells."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aacbench.bundle.deploy import deploy
from aacbench.contract.method import LabelHeuristic
from aacbench.graphs.record import Array
from aacbench.labels.blocks import block_labels, farthest_cells
from aacbench.maps.atlas import SCALE, atlas
from aacbench.maps.grid import solve
from aacbench.maps.record import TEST
from aacbench.reports.figures.style import COLOURS, PAGE, add_caption, canvas, styled
from aacbench.run.map_paths import corner_paths
from aacbench.run.predicted import IMAGE_FILE, array_of, of_cell
from aacbench.run.store import Cell
from aacbench.search.expanded import expanded_vertices
from aacbench.search.networks import network

CORNERS = 4  # labels of the second search: with four, the farthest cells are the corners


@dataclass(frozen=True, eq=False, slots=True)
class Predicted:
    """A test map: its image, costs in the data set's scale, the cells of both paths, and what two searches expand."""

    number: int
    image: Array
    truth: Array
    costs: Array
    unit: float
    true_path: Array
    path: Array
    true_cost: int
    true_optimum: int
    expanded: tuple[Array, Array]


def predicted(cell: Cell) -> Predicted:
    """The test map with the largest regret of an encoder's cell."""
    found, number = of_cell(cell), int(cell.record["shown_map"])
    truth, costs = found.truth[TEST][number], found.costs[TEST][number]
    best, own = solve(truth[None]), corner_paths(costs[None], found.edges)[0]
    return Predicted(
        number=number,
        image=array_of(cell.files[IMAGE_FILE]),
        truth=truth * found.unit,
        costs=costs / SCALE,
        unit=found.unit,
        true_path=best.paths[0],
        path=own,
        true_cost=int((own.astype(np.int64) * truth).sum()),
        true_optimum=int(best.optima[0]),
        expanded=(_expanded(costs, found.edges, 0), _expanded(costs, found.edges, CORNERS)),
    )


def _expanded(costs: Array, edges: str, labels: int) -> Array:
    """Return the cells that A* expands from corner to corner, with labels of the farthest cells of the unit grid."""
    net = network(atlas(costs[None], edges))
    rows = np.empty((costs.size, 0), dtype=np.int32)
    if labels:
        rows = block_labels(net, costs.size, farthest_cells(len(costs), labels))
    layout = deploy(LabelHeuristic({"rows": rows}, "differential", {"both": labels}), net).searched
    return expanded_vertices(net, layout, 0, costs.size - 1)[0]


@styled
def draw(found: Predicted, caption: str) -> Figure:
    figure, axes = canvas(2.3, PAGE, columns=5)
    axes[0].imshow(found.image)
    axes[0].set_title("image")
    for place, costs, title in ((1, found.truth, "true costs"), (2, found.costs, "predicted costs")):
        # A scale for each: an encoder that learns from paths predicts costs in a scale of its own.
        low, high = float(costs.min()), float(costs.max())
        axes[place].imshow(costs, cmap="Greys", vmin=low, vmax=high + 0.3 * (high - low or 1.0))
        axes[place].set_title(title)
        axes[place].set_xlabel(f"white {low:.3g}, darkest {high:.3g}", fontsize="small")
        _path(axes[place], found.true_path, COLOURS[0], "-", "least true cost")
        _path(axes[place], found.path, COLOURS[1], (0, (2, 1)), "least predicted cost")
    side = len(found.costs)
    for place, cells, title in ((3, found.expanded[0], "Dijkstra"), (4, found.expanded[1], "labels of 4 corners")):
        shade = np.zeros(side * side)
        shade[cells] = 0.35
        axes[place].imshow(shade.reshape(side, side), cmap="Greys", vmin=0, vmax=1)
        axes[place].set_title(f"{title}: {len(cells)}")
        _path(axes[place], found.path, COLOURS[1], (0, (2, 1)), "")
    for each in axes:
        each.set_xticks([])
        each.set_yticks([])
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    add_caption(figure, caption)
    return figure


def _path(axes: Axes, cells: Array, colour: str, line: object, label: str) -> None:
    """Draw the cells of a path in the order along it."""
    left = {(int(row), int(column)) for row, column in np.argwhere(cells)}
    at = (0, 0)
    walk = [at]
    left.discard(at)
    while left:
        near = [each for each in left if max(abs(each[0] - at[0]), abs(each[1] - at[1])) == 1]
        if not near:
            break
        # A shortest path has no shortcut, so there is one next cell, or a diagonal one that comes after a straight one.
        at = min(near, key=lambda each: (abs(each[0] - at[0]) + abs(each[1] - at[1]), each))
        walk.append(at)
        left.discard(at)
    rows, columns = zip(*walk, strict=True)
    axes.plot(columns, rows, color=colour, linestyle=line, linewidth=1.6, label=label or None)
