"""What each variant of a study is worth for two methods, beside the difference of the two: the table of controls."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from aacbench.errors import AacbenchError
from aacbench.graphs.record import Array
from aacbench.reports.formatting import aligned, bound, optional, tabular, with_short_graphs, without_markup
from aacbench.reports.latency import latencies
from aacbench.run.records import BASE, BASELINE, OUTCOMES, TEST
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents
from aacbench.stats import ESTIMANDS, Estimand

TEXT_COLUMNS = ("graph", "factor", "switched to", "counts", "outcome")
EQUAL, OTHER_QUERIES, NOT_AVAILABLE, ESTIMAND = "equal", "other queries", "not available", "estimand"
REDUCTION = "reduction_of_means_pp"
ONE_METHOD = "What the variants are worth is shown beside the difference of two methods; this study has rows of fewer."
RATIOS = ("geometric_mean_ratio", "median_ratio")  # other summaries of the same rows; the table has the ratio of means


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One method under one variant: its reduction in percent, and what the variant changed.

    `points` are percentage points more than in the study itself, `ratio` and `time` the expansions and the median time
    of a search, divided by those in the study itself.
    """

    reduction: float | None = None
    points: float | None = None
    ratio: float | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One variant on a graph at a budget; the first line of each place is the study itself, with an empty `variant`.

    `effect` is the reduction of A less that of B in percentage points, `effect_ratio` their mean expansions A / B (or
    another estimand of the same rows), `effect_time` the median times A / B. `counts` says whether every query has as
    many expansions as in the study itself. `interval` is the 95 % interval of the study's own effect, and `verdict`
    what the study's analysis says of it, or why it says nothing.
    """

    graph: str
    budget: float
    factor: str
    variant: str
    a: Arm = field(default_factory=Arm)
    b: Arm = field(default_factory=Arm)
    effect: float | None = None
    interval: tuple[float, float] | None = None
    verdict: str = ""
    effect_ratio: float | None = None
    effect_time: float | None = None
    counts: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Controls:
    """The table of controls of a study: two methods, judged as A against B, and its lines."""

    a: str
    b: str
    lines: tuple[Line, ...]
    spread: float | None = None  # of the A/A control of the times, the largest
    left_out: tuple[str, ...] = ()  # further methods of the study


def controls_of(contents: StudyContents) -> Controls | None:
    """Return the table of a study with variants, of its second method against its first; None without."""
    variants = (contents.plan or {}).get("study", {}).get("variants", ())
    cells = [cell for cell in contents.planned_cells() if cell.is_reported]
    labels = [label for label in dict.fromkeys(cell.key["label"] for cell in cells) if label != BASELINE]
    if not variants or len(labels) < 2:
        return None
    b, a, *left_out = labels
    groups: dict[tuple[str, str, float, str], list[Cell]] = {}
    bases: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.key["label"] == BASELINE:
            bases.setdefault((cell.variant, cell.key["graph"]), []).append(cell)
        else:
            place = (cell.variant, cell.key["graph"], cell.key["budget"], cell.key["label"])
            groups.setdefault(place, []).append(cell)
    timed = latencies(cells)
    times = {(row.variant, row.graph, row.budget, row.method): row.p50 for row in timed}
    spread = max((row.control_spread for row in timed if row.control_spread is not None), default=None)
    factors = {BASE: "", **{variant["name"]: variant.get("factor") or variant["name"] for variant in variants}}
    judged = _judged(contents, a, b)
    lines: list[Line] = []
    for graph, budget in dict.fromkeys((cell.key["graph"], cell.key["budget"]) for cell in _labelled(cells, a)):
        found = {
            name: _Case(
                groups.get((name, graph, budget, a), []),
                groups.get((name, graph, budget, b), []),
                bases.get((name, graph), []),
                times.get((name, graph, budget, a)),
                times.get((name, graph, budget, b)),
            )
            for name in factors
        }
        here = [
            _line(graph, budget, factor, name, found[name], found[BASE], (a, b)) for name, factor in factors.items()
        ]
        interval, verdict = judged.get((graph, budget), (None, ""))
        lines += [replace(here[0], interval=interval, verdict=verdict), *here[1:], *_estimands(here[0], found[BASE])]
    return Controls(a, b, tuple(lines), spread, tuple(left_out))


def _judged(contents: StudyContents, a: str, b: str) -> dict[tuple[str, float], tuple[tuple[float, float] | None, str]]:
    """Return the interval of the study's own effect by graph and budget, and the outcome of its analysis."""
    from aacbench.reports import statistics  # imports scipy

    try:
        table = statistics.analyse(contents, a, b, None, REDUCTION, light=True)
    except AacbenchError:
        return {}
    return {
        (cell.graph, cell.budget_a): (cell.effect.interval(), cell.effect.outcome or cell.effect.reason)
        for cell in table.cells
    }


@dataclass(frozen=True, slots=True)
class _Case:
    """The cells of A, of B and of Dijkstra under one variant, and the median times of A and B."""

    a: list[Cell]
    b: list[Cell]
    base: list[Cell]
    time_a: float | None
    time_b: float | None


def _line(graph: str, budget: float, factor: str, name: str, case: _Case, own: _Case, labels: Sequence[str]) -> Line:
    same = _same_queries(case, own)
    a = _arm(case.a, case.base, own.a, own.base, same, _over(case.time_a, own.time_a) if same else None)
    b = _arm(case.b, case.base, own.b, own.base, same, _over(case.time_b, own.time_b) if same else None)
    return Line(
        graph=graph,
        budget=budget,
        factor=factor,
        variant=name,
        a=a,
        b=b,
        effect=_less(a.reduction, b.reduction),
        effect_ratio=_over(_mean(case.a), _mean(case.b)),
        effect_time=_over(case.time_a, case.time_b),
        counts=("" if name == BASE else _counts(case, own)) if same else OTHER_QUERIES,
        outcome=", ".join(_failures(case, labels)),
    )


def _arm(
    cells: list[Cell], base: list[Cell], own: list[Cell], own_base: list[Cell], same: bool, time: float | None
) -> Arm:
    reduction, before = _reduction(cells, base), _reduction(own, own_base)
    ratio = _over(_mean(cells), _mean(own)) if same else None
    return Arm(reduction=reduction, points=_less(reduction, before), ratio=ratio, time=time)


def _failures(case: _Case, labels: Sequence[str]) -> Iterator[str]:
    """Yield the worst outcome of each method that has another than `ok`, with its name."""
    for label, cells in zip((*labels, BASELINE), (case.a, case.b, case.base), strict=True):
        worst = max((cell.outcome for cell in cells), key=OUTCOMES.index, default="missing")
        if worst != "ok":
            yield f"{label} {worst}"


def _estimands(line: Line, case: _Case) -> Iterator[Line]:
    """Yield other summaries of the study's own rows, which need no run."""
    a, b = _counted(case.a), _counted(case.b)
    if a is None or b is None or a.min() <= 0 or b.min() <= 0:
        return
    for name in RATIOS:
        wanted: Estimand = ESTIMANDS[name]
        bare = replace(line, a=Arm(), b=Arm(), effect=None, effect_time=None, counts="same rows")
        yield replace(bare, factor=ESTIMAND, variant=name, effect_ratio=float(wanted.formula(a, b, None)))


def _labelled(cells: Sequence[Cell], label: str) -> list[Cell]:
    return [cell for cell in cells if cell.key["label"] == label]


def _rows(cell: Cell) -> Array:
    """Return the expansions of the test queries."""
    rows: Array = cell.queries["expanded"][cell.queries["split"] == TEST]
    return rows


def _good(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.outcome == "ok" and len(_rows(cell))]


def _counted(cells: Sequence[Cell]) -> Array | None:
    """Return expansions with a row per seed and a column per query."""
    good = _good(cells)
    return np.array([_rows(cell) for cell in good], dtype=float) if good else None


def _mean(cells: Sequence[Cell]) -> float | None:
    """Return the mean over seeds of the mean over queries."""
    means = [float(np.mean(_rows(cell))) for cell in _good(cells)]
    return float(np.mean(means)) if means else None


def _reduction(cells: Sequence[Cell], base: Sequence[Cell]) -> float | None:
    share = _over(_mean(cells), _mean(base))
    return None if share is None else 100 * (1 - share)


def _same_queries(case: _Case, own: _Case) -> bool:
    one, other = ({cell.key.get("query_digests", {}).get(TEST) for cell in each.a} for each in (case, own))
    return one == other


def _counts(case: _Case, own: _Case) -> str:
    """Return whether every query of both methods and of Dijkstra has the expansions that it has without the variant."""
    pairs = [(case.a, own.a), (case.b, own.b), (case.base, own.base)]
    for cells, others in pairs:
        by_seed = {cell.key["seed"]: cell for cell in _good(others)}
        good = _good(cells)
        if not good or not by_seed:
            return NOT_AVAILABLE
        if {cell.key["seed"] for cell in good} != by_seed.keys():
            return ""
        if not all(np.array_equal(_rows(cell), _rows(by_seed[cell.key["seed"]])) for cell in good):
            return ""
    return EQUAL


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _over(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other


def cells(found: Controls, line: Line) -> dict[str, str]:
    """Return a line as the cells of a table."""
    a, b, own = found.a, found.b, line.variant == BASE
    return {
        "graph": line.graph,
        "B/v": f"{line.budget:g}",
        "factor": line.factor,
        "switched to": line.variant or "nothing",
        f"{b} %": optional(line.b.reduction, ".2f"),
        f"{a} %": optional(line.a.reduction, ".2f"),
        f"{b} points": "" if own else _signed(line.b.points),
        f"{a} points": "" if own else _signed(line.a.points),
        f"{b} ratio": "" if own else optional(line.b.ratio, ".3f"),
        f"{a} ratio": "" if own else optional(line.a.ratio, ".3f"),
        f"{a} - {b} points": _signed(line.effect) + _ends(line),
        f"{a} / {b}": optional(line.effect_ratio, ".3f"),
        f"{b} time": "" if own else optional(line.b.time, ".2f"),
        f"{a} time": "" if own else optional(line.a.time, ".2f"),
        f"{a} / {b} time": optional(line.effect_time, ".2f"),
        "counts": line.counts,
        "outcome": line.outcome,
    }


def _signed(value: float | None) -> str:
    return "" if value is None else "0.00" if abs(value) < 0.005 else f"{value:+.2f}"


def _ends(line: Line) -> str:
    if line.interval is None:
        return ""
    low, high = (bound(end, 1) for end in line.interval)
    return f" [{low}, {high}]"


def rows(found: Controls) -> tuple[list[dict[str, str]], list[str]]:
    """Return the table with short names of graphs, and notes on how to read it."""
    lines, graph_notes = with_short_graphs(found.lines)
    return [cells(found, line) for line in lines], [*notes(found), *graph_notes]


def notes(found: Controls) -> list[str]:
    a, b = found.a, found.b
    told = []
    if found.left_out:
        told.append(f"Shown are the study's first two methods, {a} against {b}; left out: {', '.join(found.left_out)}.")
    if any(line.a.reduction is not None or line.b.reduction is not None for line in found.lines):
        told.append(
            "%: reduction of mean expansions against dijkstra under the same switches. points and ratio: what the "
            "switch alone changes, in percentage points of reduction and as expansions with it / without it; no ratio "
            "where the queries are others."
        )
    if any(line.effect is not None for line in found.lines):
        told.append(f"{a} - {b} points and {a} / {b}: the effect of the method, by reduction and by mean expansions.")
    if any(line.interval for line in found.lines):
        told.append("[low, high]: 95 % interval of the effect without a switch, by the study's analysis.")
    if any(line.factor == ESTIMAND for line in found.lines):
        told.append(f"Lines with the factor {ESTIMAND} summarise the same rows in another way.")
    if any(line.counts == EQUAL for line in found.lines):
        told.append(
            f"counts: {EQUAL} where every query of both methods and of dijkstra expands as many vertices as without "
            "the switch, compared row by row."
        )
    if any(line.counts == NOT_AVAILABLE for line in found.lines):
        told.append(f"counts: {NOT_AVAILABLE} where a method has no rows with the switch or without it.")
    if any(line.effect_time is not None for line in found.lines):
        limit = "" if found.spread is None else f"; within {100 * found.spread:.0f} %, the A/A spread, it means nothing"
        told.append(f"time: median time of a search with the switch / without it, measured in turns{limit}.")
    elif any(line.counts == EQUAL for line in found.lines):
        told.append("What label layout and vertex order are worth in time shows with --time.")
    return told


def sentences(found: Controls) -> list[str]:
    """Say for each graph and budget which switches are worth more than the method."""
    told = []
    for graph, budget in dict.fromkeys((line.graph, line.budget) for line in found.lines):
        here = [
            line for line in found.lines if (line.graph, line.budget) == (graph, budget) and line.factor != ESTIMAND
        ]
        own, others = here[0], [line for line in here[1:] if line.a.points is not None and line.b.points is not None]
        if own.effect is None:
            continue
        more = [line for line in others if worth(line) > abs(own.effect)]
        named = ", ".join(f"{line.variant} ({largest(line):+.2f})" for line in more)
        effects = [line.effect for line in others if line.effect is not None]
        span = f", and from {min(effects):+.2f} to {max(effects):+.2f} under the switches" if effects else ""
        effect = f"{found.a} - {found.b} is {own.effect:+.2f} percentage points{_certainty(own)}"
        told.append(
            f"{graph} at {budget:g} B/v: {effect}{span}. "
            + (
                f"Switches that change the reduction of one of the methods by more than {abs(own.effect):.2f}: {named}."
                if more
                else f"No switch changes the reduction of a method by more than {abs(own.effect):.2f}."
            )
        )
    return told


def _certainty(line: Line) -> str:
    """Say how certain the study's own effect is: its interval, and where the analysis is inconclusive, that."""
    if line.interval is None:
        return f" without an interval ({line.verdict.rstrip('.') or 'the analysis cannot pair the methods here'})"
    low, high = (bound(end, 2) for end in line.interval)
    verdict = f"; {line.verdict}" if line.verdict else ""
    return f" (95 % interval {low} to {high}{verdict})"


def worth(line: Line) -> float:
    return abs(largest(line))


def largest(line: Line) -> float:
    """Return the change of the method that the switch changes most, in percentage points."""
    return max((line.a.points or 0.0, line.b.points or 0.0), key=abs)


def markdown(found: Controls) -> str:
    table, told = rows(found)
    return without_markup("\n".join([aligned(table, TEXT_COLUMNS), "", *told, "", *sentences(found)]))


def latex(found: Controls) -> str:
    table, told = rows(found)
    return tabular(table, TEXT_COLUMNS, told)


def record(found: Controls) -> dict[str, Any]:
    return asdict(found)


def csv_text(found: Controls) -> str:
    """Return the lines in full precision."""
    flat = [{"a": found.a, "b": found.b, **_flat(line)} for line in found.lines]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(flat[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return out.getvalue()


def _flat(line: Line) -> Mapping[str, Any]:
    values = asdict(line)
    low, high = values.pop("interval") or (None, None)
    ends = {"effect_low": low, "effect_high": high}
    arms = {f"{arm}_{key}": value for arm in ("a", "b") for key, value in values.pop(arm).items()}
    return {**values, **ends, **arms}
