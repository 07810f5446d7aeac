"""The one look of all figures: sizes, colours, markers and lines by method, the caption line, and saving."""

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.rcsetup import cycler
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

COLUMN, PAGE = 3.5, 7.1  # inches: the width of a paper's column, and of both
INK, PAPER, QUIET, LINE = "#000000", "#ffffff", "#595959", "#d0d0d0"  # a page replaces these in its dark scheme
RASTER_DPI = 200  # of points on a map, which would make a vector file huge
CAPTION_SIZE = 6
NARROW = 1.8  # a logarithmic axis from a value to less than so many times it has evenly spaced numbers
LEGEND_ROW = 0.15  # inches

# Okabe and Ito's colours that stand out on white and on black. Markers and lines differ too, for print in grey; the
# three lists have lengths without common divisor, so that no two of many methods look the same.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d1f", "#56a0d3", "#7f7f7f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1, 2)), (0, (3, 1.2)))

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so figures are the same on every machine
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=COLOURS),  # for figures of plugins
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": LINE,
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "axes.unicode_minus": False,  # a sign outside Latin-1 embeds the font twice in a PDF, which takes its time
    "text.parse_math": False,  # a method may be called $x$
    "svg.fonttype": "path",
    "svg.hashsalt": "aacbench",
    "pdf.fonttype": 42,
    "savefig.dpi": RASTER_DPI,
}

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Mark:
    """How a method is drawn in every figure of a study."""

    colour: str
    marker: str
    line: Any


def marks_of(methods: Iterable[str]) -> dict[str, Mark]:
    """Return a look for each method, by its place in the study; Dijkstra is grey everywhere."""
    names = [name for name in dict.fromkeys(methods) if name != "dijkstra"]
    marks = {
        name: Mark(COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)], LINES[at % len(LINES)])
        for at, name in enumerate(names)
    }
    return marks | {"dijkstra": Mark(QUIET, "x", (0, (2, 1.5)))}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style, whatever the user's own settings of matplotlib are."""

    @wraps(draw)
    def drawn(*args: P.args, **more: P.kwargs) -> R:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(STYLE)
            return draw(*args, **more)

    return drawn


def canvas(height: float, width: float = COLUMN, columns: int = 1, rows: int = 1, **more: Any) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03))
    return figure, figure.subplots(rows, columns, **more)


def add_caption(figure: Figure, caption: str) -> None:
    """Write the small line below a figure that says what it was measured on."""
    characters = int(figure.get_figwidth() * 22)  # of this size to a line
    lines = textwrap.wrap(caption, characters, break_long_words=True)
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=CAPTION_SIZE, color=QUIET)


def add_legend(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """Put the legend above the axes; a figure grows with the rows of its legend, so that the axes keep their size."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    fitting = max(1, min(columns, int(figure.get_figwidth() * 18) // (max(map(len, labels)) + 7)))
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * (-(-len(labels) // fitting) - 1))
    figure.legend(handles, labels, loc="outside upper left", ncols=fitting, handlelength=2.6, columnspacing=1.2)


def log_axis(axis: Any, values: Sequence[float]) -> None:
    """Label a logarithmic axis with round numbers: few steps where it spans decades, more where it does not."""
    positive = [value for value in values if value > 0]
    decades = max(positive, default=1) / min(positive, default=1)
    steps = (1.0,) if decades > 2000 else (1.0, 2.0, 5.0) if decades > 5 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    narrow = decades < NARROW
    axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]) if narrow else LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def bytes_axis(axis: Any, values: Sequence[float]) -> None:
    """Label a logarithmic axis of bytes per vertex with powers of two, and values between where it spans few."""
    log_axis(axis, values)
    low, high = 0.9 * min(values), 1.1 * max(values)
    powers = [2.0**exponent for exponent in range(-4, 21)]
    between = [1.5 * power for power in powers] if high / low < 8 else []
    axis.set_major_locator(FixedLocator([tick for tick in sorted(powers + between) if low <= tick <= high]))


def plain_number(value: float) -> str:
    """Return a number as a reader writes it: 12,000 and 0.5, and powers of ten beyond millions."""
    if value >= 1e7:
        exponent = len(f"{value:.0f}") - 1
        factor = value / 10**exponent
        return f"1e{exponent}" if factor == 1 else f"{factor:g}e{exponent}"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.4g}"


@styled
def settle(figure: Figure) -> None:
    """Find the place of everything once; otherwise each saving does it again, with a drawing that is thrown away."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # "none" keeps a placeholder, for which every saving draws twice


@styled
def svg(figure: Figure) -> str:
    """Return the figure as SVG; the same values give the same bytes."""
    settle(figure)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


@styled
def pdf(figure: Figure) -> bytes:
    settle(figure)
    out = io.BytesIO()
    figure.savefig(out, format="pdf", metadata={"CreationDate": None, "Creator": "aacbench", "Producer": None})
    return out.getvalue()


# What a page draws in place of a colour: in its light scheme, and in its dark one.
SCHEMES = {
    INK: ("#1b1b1b", "#e8e8e8"),
    PAPER: ("#ffffff", "#16191d"),
    QUIET: ("#595959", "#a8adb4"),
    LINE: ("#d0d0d0", "#3c4249"),
    COLOURS[0]: (COLOURS[0], "#4aa3df"),
    COLOURS[4]: (COLOURS[4], "#c9a63a"),
}


def for_page(drawing: str) -> str:
    """Return an SVG that follows the reader's light or dark scheme: its colours become variables."""
    for at, colour in enumerate(SCHEMES):
        drawing = drawing.replace(colour, f"var(--c{at})")
    light, dark = (";".join(f"--c{at}:{pair[side]}" for at, pair in enumerate(SCHEMES.values())) for side in (0, 1))
    # Text without a colour of its own is black by default.
    rules = f"svg{{{light};fill:var(--c0)}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    return re.sub(r"(<svg [^>]*>)", rf"\1<style>{rules}</style>", drawing, count=1, flags=re.DOTALL)
