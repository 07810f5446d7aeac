"""The tables of a study on maps: path quality by encoder, and what labels cost and save by method."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.contract.encoder import NOTHING
from aacbench.graphs.record import Array
from aacbench.maps.names import PAPER
from aacbench.reports import map_methods, statements
from aacbench.reports.formatting import aligned, marked, optional, with_spread, without_markup
from aacbench.reports.map_methods import method_rows, of_split, optimal_share, regrets
from aacbench.run.matched import Side
from aacbench.run.predicted import MAP_COLUMNS, MAPS_FILE
from aacbench.run.records import OUTCOMES
from aacbench.run.rows import read_table
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents
from aacbench.stats import CROSSED_2, Effect, effect_of_rows, estimand
from aacbench.stats.effects import OK

ENCODER_TEXT = ("maps", "encoder", "learns from", "outcome")
PAIR_TEXT = ("maps", "A", "B", "95 % interval", "note")
PAIR_NOTE = (
    "Encoders paired on test maps, with the profile crossed/2: below 0, A has less regret, as a ratio of summed costs."
)
ENCODER_NOTE = (
    "Path from corner to corner of each test map, of least predicted cost. optimal: its true cost is the least (95 %: "
    "Wilson's interval over maps); regret: its true cost above the least, mean over maps; of sums: that of all maps "
    "together; within 1, 5, 10: at most so much above; worst: the largest regret; match, jaccard: its cells against "
    "the label's."
)


@dataclass(frozen=True, slots=True)
class Part:
    """A table with its title, which of its columns are text, and what it means."""

    title: str
    rows: Sequence[Mapping[str, str]]
    text: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EncoderRow:
    """An encoder on a map set, over its seeds; shares are percentages, and each is a mean over seeds."""

    maps: str
    encoder: str
    oracle: bool
    learns_from: str
    seeds: int
    optimal: float | None
    optimal_sd: float | None
    optimal_span: tuple[float, float] | None
    regret: float | None
    regret_sd: float | None
    summed_regret: float | None
    within_1: float | None
    within_5: float | None
    within_10: float | None
    worst: float | None
    match: float | None
    jaccard: float | None
    model_bytes: int | None
    train_seconds: float | None
    outcome: str
    reason: str

    def cells(self) -> dict[str, str]:
        return {
            "maps": self.maps,
            "encoder": marked(self.encoder, self.oracle),
            "learns from": self.learns_from,
            "seeds": str(self.seeds),
            "optimal %": with_spread(self.optimal, self.optimal_sd),
            "optimal, 95 %": f"{self.optimal_span[0]:.1f} to {self.optimal_span[1]:.1f}" if self.optimal_span else "",
            "regret %": with_spread(self.regret, self.regret_sd),
            "of sums %": optional(self.summed_regret, ".2f"),
            "within 1 %": optional(self.within_1, ".1f"),
            "within 5 %": optional(self.within_5, ".1f"),
            "within 10 %": optional(self.within_10, ".1f"),
            "worst %": optional(self.worst, ".1f"),
            "match %": optional(self.match, ".1f"),
            "jaccard": optional(self.jaccard, ".3f"),
            "model bytes": "" if self.model_bytes is None else f"{self.model_bytes:,}",
            "train s": optional(self.train_seconds, ".1f"),
            "outcome": "" if self.outcome == "ok" else self.outcome,
        }


@dataclass(frozen=True, slots=True)
class EncoderPair:
    """Two encoders on the same test maps: the difference of their regrets, in percentage points of the least cost."""

    maps: str
    a: str
    b: str
    difference: Effect

    def cells(self) -> dict[str, str]:
        found = self.difference
        sign = -1  # a reduction of costs is less regret
        span = (
            "" if found.interval95 is None else " to ".join(f"{sign * end:.2f}" for end in reversed(found.interval95))
        )
        return {
            "maps": self.maps,
            "A": self.a,
            "B": self.b,
            "regret A - B, points": "" if found.estimate is None else f"{sign * found.estimate + 0.0:.2f}",
            "95 % interval": span,
            "p": optional(found.p_difference, ".2g"),
            "note": found.status if found.status != OK else "",
        }


def encoder_rows(cells: Iterable[Cell]) -> list[EncoderRow]:
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.key["graph"], cell.key["label"]), []).append(cell)
    return [_encoder_row(*key, group) for key, group in groups.items()]


def encoder_pairs(cells: Iterable[Cell]) -> list[EncoderPair]:
    """Compare each encoder with the first that has learnt something, map by map."""
    groups: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        if cell.outcome == "ok":
            groups.setdefault(cell.key["graph"], {}).setdefault(cell.key["label"], []).append(cell)
    pairs = []
    for maps, encoders in groups.items():
        learnt = [label for label, group in encoders.items() if group[0].record["learns_from"] != NOTHING]
        if learnt:
            others = [label for label in encoders if label != learnt[0]]
            pairs += [_pair(maps, learnt[0], other, encoders) for other in others]
    return pairs


def _pair(maps: str, a: str, b: str, encoders: Mapping[str, list[Cell]]) -> EncoderPair:
    one, other = (Side(label, maps, 0.0, tuple(encoders[label])) for label in (a, b))
    unit = estimand("reduction_of_means_pp")
    found = effect_of_rows(one.path_costs(), other.path_costs(), CROSSED_2, unit, one.least_costs())
    return EncoderPair(maps, a, b, found)


def wilson(right: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's formula."""
    z = 1.959963984540054
    centre, spread = right + z * z / (2 * count), z * np.sqrt(right * (1 - right) / count + z * z / (4 * count * count))
    return (centre - spread) / (1 + z * z / count), (centre + spread) / (1 + z * z / count)


def parts(contents: StudyContents) -> list[Part]:
    """Return the tables of a study on maps; none where a study has no encoders."""
    alphas = statements.alphas_of(contents.plan)
    cells = contents.encode_cells()
    scales = statements.safe_scales(cells, max(alphas)) if alphas else {}
    encoders, methods = encoder_rows(cells), method_rows(contents.planned_cells(), scales)
    said = statements.statement_rows(cells, alphas)
    found = [
        Part("Encoders", _cells(encoders), ENCODER_TEXT, (ENCODER_NOTE, *_reasons(encoders))),
        Part("Encoders compared", _cells(encoder_pairs(cells)), PAIR_TEXT, (PAIR_NOTE,)),
        Part("Statements about true costs", _cells(said), statements.TEXT, (statements.NOTE,)),
        Part("Methods on predicted maps", _cells(methods), map_methods.TEXT, (map_methods.NOTE,)),
        Part("Bounds on maps", [row.bounds() for row in methods], map_methods.TEXT, (map_methods.BOUNDS_NOTE,)),
        *_beside_paper([cell for cell in cells if cell.record.get("edges") == PAPER]),
    ]
    return [part for part in found if part.rows]


def _beside_paper(cells: Sequence[Cell]) -> list[Part]:
    if not cells:
        return []
    from aacbench.reports import beside_paper  # searches again, which needs the compiler

    smooth = beside_paper.smooth_rows(cells)
    return [
        Part("Beside the paper", beside_paper.rows(cells), beside_paper.TEXT, (beside_paper.NOTE,)),
        Part("Smooth distances", smooth, beside_paper.SMOOTH_TEXT, (beside_paper.SMOOTH_NOTE,)),
    ]


def places(contents: StudyContents) -> str:
    """Return what methods were searched on, which is the maps as encoders predict them; nothing for other studies."""
    keys = [cell.key for cell in contents.encode_cells() if cell.outcome == "ok"]
    maps, encoders = ({key[name] for key in keys} for name in ("graph", "label"))
    if not keys:
        return ""
    who = "one encoder predicts" if len(encoders) == 1 else f"{len(encoders)} encoders predict"
    return f"{maps.pop()} as {who} it" if len(maps) == 1 else f"{len(maps)} map sets as {who} them"


def lead(contents: StudyContents) -> str:
    """Return which encoder has the least regret on each map set, in a sentence; nothing for other studies."""
    rows = [row for row in encoder_rows(contents.encode_cells()) if row.regret is not None]
    oracle = " besides the true costs" if any(row.oracle for row in rows) else ""
    told = []
    for maps in dict.fromkeys(row.maps for row in rows if not row.oracle):
        here = [row for row in rows if row.maps == maps and not row.oracle]
        best = min(here, key=lambda row: row.regret or 0.0)
        share = f"regret {best.regret:.2f} %, optimal on {best.optimal:.1f} % of the test maps"
        alone = f"On {maps}, the paths of {best.encoder} have {share}."
        among = f"Of {len(here)} encoders{oracle} on {maps}, {best.encoder} has the least true cost: {share}."
        told.append(alone if len(here) == 1 else among)
    return " ".join(told)


def tables(contents: StudyContents) -> list[str]:
    """Return the tables as Markdown, each with its notes."""
    return [
        without_markup(text)
        for part in parts(contents)
        for text in (f"{part.title}:", aligned(part.rows, part.text), *part.notes)
    ]


def _cells(rows: Iterable[Any]) -> list[dict[str, str]]:
    return [row.cells() for row in rows]


def map_columns(cell: Cell) -> Mapping[str, Array]:
    """The columns of an encoder's `maps.csv`."""
    return read_table(MAP_COLUMNS, cell.files[MAPS_FILE], MAPS_FILE)


def _encoder_row(maps: str, label: str, group: list[Cell]) -> EncoderRow:
    good = [cell for cell in group if cell.outcome == "ok"]
    worst = max(group, key=lambda cell: OUTCOMES.index(cell.outcome))
    tables = [of_split(map_columns(cell)) for cell in good]

    def over_seeds(share: Callable[[Mapping[str, Array]], float]) -> tuple[float | None, float | None]:
        values = [100 * share(table) for table in tables]
        values = [value for value in values if np.isfinite(value)]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return (float(np.mean(values)), spread) if values else (None, None)

    optimal, regret = over_seeds(optimal_share), over_seeds(lambda table: float(regrets(table).mean()))
    labelled = [table for table in tables if (table["match"] >= 0).all()]
    return EncoderRow(
        maps=maps,
        encoder=label,
        oracle=any(cell.claims.get("oracle", False) for cell in group),
        learns_from=good[0].record["learns_from"] if good else "",
        seeds=len(group),
        optimal=optimal[0],
        optimal_sd=optimal[1],
        optimal_span=None if optimal[0] is None else _span(optimal[0], len(tables[0]["map"])),
        regret=regret[0],
        regret_sd=regret[1],
        summed_regret=over_seeds(lambda table: float(table["true_cost"].sum() / table["true_optimum"].sum() - 1))[0],
        within_1=over_seeds(lambda table: _within(table, 1))[0],
        within_5=over_seeds(lambda table: _within(table, 5))[0],
        within_10=over_seeds(lambda table: _within(table, 10))[0],
        worst=max((100 * float(regrets(table).max()) for table in tables), default=None),
        match=over_seeds(lambda table: float(table["match"].mean()))[0] if labelled else None,
        jaccard=float(np.mean([table["jaccard"].mean() for table in labelled])) if labelled else None,
        model_bytes=good[0].record["bytes"]["total"] if good else None,
        train_seconds=float(np.mean([cell.record["build"]["seconds"] for cell in good])) if good else None,
        outcome=worst.outcome,
        reason=worst.record.get("reason", ""),
    )


def _within(table: Mapping[str, Array], percent: int) -> float:
    """Return the share of maps whose path costs at most so much more than the least; whole numbers are compared."""
    return float((100 * table["true_cost"] <= (100 + percent) * table["true_optimum"]).mean())


def _span(percent: float, maps: int) -> tuple[float, float]:
    low, high = wilson(percent / 100, maps)
    return 100 * low, 100 * high


def _reasons(rows: Iterable[EncoderRow]) -> list[str]:
    return [f"{row.outcome}: {row.encoder} on {row.maps}: {row.reason}" for row in rows if row.outcome != "ok"]
