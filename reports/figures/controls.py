"""What each switch is worth to two methods, in percentage points, beside the difference of the two."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from aacbench.errors import UsageError
from aacbench.reports.controls import EQUAL, ESTIMAND, Controls, Line, controls_of, largest
from aacbench.reports.figures import Drawing
from aacbench.reports.figures.style import INK, LINE, PAGE, PAPER, Mark, add_caption, canvas, styled
from aacbench.reports.formatting import graph_names

if TYPE_CHECKING:
    from aacbench.reports.figures import Subject

ROW_HEIGHT, OFFSET = 0.26, 0.16  # inches of a row; how far the two methods are from its middle
MOST_PANELS = 3


def drawing(subject: "Subject") -> Drawing:
    found = controls_of(subject.contents)
    if found is None:
        raise UsageError("This study has no variants with two methods, so there is nothing to draw.")
    chosen = subject.choices
    lines = [
        line
        for line in found.lines
        if line.factor != ESTIMAND and chosen.graph in (None, line.graph) and chosen.budget in (None, line.budget)
    ]
    places = list(dict.fromkeys((line.graph, line.budget) for line in lines))[:MOST_PANELS]
    panels = {place: [line for line in lines if (line.graph, line.budget) == place] for place in places}
    if not panels:
        raise UsageError(f"There are no controls on {chosen.graph} at these choices.")
    graphs = [graph for graph, _ in panels]
    shown = {cell.cell_id: cell for cell in subject.cells if cell.key["graph"] in graphs}
    drawn = draw(found, list(panels.values()), subject.caption(list(shown.values())), subject.marks)
    said = [f"{line.variant} on {line.graph} {largest(line):+.2f}" for line in lines if line.variant]
    alt = (
        f"Change of the reduction by each switch, in percentage points, for the method most changed: {'; '.join(said)}."
    )
    return Drawing(
        "controls", "controls", f"What each switch is worth to {found.b} and {found.a}", alt, drawn, wide=True
    )


@styled
def draw(found: Controls, panels: Sequence[Sequence[Line]], caption: str, marks: Mapping[str, Mark]) -> Figure:
    """Draw a panel for each graph and budget; the first line of each is the study without a switch."""
    lines = panels[0][1:]
    figure, made = canvas(1.2 + ROW_HEIGHT * len(lines), PAGE, columns=len(panels), sharey=True, squeeze=False)
    names = graph_names({line.graph: None for panel in panels for line in panel})
    for axes, panel in zip(made[0], panels, strict=True):
        _panel(axes, found, panel, marks)
        axes.set_title(f"{names[panel[0].graph]} at {panel[0].budget:g} B/v")
        axes.set_xlabel("percentage points of reduction")
    first = made[0][0]
    first.set_yticks(range(len(lines)), [_named(line) for line in lines])
    first.set_ylim(len(lines) - 0.4, -0.6)
    handles, labels = first.get_legend_handles_labels()
    band = Patch(color=LINE, alpha=0.7, linewidth=0, label=f"within the difference of {found.a} and {found.b}")
    bands = [band]
    if any(panel[0].interval for panel in panels):
        bands.append(Patch(color=LINE, alpha=0.3, linewidth=0, label="to the end of its 95 % interval"))
    names_of_bands = [str(each.get_label()) for each in bands]
    figure.legend([*handles, *bands], [*labels, *names_of_bands], loc="outside upper left", ncols=4)
    add_caption(figure, caption)
    return figure


def _named(line: Line) -> str:
    return line.variant if line.factor == line.variant else f"{line.factor}: {line.variant}"


def _panel(axes: Any, found: Controls, panel: Sequence[Line], marks: Mapping[str, Mark]) -> None:
    effect = abs(panel[0].effect or 0.0)
    axes.axvspan(-effect, effect, color=LINE, alpha=0.7, linewidth=0, zorder=0)
    axes.axvline(0, color=INK, linewidth=0.8, zorder=1)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    for name, offset in ((found.b, -OFFSET), (found.a, OFFSET)):
        arms = [line.b if name == found.b else line.a for line in panel[1:]]
        points = [(arm.points, at + offset) for at, arm in enumerate(arms) if arm.points is not None]
        for x, y in points:
            axes.plot((0, x), (y, y), color=marks[name].colour, linewidth=1.4, zorder=2)
        look = {"markersize": 5, "markeredgecolor": PAPER, "markeredgewidth": 0.5, "linestyle": "none", "zorder": 3}
        places = [[point[axis] for point in points] for axis in (0, 1)]
        axes.plot(*places, marker=marks[name].marker, color=marks[name].colour, label=name, **look)
    if panel[0].interval:
        limits, end = axes.get_xlim(), max(map(abs, panel[0].interval))
        axes.axvspan(-end, end, color=LINE, alpha=0.3, linewidth=0, zorder=-1)
        axes.set_xlim(limits)  # an interval from two seeds can be far wider than what is drawn
    for at, line in enumerate(panel[1:]):
        if line.counts == EQUAL:
            axes.annotate("counts equal", (0, at), xytext=(7, -2.5), textcoords="offset points", fontsize=6, color=INK)
