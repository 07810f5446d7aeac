"""The columns of the paper, computed from replayed studies: what a printed value should be compared with."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aacbench.contract.budget import PAPER
from aacbench.errors import AacbenchError
from aacbench.protocols.paper import Exhibit, Printed
from aacbench.reports import latency
from aacbench.reports.paper import toy
from aacbench.reports.paper.studies import ReplayedStudy, Sample, expanded, samples, setting
from aacbench.run.records import BASELINE, TEST, VALIDATION

if TYPE_CHECKING:
    from aacbench.reports.statistics import Analysis

LESSER = "lesser-of-two"
PROFILE = "paper/1"
BY_ONE_LESS = ("sd-seeds-n-1", "sd-seeds-and-queries")  # spreads with divisor n-1; the others have n
MILLISECOND = 1000  # microseconds


@dataclass(frozen=True, slots=True)
class Found:
    """What a replay has in place of a printed value: a number with its spread over seeds, a text, a flag or a set."""

    value: Any
    spread: float | None = None
    seeds: int = 0
    wrong: int = 0  # cells among them with paths that are too long


@dataclass(frozen=True, slots=True)
class Place:
    """A printed value with the studies that may hold its rows."""

    exhibit: Exhibit
    printed: Printed
    studies: Sequence[ReplayedStudy]

    @property
    def split(self) -> str:
        return str(self.printed.row.get("split", TEST))

    @property
    def budget(self) -> Any:
        """The row's budget, or the only one of the exhibit."""
        budgets = self.exhibit.facts.get("budgets", [])
        return self.printed.row.get("budget_bytes", budgets[0] if len(budgets) == 1 else None)

    @property
    def ddof(self) -> int:
        return 1 if self.exhibit.facts.get("plus_minus") in BY_ONE_LESS else 0

    def samples(self, **changes: Any) -> list[Sample]:
        """Return the cells of the row, or of a row with these names changed; None takes a name out."""
        row = {**self.printed.row, **changes}
        return samples(self.studies, {key: value for key, value in row.items() if value is not None})


def replayed(exhibit: Exhibit, printed: Printed, studies: Sequence[ReplayedStudy]) -> Found | None:
    """Return the replayed value, or None where nothing was replayed or the column is not one that can be."""
    compute = COLUMNS.get(printed.column)
    return compute(Place(exhibit, printed, studies)) if compute else None


def over_seeds(values: Sequence[float | None], wrong: int = 0, ddof: int = 0) -> Found | None:
    """Return the mean over seeds and their spread; most of the paper's spreads have divisor n."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Found(float(np.mean(known)), float(np.std(known, ddof=ddof)) if len(known) > 1 else None, len(known), wrong)


def _wrong(found: Sequence[Sample]) -> int:
    return sum(sample.cell.outcome == "wrong" for sample in found)


def _reduction(place: Place) -> Found | None:
    if place.printed.row.get("method") == LESSER:
        return _lesser_of_two(place)
    found = place.samples()
    return over_seeds([sample.reduction(place.split) for sample in found], _wrong(found), place.ddof)


def _lesser_of_two(place: Place) -> Found | None:
    """Of AAC and ALT take, query by query, the search that expanded less; no single search does so."""
    aac, alt = place.samples(method="aac"), place.samples(method="alt")
    values = []
    for one in aac:
        base = one.study.base(TEST)
        other = next((sample for sample in alt if sample.study is one.study), None)
        if base and other:
            lesser = np.minimum(expanded(one.cell), expanded(other.cell))
            values.append(100 * (1 - float(lesser.mean()) / base))
    return over_seeds(values)


def _expansions(place: Place) -> Found | None:
    if place.printed.row.get("method") == BASELINE:
        bases = [study.base(place.split) for study in place.studies if study.replay.graph == place.printed.row["graph"]]
        return over_seeds(bases[:1])
    return over_seeds([sample.expansions(place.split) for sample in place.samples()])


def _gap_to_ceiling(place: Place) -> Found | None:
    own = over_seeds([sample.reduction(TEST) for sample in place.samples()])
    forced = over_seeds([sample.reduction(TEST) for sample in place.samples(method="forced-first-m")])
    return Found(own.value - forced.value, seeds=own.seeds) if own and forced else None


def _validation_minus_test(place: Place) -> Found | None:
    found = place.samples(split=TEST)
    both = [(sample.reduction(VALIDATION), sample.reduction(TEST)) for sample in found]
    return over_seeds([one - other for one, other in both if one is not None and other is not None])


def _picks(place: Place) -> Found | None:
    chosen = {sample.cell.key["params"]["K0"] for sample in place.samples(split=TEST)}
    return Found(tuple(sorted(chosen))) if chosen else None


def _observed_gap(place: Place) -> Found | None:
    own = over_seeds([sample.reduction(TEST) for sample in place.samples()])
    other = over_seeds([sample.reduction(TEST) for sample in place.samples(method="alt")])
    return Found(own.value - other.value, own.spread, own.seeds) if own and other else None


def _violations(place: Place) -> Found | None:
    counts = [sample.cell.record["audit"]["violations"]["admissible"] for sample in place.samples()]
    return Found(sum(counts), seeds=len(counts)) if counts else None


def _admissible(place: Place) -> Found | None:
    counted = _violations(place)
    return Found(counted.value == 0, seeds=counted.seeds) if counted else None


def _vertices(place: Place) -> Found | None:
    graph = place.printed.row.get("graph")
    sizes = (study.vertices for study in place.studies if study.replay.graph == graph)
    return next((Found(size) for size in sizes if size is not None), None)


def _fact(name: str) -> Callable[[Place], Found | None]:
    """Return a column of what builds report of themselves; cells of an older aacbench may not have it."""

    def compute(place: Place) -> Found | None:
        return over_seeds([sample.cell.record["build"].get("facts", {}).get(name) for sample in place.samples()])

    return compute


def _setting(name: str) -> Callable[[Place], Found | None]:
    def compute(place: Place) -> Found | None:
        found = {setting(sample.cell.key["params"], name) for sample in place.samples()}
        return Found(found.pop()) if len(found) == 1 else None

    return compute


def _time(name: str) -> Callable[[Place], Found | None]:
    def compute(place: Place) -> Found | None:
        found = latency.latencies(sample.cell for sample in place.samples())
        return Found(getattr(found[0], name) / MILLISECOND, seeds=1) if found else None

    return compute


def _offline(place: Place) -> Found | None:
    builds = [sample.cell.record["build"] for sample in place.samples()]
    return over_seeds([build["seconds"] + build["pool_seconds"] for build in builds])


def _nominal_bytes(place: Place) -> Found | None:
    return over_seeds([sample.cell.record["bytes"]["nominal_per_vertex"] for sample in place.samples()])


def _breakeven(place: Place) -> Found | None:
    """How many queries until AAC has won back its preprocessing; a text where it never does."""
    costs = []
    for method in ("aac", "alt"):
        found = place.samples(method=method)
        times = latency.latencies(sample.cell for sample in found)
        if not times:
            return None
        offline = found[0].cell.record["build"]
        costs.append((offline["seconds"] + offline["pool_seconds"], times[0].p50 / 1e6))
    (offline_a, p50_a), (offline_b, p50_b) = costs
    if p50_b <= p50_a:
        return Found("never")
    return Found((offline_a - offline_b) / (p50_b - p50_a))


def _analysis(place: Place) -> "Analysis | None":
    """Return the paper's tests of AAC against ALT in the study that has the row."""
    from aacbench.reports import statistics  # imports scipy

    own = place.samples(method="aac", budget_bytes=place.budget)
    other = place.samples(method="alt", budget_bytes=place.budget)
    if not own or not other:
        return None
    study, labels = own[0].study, (own[0].cell.key["label"], other[0].cell.key["label"])
    try:
        table = statistics.analyse(study.contents, *labels, PROFILE, None)
    except AacbenchError:
        return None
    return next((cell for cell in table.cells if cell.budget_a == place.budget), None)


def _equivalence(place: Place) -> Found | None:
    found = _analysis(place)
    if found is None or found.effect.p_tost is None:
        return None
    return Found("accepted" if found.effect.p_tost < 0.05 else "rejected", seeds=found.effect.seeds)


def _lower_p(place: Place) -> Found | None:
    found = _analysis(place)
    return Found(found.effect.p_lower) if found and found.effect.p_lower is not None else None


def _combined_p(name: str) -> Callable[[Place], Found | None]:
    def compute(place: Place) -> Found | None:
        found = _analysis(place)
        p = found.tests.p_of(name) if found and found.tests else None
        return None if p is None else Found(p)

    return compute


def _median_p(place: Place) -> Found | None:
    found = _analysis(place)
    return Found(float(np.median([test.p for test in found.tests.per_seed]))) if found and found.tests else None


def _discovery(place: Place) -> Found | None:
    """Whether the difference is significant after correction, over the graph's own budgets."""
    found = _analysis(place)
    p = found.adjusted.get("bh") if found else None
    return None if p is None else Found(bool(p <= float(place.printed.beside.get("q", 0.05))))


def _toy(place: Place) -> Found | None:
    variant = place.printed.row.get("variant", "")
    landmarks = [int(number) for number in re.findall(r"\d+", variant)]
    return Found(toy.column(place.printed.column, (landmarks[0], landmarks[1]))) if len(landmarks) == 2 else None


def _toy_queries(place: Place) -> Found | None:
    return Found(len(toy.gaps((0, 6)))) if place.printed.row.get("graph") == "p7" else None


def _toy_pairs(_: Place) -> Found:
    return Found(len(toy.pairs()))


def _charged(per_landmark: bool) -> Callable[[Place], Found | None]:
    def compute(place: Place) -> Found | None:
        doubled = per_landmark and place.printed.row.get("direction") == "directed"
        return Found((PAPER.value_bytes or 0) * (2 if doubled else 1))

    return compute


COLUMNS: Mapping[str, Callable[[Place], Found | None]] = {
    "reduction_percent": _reduction,
    "mean_expansions": _expansions,
    "gap_to_ceiling_pp": _gap_to_ceiling,
    "validation_minus_test_pp": _validation_minus_test,
    "observed_gap_pp": _observed_gap,
    "K0_picks": _picks,
    "violations": _violations,
    "admissible": _admissible,
    "nodes": _vertices,
    "pool": _setting("K0"),
    "labels": _setting("m"),
    "p50_ms": _time("p50"),
    "p95_ms": _time("p95"),
    "offline_s": _offline,
    "preprocessing_s": _offline,
    "online_bytes": _nominal_bytes,
    "breakeven_queries": _breakeven,
    "tost": _equivalence,
    "tost_p_lower": _lower_p,
    "p_fisher": _combined_p("fisher"),
    "p_stouffer_absz": _combined_p("stouffer-absz"),
    "p_median_seed": _median_p,
    "fdr_significant": _discovery,
    "covering_radius": _toy,
    "mean_gap": _toy,
    "failing_queries": _toy,
    "failing_gap": _toy,
    "queries": _toy_queries,
    "pairs_of_landmarks": _toy_pairs,
    "forward_labels": _fact("forward_labels"),
    "backward_labels": _fact("backward_labels"),
    "distinct_landmarks": _fact("distinct_landmarks"),
    "landmarks_in_both_directions": _fact("both_directions"),
    "bytes_per_label": _charged(per_landmark=False),
    "bytes_per_landmark": _charged(per_landmark=True),
}

# Columns that no replay fills, and why.
NOT_REPLAYED = {
    "latency_ms": "a time on another machine; tab:latency has the ratios",
    "p_wilcoxon": "what was tested against what is not said",
    "predicted_gap_pp": "a prediction, not a measurement",
    "lead_over_aac_pp": "follows from tab:matched-hybrid; `aacbench paper claims` checks it",
    "verdict": "aacbench prereg verify ogbn-arxiv judges it by the published record",
}
NOT_MEASURED = "states how something was made or drawn; nothing to measure"
