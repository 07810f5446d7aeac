"""The statistical power of a registration: power, smallest margin, and the number of seeds needed."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from aacbench.errors import UsageError
from aacbench.prereg.evaluate import MissingError, Rows
from aacbench.prereg.predictions import Band, Equivalence
from aacbench.prereg.schema import Registration
from aacbench.run.store import Cell
from aacbench.stats import estimand
from aacbench.stats.power import largest_sd, power_tost, seeds_needed, smallest_delta

DECLARED, PILOT, NONE = "declared", "pilot rows", "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The probability that a prediction survives if the true effect is in its middle, from the spread over seeds alone.

    All values are on the tested scale, which for ratios is logarithmic. Values that need a spread are None without one.
    """

    prediction: str
    seeds: int
    half_width: float | None
    sd: float | None = None
    sd_from: str = NONE
    power: float | None = None
    smallest: float | None = None
    needed: int | None = None
    sd_allowed: float | None = None


def outlooks(registration: Registration, pilot: Sequence[Cell] = ()) -> list[Outlook]:
    kinds = [one for one in registration.predictions if isinstance(one, Band | Equivalence)]
    return [_outlook(one, registration, pilot) for one in kinds]


def _outlook(prediction: Band | Equivalence, registration: Registration, pilot: Sequence[Cell]) -> Outlook:
    unit, seeds = estimand(prediction.estimand), len(registration.study.seeds)
    with np.errstate(divide="ignore"):  # a ratio band that starts at 0 has no middle on the log scale
        low, high = (float(unit.working(np.asarray(end))) for end in (prediction.low, prediction.high))
    half, wanted = (high - low) / 2, registration.power
    if seeds < 2 or not math.isfinite(half):
        return Outlook(prediction=prediction.id, seeds=seeds, half_width=half if math.isfinite(half) else None)
    # As in the verdicts: a 95 % interval for a band, a 90 % interval for equivalence.
    alpha = 0.025 if isinstance(prediction, Band) else 0.05
    sd, source = _spread(prediction, registration, pilot)
    return Outlook(
        prediction=prediction.id,
        seeds=seeds,
        half_width=half,
        sd=sd,
        sd_from=source,
        power=power_tost(seeds, sd, 0.0, half, alpha) if sd else None,
        smallest=smallest_delta(seeds, sd, 0.0, alpha, wanted) if sd else None,
        needed=seeds_needed(sd, 0.0, half, alpha, wanted) if sd else None,
        sd_allowed=largest_sd(seeds, 0.0, half, alpha, wanted),
    )


def _spread(
    prediction: Band | Equivalence, registration: Registration, pilot: Sequence[Cell]
) -> tuple[float | None, str]:
    """The spread of the effect over seeds: from pilot rows if possible, else as declared."""
    one = prediction
    with suppress(MissingError, UsageError):
        found = Rows(pilot).effect(one.cell, one.a, one.b, registration.profile, one.estimand)
        if len(found.per_seed) > 1:
            values = estimand(one.estimand).working(np.asarray(found.per_seed))
            return float(values.std(ddof=1)), PILOT
    return registration.sd, DECLARED if registration.sd else NONE
