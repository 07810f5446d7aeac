"""One p-value from several: the paper's ways, with what is wrong with them, and sounder ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

from aacbench.errors import UsageError

Array = npt.NDArray[Any]

ABSZ_WARNING = (
    "stouffer-absz is the paper's: it adds z-values without their signs, so that seeds which contradict each other "
    "count as agreement. With five seeds and no effect at all it rejects in 36 % of cases at a nominal 5 %."
)
# How often cauchy rejects a true null where p-values depend on each other, by level: the most simulations found.
CAUCHY_REJECTED = {0.05: 0.06, 0.01: 0.0125}
CAUCHY_WARNING = (
    "cauchy keeps small levels under any dependence, but at a nominal 5 % it rejects in up to "
    f"{100 * CAUCHY_REJECTED[0.05]:.0f} % of cases."
)
ONE_WARNING = "a p-value of exactly 1 decides {name} alone; look at the seeds one by one."


@dataclass(frozen=True, slots=True)
class Combined:
    """The combined two-sided p-value, and what to know before it is used."""

    name: str
    p: float
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Combination:
    """A way to combine; `assumes` says under which dependence of the p-values it keeps its level."""

    name: str
    assumes: str
    formula: Callable[[Array, Array], Array]  # of p-values and their directions, along the last axis
    signed: bool = False
    warning: str = ""
    decided_by_one: bool = False
    near_level: str = ""  # what to know where p is below 0.05 and not below 0.01


def _fisher(ps: Array, directions: Array) -> Array:
    return scipy_stats.combine_pvalues(ps, method="fisher", axis=-1).pvalue


def _stouffer(ps: Array, directions: Array) -> Array:
    return scipy_stats.combine_pvalues(ps, method="stouffer", axis=-1).pvalue


def _stouffer_absz(ps: Array, directions: Array) -> Array:
    return _two_sided(_stouffer_z(ps, np.ones_like(ps)))


def _stouffer_signed(ps: Array, directions: Array) -> Array:
    return _two_sided(np.abs(_stouffer_z(ps, directions)))


def _cauchy(ps: Array, directions: Array) -> Array:
    return scipy_stats.cauchy.sf(np.tan((0.5 - ps) * np.pi).mean(axis=-1))


def _cauchy_directional(ps: Array, directions: Array) -> Array:
    return _cauchy(np.where(directions > 0, ps / 2, 1 - ps / 2), directions)


def _simes(ps: Array, directions: Array) -> Array:
    return scipy_stats.false_discovery_control(ps, axis=-1).min(axis=-1)


def _bonferroni(ps: Array, directions: Array) -> Array:
    return np.minimum(1, ps.shape[-1] * ps.min(axis=-1))


def _twice_mean(ps: Array, directions: Array) -> Array:
    return np.minimum(1, 2 * ps.mean(axis=-1))


def _twice_median(ps: Array, directions: Array) -> Array:
    return np.minimum(1, 2 * np.median(ps, axis=-1))


def _stouffer_z(ps: Array, directions: Array) -> Array:
    return (directions * scipy_stats.norm.isf(ps / 2)).sum(axis=-1) / np.sqrt(ps.shape[-1])


def _two_sided(z: Array) -> Array:
    return 2 * scipy_stats.norm.sf(z)


COMBINATIONS = {
    way.name: way
    for way in (
        Combination("fisher", "independence, which seeds that share queries do not have", _fisher),
        Combination("stouffer", "independence, one-sided p-values", _stouffer, decided_by_one=True),
        Combination("stouffer-absz", "nothing makes it valid", _stouffer_absz, warning=ABSZ_WARNING),
        Combination("stouffer-signed", "independence", _stouffer_signed, signed=True),
        Combination("cauchy", "any dependence, nearly", _cauchy, decided_by_one=True, near_level=CAUCHY_WARNING),
        Combination("cauchy-directional", "as cauchy; one-sided: A expands more", _cauchy_directional, signed=True),
        Combination("simes", "positive dependence", _simes),
        Combination("bonferroni", "any dependence", _bonferroni),
        Combination("twice-mean", "any dependence", _twice_mean),
        Combination("twice-median", "any dependence", _twice_median),
    )
}


def combine(name: str, ps: Sequence[float], directions: Sequence[int] = ()) -> Combined:
    """Combine two-sided p-values; signed ways want the direction of each, 1 or -1."""
    if name not in COMBINATIONS:
        raise UsageError(f"there is no way {name!r} to combine p-values; there are {', '.join(COMBINATIONS)}.")
    way, values = COMBINATIONS[name], np.asarray(ps, dtype=float)
    if way.signed and len(directions) != len(values):
        raise UsageError(f"{name} needs the direction of each p-value.")
    warnings = [way.warning] if way.warning else []
    if way.decided_by_one and (values == 1).any():
        warnings.append(ONE_WARNING.format(name=name))
    p = float(way.formula(values, np.asarray(directions)))
    if way.near_level and 0.01 <= p < 0.05:
        warnings.append(way.near_level)
    return Combined(name, p, " ".join(warnings))


def signed_z(ps: Sequence[float], directions: Sequence[int]) -> float:
    """Stouffer's sum of signed z-values over the root of their number."""
    return float(_stouffer_z(np.asarray(ps, dtype=float), np.asarray(directions)))
