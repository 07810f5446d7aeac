"""Predictions: the four kinds, each a record of what must be observed; and the readers of their tables."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aacbench.errors import UsageError
from aacbench.protocols import values
from aacbench.protocols.values import Check, only, wrong
from aacbench.stats import ESTIMANDS, Estimand, Profile, estimand

INTERVAL, POINT = "interval", "point"
RULES = (INTERVAL, POINT)
A, B, EITHER = "a", "b", "either"
# What can be counted, and the claims whose violations that is; `violations` are those of whatever a method claims.
COUNTED = {
    "admissibility": ("admissible",),
    "consistency": ("consistent",),
    "optimality": ("optimal",),
    "violations": ("admissible", "consistent", "optimal"),
}
VIOLATIONS = "violations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The graph and budget that a prediction is about."""

    graph: str
    budget: float

    def __str__(self) -> str:
        return f"{self.graph} at {self.budget:g} B/v"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    id: str
    kind: str
    why: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contrast(_Common):
    cell: Place
    a: str
    b: str
    estimand: str
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Band(_Contrast):
    """The effect of A against B lies between two numbers; `direction` says which method is ahead there."""

    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence(_Contrast):
    """The effect of A against B lies within a margin around no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering(_Common):
    """One method is ahead of all others in a set."""

    cell: Place
    best: str
    among: tuple[str, ...]
    estimand: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(_Common):
    """A count has this value, in one cell or in all; over these methods, or over all if none is named."""

    cell: Place | None
    of: str
    methods: tuple[str, ...]
    equals: int


Prediction = Band | Equivalence | Ordering | Count


def required(given: Mapping[str, Any], word: str, key: str, check: Check) -> Any:
    if word not in given:
        raise UsageError(f"{_path(key, word)} is missing.")
    return check(given[word], _path(key, word))


def optional(given: Mapping[str, Any], word: str, key: str, check: Check, default: Any) -> Any:
    return check(given[word], _path(key, word)) if word in given else default


def number(value: Any, key: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise wrong(key, "a finite number", value)
    return float(value)


def _path(key: str, word: str) -> str:
    return f"{key}.{word}" if key else word


def read_prediction(table: Any, key: str, profile: Profile) -> Prediction:
    given = values.table(table, key)
    kind = required(given, "kind", key, values.one_of(tuple(KINDS)))
    return KINDS[kind](given, key, profile)


def from_record(values: Mapping[str, Any]) -> Prediction:
    kinds = {"band": Band, "equivalence": Equivalence, "ordering": Ordering, "count": Count}
    place = Place(**values["cell"]) if values["cell"] is not None else None
    lists = {word: tuple(values[word]) for word in ("among", "methods") if word in values}
    found: Prediction = kinds[values["kind"]](**{**values, **lists, "cell": place})
    return found


def methods_of(prediction: Prediction) -> tuple[str, ...]:
    if isinstance(prediction, Band | Equivalence):
        return prediction.a, prediction.b
    return prediction.among if isinstance(prediction, Ordering) else prediction.methods


def _common(given: Mapping[str, Any], key: str, *more: str) -> dict[str, Any]:
    only(given, ("id", "kind", "why", "rule", *more), key)
    return {
        "id": required(given, "id", key, values.name),
        "kind": given["kind"],
        "why": optional(given, "why", key, values.text, ""),
        "rule": optional(given, "rule", key, values.one_of(RULES), INTERVAL),
    }


def _place(given: Mapping[str, Any], key: str) -> Place:
    place = required(given, "cell", key, values.table)
    if "maps" in place:
        return _place_on_maps(place, f"{key}.cell")
    return values.record_of(Place, place, {"graph": values.text, "budget": values.budget}, f"{key}.cell")


def _place_on_maps(place: Mapping[str, Any], key: str) -> Place:
    """What an encoder predicts of a map set, at a budget; or the map set alone, on which encoders are compared."""
    only(place, ("maps", "encoder", "budget"), key)
    maps = required(place, "maps", key, values.text)
    if ("encoder" in place) != ("budget" in place):
        raise UsageError(f"{key} must have both encoder and budget to compare methods, or neither to compare encoders.")
    if "encoder" not in place:
        return Place(graph=maps, budget=0.0)
    encoder = required(place, "encoder", key, values.text)
    return Place(graph=f"{maps}/{encoder}", budget=required(place, "budget", key, values.budget))


def _contrast(given: Mapping[str, Any], key: str) -> dict[str, str]:
    contrast = required(given, "contrast", key, values.table)
    only(contrast, ("a", "b"), f"{key}.contrast")
    a, b = (required(contrast, word, f"{key}.contrast", values.text) for word in ("a", "b"))
    if a == b:
        raise UsageError(f"{key}.contrast compares {a} with itself.")
    return {"a": a, "b": b}


def _estimand(given: Mapping[str, Any], key: str, profile: Profile) -> Estimand:
    return estimand(optional(given, "estimand", key, values.one_of(tuple(ESTIMANDS)), profile.estimand))


def _band(given: Mapping[str, Any], key: str, profile: Profile) -> Band:
    common = _common(given, key, "cell", "contrast", "estimand", "low", "high", "direction")
    low, high = (required(given, word, key, number) for word in ("low", "high"))
    if not low < high:
        raise UsageError(f"{key}.low must be below {key}.high, but they are {low:g} and {high:g}.")
    unit = _estimand(given, key, profile)
    if unit.is_ratio and low < 0:
        raise UsageError(f"{key}.low is {low:g}, but {unit.name} is never below 0.")
    computed = _direction(low, high, unit)
    stated = optional(given, "direction", key, values.one_of((A, B, EITHER)), computed)
    if stated != computed:
        raise UsageError(
            f"{key}.direction is {stated!r}, but {low:g} to {high:g} {unit.unit} means {computed!r}: a is ahead where "
            f"{unit.name} is {unit.better}."
        )
    contrast = _contrast(given, key)
    return Band(
        **common, cell=_place(given, key), **contrast, estimand=unit.name, low=low, high=high, direction=computed
    )


def _direction(low: float, high: float, unit: Estimand) -> str:
    if low < unit.null < high:
        return EITHER
    return A if unit.favours_a((low + high) / 2) else B


def _equivalence(given: Mapping[str, Any], key: str, profile: Profile) -> Equivalence:
    common = _common(given, key, "cell", "contrast", "estimand", "margin")
    unit = _estimand(given, key, profile)
    if "margin" in given:
        margin = number(given["margin"], f"{key}.margin")
        if margin <= unit.null:
            raise UsageError(f"{key}.margin must be above {unit.null:g} for {unit.name}, not {margin:g}.")
        ends = (1 / margin, margin) if unit.is_ratio else (-margin, margin)
    else:
        default = profile.margin(unit)
        if default is None:
            raise UsageError(f"{key}.margin is missing: {profile.label} has no margin for {unit.name}.")
        ends = default
    contrast = _contrast(given, key)
    return Equivalence(**common, cell=_place(given, key), **contrast, estimand=unit.name, low=ends[0], high=ends[1])


def _ordering(given: Mapping[str, Any], key: str, profile: Profile) -> Ordering:
    common = _common(given, key, "cell", "best", "among", "estimand")
    best = required(given, "best", key, values.text)
    among = required(given, "among", key, values.many(values.text))
    if best not in among or len(among) < 2:
        raise UsageError(f"{key}.among must name {best} and at least one other method.")
    unit = _estimand(given, key, profile).name
    return Ordering(**common, cell=_place(given, key), best=best, among=among, estimand=unit)


def _count(given: Mapping[str, Any], key: str, profile: Profile) -> Count:
    common = _common(given, key, "cell", "of", "methods", "equals")
    return Count(
        **common,
        cell=_place(given, key) if "cell" in given else None,
        of=optional(given, "of", key, values.one_of(tuple(COUNTED)), VIOLATIONS),
        methods=optional(given, "methods", key, values.many(values.text), ()),
        equals=required(given, "equals", key, values.whole(0)),
    )


KINDS: dict[str, Callable[[Mapping[str, Any], str, Profile], Prediction]] = {
    "band": _band,
    "ordering": _ordering,
    "count": _count,
    "equivalence": _equivalence,
}
