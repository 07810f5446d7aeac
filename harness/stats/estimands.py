"""Estimands: the quantities that compare two methods, each with its unit, direction and formula."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.errors import UsageError
from aacbench.stats.paired import Array
from aacbench.stats.ranks import walsh_median

# Arguments: expansions of A and of B by seed and query, and Dijkstra's by query; further axes may come first.
# Of encoders: the true costs of their paths by seed and map, and the least ones by map.
Formula = Callable[[Array, Array, Array | None], Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimand:
    """A quantity that compares A with B.

    `linear` gives one value per seed and query, on the log scale for a ratio; the variance of their mean is that of
    the estimate. Without it, profiles that infer over queries too bootstrap the intervals.
    """

    name: str
    unit: str
    better: str  # "higher" or "lower": which values mean that A is ahead
    null: float  # the value of no effect
    digits: int
    formula: Formula
    linear: Formula | None = None
    needs_base: bool = False
    needs_positive: bool = False
    of_encoders: bool = False  # compares true costs of paths, not expansions

    @property
    def is_ratio(self) -> bool:
        """Whether it is compared on the log scale."""
        return self.null == 1

    def working(self, value: Array) -> Array:
        """Convert from the unit to the scale on which it is tested."""
        return np.log(value) if self.is_ratio else np.asarray(value, dtype=float)

    def shown(self, value: float) -> float:
        """Convert back from the scale on which it is tested; a ratio beyond all numbers is infinite."""
        with np.errstate(over="ignore"):
            return float(np.exp(value)) if self.is_ratio else float(value)

    def favours_a(self, value: float) -> bool:
        return value > self.null if self.better == "higher" else value < self.null

    def record(self) -> dict[str, Any]:
        """Return every value except the functions, for digests."""
        return {name: getattr(self, name) for name in ("name", "unit", "better", "null", "digits")}


def _mean(values: Array) -> Array:
    return np.asarray(values.mean(axis=(-2, -1)))


def _reduction_rows(a: Array, b: Array, base: Array | None) -> Array:
    assert base is not None
    return 100.0 * (b - a) / base.mean(axis=-1)[..., None, None]


def _ratio_rows(a: Array, b: Array, _: Array | None) -> Array:
    """Return each row's first-order contribution to the logarithm of the ratio of means."""
    return a / _mean(a)[..., None, None] - b / _mean(b)[..., None, None]


def _optimal_rows(a: Array, b: Array, least: Array | None) -> Array:
    assert least is not None
    return 100.0 * ((a == least[..., None, :]).astype(float) - (b == least[..., None, :]))


def _regret_rows(a: Array, b: Array, least: Array | None) -> Array:
    assert least is not None
    return 100.0 * (a - b) / least[..., None, :]


def _median_ratio(a: Array, b: Array, _: Array | None) -> Array:
    return np.median(a, axis=(-2, -1)) / np.median(b, axis=(-2, -1))


def _hodges_lehmann(a: Array, b: Array, _: Array | None) -> Array:
    # Seeds are averaged first: the ranks are over queries.
    return np.asarray(np.apply_along_axis(walsh_median, -1, (a - b).mean(axis=-2)))


ESTIMANDS = {
    estimand.name: estimand
    for estimand in (
        Estimand(
            name="reduction_of_means_pp",
            unit="percentage points",
            better="higher",
            null=0,
            digits=2,
            formula=lambda a, b, base: _mean(_reduction_rows(a, b, base)),
            linear=_reduction_rows,
            needs_base=True,
        ),
        Estimand(
            name="ratio_of_means",
            unit="ratio A/B",
            better="lower",
            null=1,
            digits=4,
            formula=lambda a, b, _: _mean(a) / _mean(b),
            linear=_ratio_rows,
        ),
        Estimand(
            name="geometric_mean_ratio",
            unit="ratio A/B",
            better="lower",
            null=1,
            digits=4,
            formula=lambda a, b, _: np.exp(_mean(np.log(a) - np.log(b))),
            linear=lambda a, b, _: np.log(a) - np.log(b),
            needs_positive=True,
        ),
        Estimand(name="median_ratio", unit="ratio A/B", better="lower", null=1, digits=4, formula=_median_ratio),
        Estimand(name="hodges_lehmann", unit="expansions", better="lower", null=0, digits=2, formula=_hodges_lehmann),
        Estimand(
            name="optimal_pp",
            unit="percentage points",
            better="higher",
            null=0,
            digits=2,
            formula=lambda a, b, least: _mean(_optimal_rows(a, b, least)),
            linear=_optimal_rows,
            needs_base=True,
            of_encoders=True,
        ),
        Estimand(
            name="regret_pp",
            unit="percentage points",
            better="lower",
            null=0,
            digits=2,
            formula=lambda a, b, least: _mean(_regret_rows(a, b, least)),
            linear=_regret_rows,
            needs_base=True,
            of_encoders=True,
        ),
    )
}


def estimand(name: str) -> Estimand:
    if name not in ESTIMANDS:
        raise UsageError(f"Unknown estimand {name!r}. Known are {', '.join(ESTIMANDS)}.")
    return ESTIMANDS[name]
