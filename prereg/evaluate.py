"""Judge each prediction from rows, or from published observations; no result is ever typed in."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.prereg import verdicts
from aacbench.prereg.lock import Lock
from aacbench.prereg.predictions import (
    COUNTED,
    VIOLATIONS,
    Band,
    Count,
    Equivalence,
    Ordering,
    Place,
    Prediction,
    from_record,
    methods_of,
)
from aacbench.prereg.schema import Published, Registration
from aacbench.prereg.verdicts import Verdicts
from aacbench.run.layout import QUERIES_FILE
from aacbench.run.matched import Side, partner, sides, with_memory
from aacbench.run.records import BASELINE, TEST
from aacbench.run.store import Cell
from aacbench.stats import (
    Effect,
    ForestRow,
    Profile,
    adjust,
    effect_of_observations,
    effect_of_rows,
    estimand,
    forest_rows,
)

WORDS = {"admissible": "admissibility", "consistent": "consistency"}
PROMISED_BY = {"admissible": "admissible", "consistent": "consistent", "optimal": "admissible"}  # kinds of violations


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judged prediction: `effects` by contrast, and `others` under estimands that decide nothing."""

    prediction: Prediction
    verdicts: Verdicts
    effects: Mapping[str, Effect]
    others: Mapping[str, Effect]
    count: int | None = None
    not_counted: Mapping[str, Sequence[str]] = field(default_factory=dict)  # methods by what they do not claim
    reason: str = ""
    adjusted: Mapping[str, float | None] | None = None  # by family

    @property
    def verdict(self) -> str:
        """The verdict of the rule that was locked."""
        return self.verdicts.of(self.prediction.rule)

    @property
    def band(self) -> tuple[float, float] | None:
        return (self.prediction.low, self.prediction.high) if isinstance(self.prediction, Band | Equivalence) else None


class MissingError(Exception):
    """A contrast or count that cannot be computed, with the reason."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The reported cells of a study; verdicts are of the test queries."""

    cells: Sequence[Cell]
    split: str = TEST

    def effect(self, place: Place, a: str, b: str, profile: Profile, unit: str) -> Effect:
        """The effect of A against B: of methods at matched memory, of encoders on the paths they lead to."""
        if estimand(unit).of_encoders:
            first, second = (self._side(place, label) for label in (a, b))
            return effect_of_rows(first.path_costs(), second.path_costs(), profile, estimand(unit), first.least_costs())
        one = self._side(place, a)
        other, reason = partner(one, sides(self.cells, b), profile)
        if other is None:
            raise MissingError(reason)
        base = [side for side in sides(self.cells, BASELINE) if side.graph == place.graph and side.good]
        dijkstra = base[0].base(self.split) if base else None
        found = effect_of_rows(one.rows(self.split), other.rows(self.split), profile, estimand(unit), dijkstra)
        return with_memory(found, one, other, profile)

    def violations(self, of: str, labels: Sequence[str], place: Place | None) -> int:
        """The violations that the audits counted, or those visible in the rows if these are more."""
        answered = self._answered(labels, place)
        if not answered:
            raise MissingError("there is no cell to count violations in")
        for cell in answered:
            if not _audited(cell):
                raise MissingError(f"{cell.key['label']} on {cell.key['graph']} was not audited")
        return sum(_violations(cell, of) for cell in answered)

    def not_counted(self, of: str, labels: Sequence[str], place: Place | None) -> dict[str, list[str]]:
        """The methods with violations left out because they do not make the claim, by the word for the claim."""
        found: dict[str, list[str]] = {}
        for cell in self._answered(labels, place):
            for claim in _unclaimed(cell, of):
                listed = found.setdefault(WORDS[claim], [])
                listed += [cell.key["label"]] if cell.key["label"] not in listed else []
        return found

    def _answered(self, labels: Sequence[str], place: Place | None) -> list[Cell]:
        found = [cell for cell in self.cells if not labels or cell.key["label"] in labels]
        if place is not None:
            found = [cell for cell in found if (cell.key["graph"], cell.key["budget"]) == (place.graph, place.budget)]
        return [cell for cell in found if cell.is_reported and cell.outcome in ("ok", "wrong")]

    def has(self, place: Place, label: str) -> bool:
        """Whether a cell of the method is ok there."""
        return next(self._sides(place, label), None) is not None

    def _side(self, place: Place, label: str) -> Side:
        for side in self._sides(place, label):
            return side
        raise MissingError(f"there is no cell of {label} with outcome ok on {place}")

    def _sides(self, place: Place, label: str) -> Iterator[Side]:
        for side in sides(self.cells, label):
            if side.graph == place.graph and side.good and (side.budget == place.budget or label == BASELINE):
                yield side


@dataclass(frozen=True, slots=True)
class Observations:
    """Published values instead of rows."""

    published: Published

    def effect(self, place: Place, a: str, b: str, profile: Profile, unit: str) -> Effect:
        if (unit == "reduction_of_means_pp") != (self.published.unit == "reduction-percent"):
            raise MissingError(f"{unit} cannot be computed from published values in {self.published.unit}")
        return effect_of_observations(self._values(place, a), self._values(place, b), profile, estimand(unit))

    def violations(self, of: str, labels: Sequence[str], place: Place | None) -> int:
        if self.published.violations is None or of != VIOLATIONS:
            raise MissingError(f"no count of {of} was published")
        return self.published.violations

    def not_counted(self, of: str, labels: Sequence[str], place: Place | None) -> dict[str, list[str]]:
        return {}  # a publication does not say

    def _values(self, place: Place, label: str) -> npt.NDArray[np.float64]:
        found = self.published.of(place.graph, place.budget, label)
        if found is None:
            raise MissingError(f"no values were published for {label} on {place}")
        return np.asarray(found, dtype=float)


Source = Rows | Observations


def judge_as_locked(lock: Lock, registration: Registration, source: Source) -> list[Judged]:
    """Judge the predictions of an older lock, by its own profile, on the present rows."""
    locked = lock.registration
    chosen = "{name}/{version}".format(**locked["analysis"]["profile"])
    then = replace(registration, study=replace(registration.study, analysis=chosen), sensitivity=())
    return [_judged(from_record(one), then, source) for one in locked["prediction"]]


def judge_all(registration: Registration, source: Source) -> list[Judged]:
    judged = [_judged(one, registration, source) for one in registration.predictions]
    adjusted: dict[str, dict[str, float | None]] = {one.prediction.id: {} for one in judged}
    for name, members in registration.families.items():
        inside = [one for one in judged if one.prediction.id in members]
        ps = [next((found.p_difference for found in one.effects.values()), None) for one in inside]
        for one, p in zip(inside, adjust(registration.profile.correction, ps), strict=True):
            adjusted[one.prediction.id][name] = p
    return [replace(one, adjusted=adjusted[one.prediction.id]) for one in judged]


def forest(judged: Sequence[Judged]) -> list[ForestRow]:
    """The rows of a forest plot, which the table of verdicts uses too."""
    named = {f"{one.prediction.id}: {name}": (one, found) for one in judged for name, found in one.effects.items()}
    bands = {name: one.band for name, (one, _) in named.items() if one.band is not None}
    return forest_rows(((name, found) for name, (_, found) in named.items()), bands)


def _judged(prediction: Prediction, registration: Registration, source: Source) -> Judged:
    profile = registration.profile
    try:
        if isinstance(prediction, Count):
            counted = prediction.of, methods_of(prediction), prediction.cell
            count, left_out = source.violations(*counted), source.not_counted(*counted)
            found = verdicts.counted(count, prediction.equals)
            return Judged(
                prediction=prediction, verdicts=found, effects={}, others={}, count=count, not_counted=left_out
            )
        pairs = _pairs(prediction)
        effects = {
            f"{a} against {b}": source.effect(prediction.cell, a, b, profile, prediction.estimand) for a, b in pairs
        }
    except (MissingError, UsageError) as problem:
        nothing = Verdicts(verdicts.NOT_EVALUATED, verdicts.NOT_EVALUATED)
        return Judged(prediction=prediction, verdicts=nothing, effects={}, others={}, reason=str(problem))
    reason = next((found.reason for found in effects.values() if found.interval() is None), "")
    judged = _verdicts(prediction, list(effects.values()))
    others = _others(prediction, registration, source, pairs)
    return Judged(prediction=prediction, verdicts=judged, effects=effects, others=others, reason=reason)


def _pairs(prediction: Band | Equivalence | Ordering) -> list[tuple[str, str]]:
    if isinstance(prediction, Ordering):
        return [(prediction.best, other) for other in prediction.among if other != prediction.best]
    return [(prediction.a, prediction.b)]


def _verdicts(prediction: Band | Equivalence | Ordering, effects: Sequence[Effect]) -> Verdicts:
    unit = estimand(prediction.estimand)
    if isinstance(prediction, Ordering):
        higher = unit.better == "higher"
        each = [verdicts.ahead(found.estimate, found.interval(), unit.null, higher) for found in effects]
        return verdicts.of_all(each)
    (found,) = effects
    interval = found.interval(wide=isinstance(prediction, Band))
    return verdicts.in_band(found.estimate, interval, (prediction.low, prediction.high), unit.null)


def _others(
    prediction: Band | Equivalence | Ordering,
    registration: Registration,
    source: Source,
    pairs: Sequence[tuple[str, str]],
) -> dict[str, Effect]:
    found = {}
    main = estimand(prediction.estimand)
    for unit in registration.sensitivity:
        same_kind = estimand(unit).of_encoders == main.of_encoders
        for a, b in pairs if unit != main.name and same_kind else ():
            with suppress(MissingError, UsageError):
                found[f"{unit}: {a} against {b}"] = source.effect(prediction.cell, a, b, registration.profile, unit)
    return found


def _audited(cell: Cell) -> bool:
    """Whether the audit checked bounds, and not only the answers."""
    audit = cell.record.get("audit", {})
    return bool(audit.get("arcs")) or audit.get("consistent") is not None


def _violations(cell: Cell, of: str) -> int:
    """The violations in one cell of what is counted; `violations` leaves out what the method does not claim."""
    counts = {**cell.record["audit"]["violations"]}
    counts["optimal"] = max(counts["optimal"], _wrong_paths(cell))
    left_out = _unclaimed(cell, of)
    return sum(counts[kind] for kind in COUNTED[of] if PROMISED_BY[kind] not in left_out)


def _unclaimed(cell: Cell, of: str) -> list[str]:
    """The claims that the method does not make, where only violations of what it claims are counted."""
    return [claim for claim in WORDS if not cell.claims.get(claim)] if of == VIOLATIONS else []


def _wrong_paths(cell: Cell) -> int:
    """The number of rows whose path is not shortest, or has another cost than the search reported."""
    if QUERIES_FILE not in cell.files:
        return 0
    cost, path, reference = (np.asarray(cell.queries[name], float) for name in ("cost", "path_cost", "reference_cost"))
    far = ~np.isclose(path, reference, rtol=1e-9) | ~np.isclose(cost, reference, rtol=1e-9)
    return int(far.sum())


def record(judged: Judged) -> dict[str, Any]:
    return {
        "prediction": asdict(judged.prediction),
        "verdict": judged.verdict,
        "rule": judged.prediction.rule,
        "verdicts": asdict(judged.verdicts),
        "effects": {name: asdict(found) for name, found in judged.effects.items()},
        "sensitivity": {name: asdict(found) for name, found in judged.others.items()},
        "count": judged.count,
        "not_counted": {claim: list(labels) for claim, labels in judged.not_counted.items()},
        "reason": judged.reason,
        "adjusted": dict(judged.adjusted or {}),
    }
