"""The statistics of a study: two methods paired on each graph at matched memory, tested as a profile says."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aacbench.errors import UsageError
from aacbench.reports.formatting import ORACLE, study_notes
from aacbench.run.matched import Side, partner, sides, with_memory
from aacbench.run.records import BASELINE
from aacbench.run.store import Cell, read_counts, read_totals
from aacbench.run.study import StudyContents
from aacbench.stats import (
    CROSSED_2,
    Effect,
    Estimand,
    ForestRow,
    Paired,
    Profile,
    QueryTests,
    adjust,
    effect,
    forest_rows,
    pair,
    query_tests,
)
from aacbench.stats.estimands import estimand as estimand_of
from aacbench.stats.profiles import profile as profile_of
from aacbench.stats.profiles import ratio_allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A against B on one graph at one budget; adjusted p-values are by correction, over all cells of the table."""

    graph: str
    budget_a: float
    budget_b: float
    bytes_a: float | None
    bytes_b: float | None
    effect: Effect
    companion: Effect | None
    tests: QueryTests | None
    unpaired_seeds: tuple[int, ...]
    ratio_allowed: float | None  # the ratio of expansions A/B that a margin in percentage points allows
    same_search: bool
    work_a: float | None  # mean h_work over test queries; it is not tested
    work_b: float | None
    total_ratio: float | None  # of expansions and h_work together, A/B; None if neither has any h_work
    family_p: float | None
    adjusted: Mapping[str, float | None]
    adjusted_tost: Mapping[str, float | None]

    @property
    def name(self) -> str:
        return f"{self.graph} {self.budget_a:g}"

    @property
    def place(self) -> str:
        return f"{self.graph} at {self.budget_a:g} B/v"


@dataclass(frozen=True, slots=True)
class Table:
    """All comparisons of two methods in a study, why others cannot be made, and the outcomes of their cells."""

    a: str
    b: str
    profile: Profile
    estimand: Estimand
    cells: tuple[Analysis, ...]
    unpaired: tuple[str, ...]
    failures: tuple[str, ...]
    outcomes: tuple[str, ...]
    graphs: tuple[str, ...]
    warnings: tuple[str, ...]

    def forest(self) -> list[ForestRow]:
        return forest_rows((cell.name, cell.effect) for cell in self.cells)


def analyse(
    study: StudyContents,
    a: str | None,
    b: str | None,
    profile_label: str | None,
    estimand_name: str | None,
    *,
    light: bool = False,
) -> Table:
    """Test A against B; by default with the study's profile, and its two methods if it has exactly two.

    `light` leaves out what no table shows and takes most of the time: bootstraps beside intervals by formula, and
    tests over queries where the family consists of differences.
    """
    profile = profile_of(profile_label or (study.plan or {}).get("study", {}).get("analysis", CROSSED_2.label))
    estimand = estimand_of(estimand_name or profile.estimand)
    if estimand.of_encoders:
        raise UsageError(f"{estimand.name} compares encoders, which `aacbench report` does; methods have expansions.")
    reported = study.reported_cells()
    a, b = _methods(reported, a, b)
    sides_a, sides_b, sides_base = (sides(reported, label) for label in (a, b, BASELINE))
    every = [cell for side in (*sides_a, *sides_b, *sides_base) for cell in side.cells]
    read_counts(every)
    read_totals(every)
    dijkstra = {side.graph: side.base() for side in sides_base if side.good}
    analyses, unpaired = [], []
    for one in sides_a:
        other, reason = partner(one, sides_b, profile)
        if other is None:
            unpaired.append(f"{one.graph} with a budget of {one.budget:g} B/v: {reason}")
        else:
            analyses.append(_analysis(one, other, dijkstra.get(one.graph), profile, estimand, light))
    needed = [side for side in sides_base if estimand.needs_base and side.graph in {one.graph for one in sides_a}]
    cells = [cell for side in [*sides_a, *sides_b, *needed] for cell in side.cells]
    oracles = dict.fromkeys(cell.key["label"] for cell in cells if cell.claims.get("oracle"))
    return Table(
        a=a,
        b=b,
        profile=profile,
        estimand=estimand,
        cells=tuple(_corrected(analyses, profile)),
        unpaired=tuple(unpaired),
        failures=tuple(dict.fromkeys(_failure(cell) for cell in cells if cell.outcome not in ("ok", "unsupported"))),
        outcomes=tuple(cell.outcome for cell in cells),
        graphs=tuple(dict.fromkeys(cell.key["graph"] for cell in cells)),
        warnings=(*study_notes(study.plan), *_units(cells), *(f"{label} {ORACLE}" for label in oracles)),
    )


def _units(cells: Sequence[Cell]) -> list[str]:
    on_maps = any("context" in cell.record for cell in cells)
    return ["A query here is a map: the expansions of all its random queries together."] if on_maps else []


def _methods(cells: Sequence[Cell], a: str | None, b: str | None) -> tuple[str, str]:
    labels = list(dict.fromkeys(cell.key["label"] for cell in cells))
    known = ", ".join(labels) or "none"
    for label in (a, b):
        if label is not None and label not in labels:
            raise UsageError(f"No method {label!r} with test rows in this study. Its methods are: {known}.")
    if a is not None and b is not None:
        return a, b
    others = [label for label in labels if label != BASELINE]
    if a is None and b is None and len(others) == 2:
        return others[0], others[1]
    raise UsageError(f"Choose two methods with --a and --b. The methods of this study are: {known}.")


def _analysis(
    one: Side,
    other: Side,
    dijkstra: Mapping[Hashable, int | None] | None,
    profile: Profile,
    estimand: Estimand,
    light: bool,
) -> Analysis:
    paired = pair(one.rows(), other.rows(), dijkstra)
    tests = None if light and profile.family_of == "difference" else query_tests(paired, profile)
    found = with_memory(effect(paired, profile, estimand, bootstrap=not light), one, other, profile)
    companion = estimand_of(profile.companion) if profile.companion and profile.companion != estimand.name else None
    work_a, work_b = one.mean("h_work"), other.mean("h_work")
    return Analysis(
        graph=one.graph,
        budget_a=one.budget if one.label != BASELINE else other.budget,
        budget_b=other.budget if other.label != BASELINE else one.budget,
        bytes_a=one.bytes,
        bytes_b=other.bytes,
        effect=found,
        companion=effect(paired, profile, companion, bootstrap=not light) if companion else None,
        tests=tests,
        unpaired_seeds=paired.unpaired_seeds,
        ratio_allowed=_allowed(paired, found),
        same_search=len({cell.key.get("policy") for cell in [*one.good, *other.good]}) == 1,
        work_a=work_a,
        work_b=work_b,
        total_ratio=_ratio_of_totals(one, other) if work_a or work_b else None,
        family_p=_family_p(found, tests, profile),
        adjusted={},
        adjusted_tost={},
    )


def _family_p(found: Effect, tests: QueryTests | None, profile: Profile) -> float | None:
    if profile.family_of == "difference":
        return found.p_difference
    return tests.p_of(profile.family_of) if tests else None


def _allowed(paired: Paired, found: Effect) -> float | None:
    if found.unit != "percentage points" or found.margin is None or paired.base is None or found.estimate is None:
        return None
    return ratio_allowed(found.margin[1], float(100 * (1 - paired.b.mean() / paired.base.mean())))


def _ratio_of_totals(one: Side, other: Side) -> float | None:
    a, b = ((side.mean("expanded") or 0) + (side.mean("h_work") or 0) for side in (one, other))
    return a / b if b else None


def _corrected(cells: Sequence[Analysis], profile: Profile) -> Iterator[Analysis]:
    """Adjust p-values over the table; differences and equivalences are separate families."""
    names = (profile.correction, *profile.further_corrections)
    differences = {name: adjust(name, [cell.family_p for cell in cells]) for name in names}
    equivalences = {name: adjust(name, [cell.effect.p_tost for cell in cells]) for name in names}
    for at, cell in enumerate(cells):
        yield replace(
            cell,
            adjusted={name: ps[at] for name, ps in differences.items()},
            adjusted_tost={name: ps[at] for name, ps in equivalences.items()},
        )


def _failure(cell: Cell) -> str:
    key = cell.key
    reason = cell.record.get("reason") or "no reason given"
    return f"{key['label']} on {key['graph']} at {key['budget']:g} B/v, seed {key['seed']}, is {cell.outcome}: {reason}"
