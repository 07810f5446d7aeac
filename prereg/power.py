"""The statistical power of a registration: power, smallest margin, and the number of seeds or queries needed."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.errors import UsageError
from aacbench.prereg.evaluate import MissingError, Rows
from aacbench.prereg.predictions import Band, Equivalence
from aacbench.prereg.schema import Registration
from aacbench.run.records import CONTEXT, STRATA, TEST, VALIDATION
from aacbench.run.store import Cell
from aacbench.stats import Effect, estimand
from aacbench.stats.effects import DEGENERATE
from aacbench.stats.inference import no_spread
from aacbench.stats.power import largest_sd, power_tost, seeds_needed, smallest_delta
from aacbench.stats.profiles import SEEDS

DECLARED, PILOT, NONE = "declared", "pilot rows", "none"
OVER_SEEDS, OVER_QUERIES = "seeds", "queries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The probability that a prediction survives if the true effect is in its middle.

    It is computed from the spread over seeds alone, or over queries if both methods are deterministic; `number` is how
    many of these there are. All values are on the tested scale, which for ratios is logarithmic. Values that need a
    spread are None without one.
    """

    prediction: str
    over: str
    number: int | None
    half_width: float | None
    sd: float | None = None
    sd_from: str = NONE
    power: float | None = None
    smallest: float | None = None
    needed: int | None = None
    sd_allowed: float | None = None
    pilot_lacks: str = ""  # why a pilot gives no spread, such as "has no rows of alt on grid-16 at 32 B/v"


@dataclass(frozen=True, slots=True)
class _Sample:
    """What an effect is estimated over: seeds or queries, how many, and their spread with its source."""

    over: str
    number: int | None
    sd: float | None
    sd_from: str
    pilot_lacks: str = ""


def outlooks(
    registration: Registration, pilot: Sequence[Cell] | None = None, deterministic: Collection[str] = ()
) -> list[Outlook]:
    """Return the outlook of each band and equivalence; `deterministic` has the labels of methods without seeds."""
    kinds = [one for one in registration.predictions if isinstance(one, Band | Equivalence)]
    return [_outlook(one, registration, pilot, {one.a, one.b} <= set(deterministic)) for one in kinds]


def _outlook(
    prediction: Band | Equivalence, registration: Registration, pilot: Sequence[Cell] | None, without_seeds: bool
) -> Outlook:
    unit = estimand(prediction.estimand)
    with np.errstate(divide="ignore"):  # a ratio band that starts at 0 has no middle on the log scale
        low, high = (float(unit.working(np.asarray(end))) for end in (prediction.low, prediction.high))
    half, wanted = (high - low) / 2, registration.power
    sample = (_queries if without_seeds else _seeds)(prediction, registration, pilot)
    number, sd = sample.number, sample.sd
    untested = without_seeds and registration.profile.inference == SEEDS
    if number is None or number < 2 or untested or not math.isfinite(half):
        half_width = half if math.isfinite(half) else None
        return Outlook(prediction=prediction.id, over=sample.over, number=number, half_width=half_width)
    # As in the verdicts: a 95 % interval for a band, a 90 % interval for equivalence.
    alpha = 0.025 if isinstance(prediction, Band) else 0.05
    return Outlook(
        prediction=prediction.id,
        over=sample.over,
        number=number,
        half_width=half,
        sd=sd,
        sd_from=sample.sd_from,
        power=power_tost(number, sd, 0.0, half, alpha) if sd else None,
        smallest=smallest_delta(number, sd, 0.0, alpha, wanted) if sd else None,
        needed=seeds_needed(sd, 0.0, half, alpha, wanted) if sd else None,
        sd_allowed=largest_sd(number, 0.0, half, alpha, wanted),
        pilot_lacks=sample.pilot_lacks,
    )


def _seeds(one: Band | Equivalence, registration: Registration, pilot: Sequence[Cell] | None) -> _Sample:
    """The spread of the effect over seeds: from pilot rows if possible, else as declared."""
    number = len(registration.study.seeds)
    found = _effect(one, registration, Rows(pilot or ()))
    if isinstance(found, Effect) and len(found.per_seed) > 1:
        values = estimand(one.estimand).working(np.asarray(found.per_seed))
        if not no_spread(values):
            return _Sample(OVER_SEEDS, number, float(values.std(ddof=1)), PILOT)
    several = isinstance(found, Effect) and len(found.per_seed) > 1
    what = "the same effect with every seed" if several else "fewer than two seeds"
    lacks = _lacks(one, found, pilot, f"has {what} of {one.a} against {one.b} on {one.cell}")
    return _Sample(OVER_SEEDS, number, registration.sd, DECLARED if registration.sd else NONE, lacks)


def _queries(one: Band | Equivalence, registration: Registration, pilot: Sequence[Cell] | None) -> _Sample:
    """The spread of the effect over queries: from the validation rows of a pilot, else its test rows, else declared.

    Validation rows come first because they tell nothing of test queries that the pilot may share with the study.
    """
    planned = registration.study.queries
    number = planned.test if planned.mode != STRATA else None  # strata depend on the size of the graph
    if registration.study.kind == CONTEXT:
        number = registration.study.splits.test  # a map takes the place of a query
    for split in (VALIDATION, TEST):
        found = _effect(one, registration, Rows(pilot or (), split))
        if isinstance(found, Effect) and found.level == OVER_QUERIES and found.se is not None:
            spread = found.se * math.sqrt(found.queries)
            return _Sample(OVER_QUERIES, number or found.queries, spread, f"pilot's {split} rows")
    lacks = _lacks(one, found, pilot, f"has no spread over queries of {one.a} against {one.b} on {one.cell}")
    declared = DECLARED if registration.sd_queries else NONE
    return _Sample(OVER_QUERIES, number, registration.sd_queries, declared, lacks)


def _effect(one: Band | Equivalence, registration: Registration, rows: Rows) -> Effect | str:
    """The effect, or why there is none."""
    try:
        return rows.effect(one.cell, one.a, one.b, registration.profile, one.estimand)
    except (MissingError, UsageError) as problem:
        return str(problem).rstrip(".")


def _lacks(one: Band | Equivalence, found: Effect | str, pilot: Sequence[Cell] | None, otherwise: str) -> str:
    """Why the pilot gives no spread, in words that follow its name; nothing without a pilot."""
    if pilot is None:
        return ""
    absent = [label for label in (one.a, one.b) if not Rows(pilot).has(one.cell, label)]
    if absent:
        return f"has no rows of {' and '.join(absent)} on {one.cell}"
    if isinstance(found, str):
        return f"cannot compare {one.a} with {one.b} on {one.cell}: {found}"
    if found.status != DEGENERATE:
        return otherwise
    what = "no difference at all" if found.estimate == found.null else "the same difference everywhere"
    return f"shows {what} between {one.a} and {one.b} on {one.cell}"
