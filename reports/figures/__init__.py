"""Figures of a study: `figure(name, contents)` draws one of `NAMES`, `gallery` all that a page shows.

matplotlib is imported when something is drawn.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aacbench.contract.encoder import NOTHING
from aacbench.errors import AacbenchError, UsageError
from aacbench.reports.formatting import graph_names
from aacbench.run.layout import TIMINGS_FILE
from aacbench.run.records import BASELINE, STRATA, without_traffic
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents
from aacbench.stats.effects import DEGENERATE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aacbench.reports.figures.pareto import Point
    from aacbench.reports.latency import Latency
    from aacbench.reports.statistics import Table
    from aacbench.stats import ForestRow

NAMES = (
    *("forest", "pareto", "profile", "pairs", "amortised", "landmarks", "search", "controls", "drift", "traffic"),
    "prediction",
)
MOST_PAIRS = 3  # figures of two methods query by query; the others are drawn on request
LONGEST_STEM = 60  # characters


@dataclass(frozen=True)  # without slots, which `cached_property` cannot have
class Drawing:
    """A figure with its place on a page: the stem of its files, a heading, and what it shows in words."""

    name: str
    stem: str
    title: str
    alt: str
    figure: "Figure"
    wide: bool = False

    @cached_property
    def svg(self) -> str:
        from aacbench.reports.figures.style import svg

        return svg(self.figure)

    @cached_property
    def pdf(self) -> bytes:
        from aacbench.reports.figures.style import pdf

        return pdf(self.figure)


@dataclass(frozen=True, slots=True)
class Choices:
    """What a figure is to show; what is not given is the first of the study."""

    graph: str | None = None
    budget: float | None = None
    a: str | None = None
    b: str | None = None
    seed: int | None = None
    query: int | None = None
    root: Path | None = None


def figure(name: str, contents: StudyContents, **choices: Any) -> "Figure":
    """Return a figure of a study, as a matplotlib object.

    Choices: `graph` and `budget`; `a` and `b`, two methods; for maps also `root` (the study's folder), `seed` and
    `query`. What is not given is the first of the study; A is by default judged against its first method.
    """
    if name not in NAMES:
        raise UsageError(f"Unknown figure {name!r}. Known: {', '.join(NAMES)}.")
    known = list(Choices.__dataclass_fields__)
    for choice in choices:
        if choice not in known:
            raise UsageError(f"A figure has no choice {choice!r}. Known: {', '.join(known)}.")
    subject = Subject(contents, Choices(**choices))
    drawing: Drawing = getattr(subject, name)()
    return drawing.figure


def gallery(
    contents: StudyContents, tables: Sequence["Table"], times: Sequence["Latency"], root: Path | None = None
) -> Iterator[Drawing]:
    """Yield the figures of a page; with `root`, the folder of the study, also those on maps."""
    every = Subject(contents, Choices(), times)
    tables = [table for table in tables if any(cell.effect.status != DEGENERATE for cell in table.cells)]
    places = [(table.cells[0].graph, table.cells[0].budget_a, table.a, table.b) for table in tables[:MOST_PAIRS]]
    over_all: list[tuple[str, Choices]] = [("controls", Choices())] if contents.has_variants else []
    over_all += [("prediction", Choices(graph=graph)) for graph in every.graphs if every.learnt(graph)]
    over_all += [("traffic", Choices(graph=graph)) for graph in every.under_traffic()]
    over_all += [("drift", Choices(graph=graph)) for graph in every.graphs]
    over_all += [("pareto", Choices(graph=graph)) for graph in every.graphs if graph not in every.traffic_by_graph]
    over_all += [("profile", Choices())] if len(every.methods) > 1 else []
    single: list[tuple[str, Choices]] = [
        ("pairs", Choices(graph=graph, budget=budget, a=a, b=b)) for graph, budget, a, b in places
    ]
    single += [("amortised", Choices(graph=graph)) for graph in dict.fromkeys(row.graph for row in times)]
    for graph in every.graphs if root is not None else ():
        single += [("landmarks", Choices(graph=graph, a=label, root=root)) for label in every.methods]
        single.append(("search", Choices(graph=graph, root=root)))
    yield from _drawn(every, over_all)
    for table in tables:
        yield every.forest_of(table)
    yield from _drawn(every, single)


def _drawn(every: "Subject", wanted: Sequence[tuple[str, Choices]]) -> Iterator[Drawing]:
    for name, choices in wanted:
        with suppress(AacbenchError):  # such as methods without a query in common, or a graph without coordinates
            yield getattr(every.through(choices), name)()


class Subject:
    """A study seen through some choices: each method draws one kind of figure."""

    def __init__(self, contents: StudyContents, choices: Choices, times: "Sequence[Latency] | None" = None) -> None:
        from aacbench.reports.figures.style import marks_of

        self.contents = contents
        self.cells = contents.reported_cells()
        if times is not None:
            self.times = [row for row in times if not row.variant]
        self.labels = list(dict.fromkeys(cell.key["label"] for cell in self.cells))
        self.methods = [label for label in self.labels if label != BASELINE]
        self.graphs = list(dict.fromkeys(cell.key["graph"] for cell in self.cells))
        self.traffic_by_graph = {cell.key["graph"]: cell.key["traffic"] for cell in self.cells if "traffic" in cell.key}
        self.marks = marks_of(self.labels)
        self._by_graph: dict[str, list[Cell]] = {graph: [] for graph in self.graphs}
        for cell in self.cells:
            self._by_graph[cell.key["graph"]].append(cell)
        self._choose(choices)

    def through(self, choices: Choices) -> "Subject":
        """The same study seen through other choices."""
        other = copy(self)
        other._choose(choices)
        return other

    def _choose(self, choices: Choices) -> None:
        self._check("graph", choices.graph, self.graphs)
        self._check("method", choices.a, self.labels)
        self._check("method", choices.b, self.labels)
        self.choices = choices

    @cached_property
    def times(self) -> "Sequence[Latency]":
        from aacbench.reports.latency import latencies

        return latencies(self.contents.own_cells())

    def pareto(self) -> Drawing:
        from aacbench.reports.figures import pareto

        graph = self.graph()
        found = pareto.points(self.on(graph))
        if not found:
            raise UsageError(f"No method has rows on {graph}, so there is nothing to draw.")
        drawn = pareto.draw(
            found, self.caption(self.on(graph), *_left_out(self.on(graph), found)), self.shown(graph), self.marks
        )
        means = [f"{each.method} {each.mean:,.0f} at {each.measured:.4g} B/v" for each in found]
        alt = f"Mean expansions against measured bytes per vertex on {self.shown(graph)}: {'; '.join(means)}."
        return Drawing(
            "pareto", f"pareto-{stem_of(graph)}", f"Expansions against bytes: {self.shown(graph)}", alt, drawn
        )

    def forest(self) -> Drawing:
        from aacbench.reports.statistics import analyse

        a, b = self._pair()
        table = analyse(self.contents, a, b, None, None, light=True)
        if not table.cells:
            raise UsageError(f"{a} and {b} cannot be compared: {'; '.join(table.unpaired) or 'they share no graph'}.")
        return self.forest_of(table)

    def forest_of(self, table: "Table") -> Drawing:
        from aacbench.reports.figures import forest

        rows = table.forest()
        names = graph_names(table.graphs)
        short = [_renamed(row, names) for row in rows]
        cells = [cell for cell in self.cells if cell.key["label"] in (table.a, table.b)]
        caption = self.caption(cells, f"profile {table.profile.label}")
        drawn = forest.draw(short, table.estimand, table.a, table.b, caption)
        said = [f"{row.cell} {row.estimate:.2f}, {row.label}" for row in short if row.estimate is not None]
        alt = f"{table.estimand.name} of {table.a} against {table.b}, by graph and budget: {'; '.join(said)}."
        stem = f"forest-{stem_of(table.a)}-{stem_of(table.b)}"
        return Drawing("forest", stem, f"{table.a} against {table.b}", alt, drawn, wide=True)

    def profile(self) -> Drawing:
        from aacbench.reports.figures import profile

        cells = [cell for cell in self.cells if self.choices.graph in (None, cell.key["graph"])]
        cells = [cell for cell in cells if self.choices.budget in (None, cell.key["budget"])]
        found, apart = profile.profiles(cells)
        if not found:
            raise UsageError("No method answered a query here, so there is nothing to draw.")
        more = [f"left out: {', '.join(apart)}"] if apart else []
        drawn = profile.draw(found, self.caption(cells, *more), self.marks)
        best = [f"{each.method} {100 * each.share(1):.0f} %" for each in found]
        alt = f"Performance profile. Share of queries on which each method is best: {', '.join(best)}."
        return Drawing("profile", "profile", "Performance profile", alt, drawn)

    def pairs(self) -> Drawing:
        from aacbench.reports.figures import pairs

        graph, (a, b) = self.graph(), self._pair()
        budget = self._budget(graph, a, b)
        found = pairs.pairs(self.cells, graph, budget, a, b)
        if not len(found.dijkstra):
            raise UsageError(f"{a}, {b} and {BASELINE} have no query in common on {graph} at {budget:g} B/v.")
        used = [cell for cell in self.on(graph) if cell.key["label"] in (a, b) and cell.key["budget"] == budget]
        by_rank = (self.contents.plan or {}).get("study", {}).get("queries", {}).get("mode") == STRATA
        title = f"{self.shown(graph)} at {budget:g} B/v"
        drawn = pairs.draw(found, self.caption(used), title, self.marks, by_rank)
        alt = (
            f"Expansions of {a} and {b} on {len(found.dijkstra)} queries of {title}; the median ratio is "
            f"{_median(found.ratio.tolist()):.2f}."
        )
        stem = f"pairs-{stem_of(a)}-{stem_of(b)}-{stem_of(graph)}-{budget:g}"
        return Drawing("pairs", stem, f"{a} and {b}, query by query: {title}", alt, drawn)

    def amortised(self) -> Drawing:
        from aacbench.reports.figures import amortised

        rows = self.times
        if not rows:
            raise UsageError("This study has no times; run it with --time.")
        graph = self.choices.graph or rows[0].graph
        budgets = [row.budget for row in rows if row.graph == graph]
        budget = self.choices.budget if self.choices.budget is not None else min(budgets, default=0)
        here = [row for row in rows if (row.graph, row.budget) == (graph, budget)]
        if not here:
            raise UsageError(f"There are no times on {graph} at {budget:g} B/v.")
        base = [row for row in rows if row.graph == graph and row.method == BASELINE and row not in here]
        found = amortised.costs([*here, *base[:1]])
        timed = [cell for cell in self.on(graph) if TIMINGS_FILE in cell.files and cell.key["budget"] == budget]
        title = f"{self.shown(graph)} at {budget:g} B/v"
        drawn = amortised.draw(found, self.caption(timed), title, self.marks)
        said = [
            f"{each.method} {each.offline:.1f} s offline and {1e6 * each.each:.0f} microseconds a search"
            + (f", cheaper than {BASELINE} from {amortised.rounded(each.breakeven)} searches" if each.breakeven else "")
            for each in found
        ]
        stem = f"amortised-{stem_of(graph)}-{budget:g}"
        return Drawing(
            "amortised", stem, f"Amortised cost: {title}", f"Cost of a build and N searches: {'; '.join(said)}.", drawn
        )

    def traffic(self) -> Drawing:
        from aacbench.reports.figures import traffic

        return traffic.drawing(self)

    def under_traffic(self) -> list[str]:
        """Return a graph under traffic for each graph that has any."""
        first = {without_traffic(name, traffic): name for name, traffic in reversed(self.traffic_by_graph.items())}
        return list(first.values())

    def landmarks(self) -> Drawing:
        from aacbench.reports.figures import maps

        root, graph = self._root(), self.graph()
        label = self.choices.a or self.methods[0]
        cell = self._cell(graph, label)
        where = maps.map_of(cell)
        found = maps.landmarks(root, cell, where)
        title = f"{label} on {self.shown(graph)}"
        drawn = maps.draw_landmarks(found, where, self.caption([cell]), title)
        alt = f"Map of {self.shown(graph)} with the {len(found.chosen)} landmarks of {label}" + (
            f", chosen from a pool of {len(found.pool)}." if len(found.pool) else "."
        )
        return Drawing("landmarks", f"landmarks-{stem_of(label)}-{stem_of(graph)}", f"Landmarks: {title}", alt, drawn)

    def search(self) -> Drawing:
        from aacbench.reports.figures import maps

        root, graph = self._root(), self.graph()
        cells = self._searched_cells(graph)
        where = maps.map_of(cells[0])
        query = self.choices.query if self.choices.query is not None else maps.median_query(cells[0])
        found = [maps.searched(root, cell, where, query) for cell in cells]
        drawn = maps.draw_search(found, where, self.caption(cells, f"test query {query}"), self.marks)
        said = " and ".join(f"{len(one.expanded):,} vertices under {one.method}" for one in found)
        alt = f"Map of {self.shown(graph)}: on test query {query}, A* expands {said}."
        title = f"What A* expands: {self.shown(graph)}, test query {query}"
        return Drawing("search", f"search-{stem_of(graph)}", title, alt, drawn, wide=True)

    def prediction(self) -> Drawing:
        from aacbench.reports.figures import prediction

        graph = self.choices.graph or next(filter(self.learnt, self.graphs), self.graph())
        cell = self._encoder(graph)
        if cell is None:
            raise UsageError(
                f"{graph} is not a map set with predicted costs; a protocol of the kind context has those."
            )
        found = prediction.predicted(cell)
        drawn = prediction.draw(found, self.caption(self.on(graph), f"test map {found.number}"))
        costs = f"{found.true_cost * found.unit:.1f}, the least {found.true_optimum * found.unit:.1f}"
        counts = "Dijkstra expands {} cells, labels of the four corners {}".format(*map(len, found.expanded))
        alt = f"Test map {found.number} of {self.shown(graph)}: its path costs {costs}; corner to corner, {counts}."
        title = f"Costs and paths: {self.shown(graph)}, test map {found.number}"
        return Drawing("prediction", f"prediction-{stem_of(graph)}", title, alt, drawn, wide=True)

    def learnt(self, graph: str) -> bool:
        """Return whether the costs of this graph were predicted by an encoder that learnt something."""
        cell = self._encoder(graph)
        return cell is not None and cell.record["learns_from"] != NOTHING

    def _encoder(self, graph: str) -> Cell | None:
        """Return the first cell of the encoder whose predictions the graph is made of."""
        every = [cell for cell in self.contents.encode_cells() if cell.outcome == "ok"]
        return next((cell for cell in every if f"{cell.key['graph']}/{cell.key['label']}" == graph), None)

    def controls(self) -> Drawing:
        from aacbench.reports.figures import controls

        return controls.drawing(self)

    def drift(self) -> Drawing:
        from aacbench.reports.figures import drift

        return drift.drawing(self)

    def _check(self, what: str, given: str | None, known: Sequence[str]) -> None:
        if given is not None and given not in known:
            raise UsageError(f"No {what} {given!r} in this study. It has: {', '.join(known) or 'none'}.")

    def on(self, graph: str) -> list[Cell]:
        return self._by_graph.get(graph, [])

    def graph(self) -> str:
        if not self.graphs:
            raise UsageError("This study has no rows of test queries yet; run it first.")
        return self.choices.graph or self.graphs[0]

    def _pair(self) -> tuple[str, str]:
        """Return A and B: as chosen, or the second method against the first, or a single one against Dijkstra."""
        b = self.choices.b or next((label for label in self.methods if label != self.choices.a), BASELINE)
        a = self.choices.a or next((label for label in self.methods if label != b), None)
        if a is None or a == b:
            raise UsageError("Two methods are needed to be compared; this study has one.")
        return a, b

    def _searched_cells(self, graph: str) -> list[Cell]:
        """Return a cell of A and one of B; unless chosen, A is the first method that searches otherwise than B."""
        a, b = self._pair()
        other = self._cell(graph, b)
        for label in [a] if self.choices.a else [a, *(label for label in self.methods if label not in (a, b))]:
            with suppress(UsageError):
                cell = self._cell(graph, label)
                if list(cell.queries["expanded"]) != list(other.queries["expanded"]):
                    return [cell, other]
        return [self._cell(graph, a), other]

    def _budget(self, graph: str, *labels: str) -> float:
        of = [{cell.key["budget"] for cell in self.on(graph) if cell.key["label"] == label} for label in labels]
        common = sorted(set.intersection(*of))
        chosen = self.choices.budget
        if chosen is None and common:
            return float(common[0])
        if chosen is None or chosen not in common:
            at = "" if chosen is None else f" at {chosen:g} B/v"
            raise UsageError(f"{' and '.join(labels)} have no cells in common on {graph}{at}.")
        return chosen

    def _cell(self, graph: str, label: str) -> Cell:
        good = [cell for cell in self.on(graph) if cell.key["label"] == label and cell.outcome == "ok"]
        good = [cell for cell in good if self.choices.budget in (None, cell.key["budget"])]
        good = [cell for cell in good if self.choices.seed in (None, cell.key["seed"])]
        if not good:
            raise UsageError(f"No cell of {label} on {graph} is ok at these choices.")
        return good[0]

    def _root(self) -> Path:
        if self.choices.root is None:
            raise UsageError("A map is drawn from the bundles of a study; give its folder as root.")
        return self.choices.root

    def shown(self, graph: str) -> str:
        return graph_names(self.graphs)[graph]

    def caption(self, cells: Sequence[Cell], *more: str) -> str:
        from aacbench.reports.figures.scope import caption_of

        return caption_of(cells, *more)


def _renamed(row: "ForestRow", names: Mapping[str, str]) -> "ForestRow":
    full = next((name for name in names if row.cell.startswith(f"{name} ")), None)
    return row if full is None else replace(row, cell=f"{names[full]}{row.cell[len(full) :]} B/v")


def _left_out(cells: Sequence[Cell], found: "Sequence[Point]") -> list[str]:
    """Return which methods have rows but no point, because their bytes were not measured."""
    good = dict.fromkeys(cell.key["label"] for cell in cells if cell.outcome == "ok" and cell.key["label"] != BASELINE)
    names = [label for label in good if label not in {point.method for point in found}]
    return [f"without measured bytes: {', '.join(names)}"] if names else []


def stem_of(text: str) -> str:
    """Return a name as part of a file's name: letters, digits and hyphens, and no longer than a path allows."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "x"
    if len(stem) <= LONGEST_STEM:
        return stem
    return f"{stem[: LONGEST_STEM - 9]}-{sha256(text.encode()).hexdigest()[:8]}"  # names that begin alike stay apart


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
