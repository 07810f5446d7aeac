"""Student's t on an estimate with a standard error: intervals, a test of no difference, two one-sided tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

Array = npt.NDArray[Any]
Margin = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TTest:
    """All of it on the scale that was tested; without a margin there is no equivalence to test."""

    estimate: float
    se: float
    df: float
    interval90: tuple[float, float]
    interval95: tuple[float, float]
    p_difference: float
    p_lower: float | None
    p_upper: float | None

    @property
    def p_tost(self) -> float | None:
        """The larger of the two one-sided p-values."""
        return None if self.p_lower is None or self.p_upper is None else max(self.p_lower, self.p_upper)


def t_test(estimate: float, se: float, df: float, margin: Margin | None) -> TTest:
    """From an estimate that has a standard error above zero."""
    lower = upper = None
    if margin is not None:
        lower = float(scipy_stats.t.sf((estimate - margin[0]) / se, df))
        upper = float(scipy_stats.t.cdf((estimate - margin[1]) / se, df))
    return _whole(estimate, se, df, lower, upper)


def paired_t_test(a: Array, b: Array, margin: Margin | None) -> TTest:
    """From paired values whose differences have some spread; the one-sided tests are statsmodels'."""
    from statsmodels.stats.weightstats import ttost_paired

    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    lower = upper = None
    if margin is not None:
        _, low, high = ttost_paired(np.asarray(a, dtype=float), np.asarray(b, dtype=float), *margin)
        lower, upper = float(low[1]), float(high[1])
    n = len(differences)
    return _whole(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(n)), n - 1, lower, upper)


def no_spread(values: Array) -> bool:
    """Whether values differ by rounding alone: libraries then give p = 0, which no data can support."""
    values = np.asarray(values, dtype=float)
    return bool(np.ptp(values) <= 1e-12 * max(float(np.abs(values).max()), 1e-300))


def _whole(estimate: float, se: float, df: float, lower: float | None, upper: float | None) -> TTest:
    half90, half95 = (float(scipy_stats.t.isf(tail, df)) * se for tail in (0.05, 0.025))
    return TTest(
        estimate=estimate,
        se=se,
        df=float(df),
        interval90=(estimate - half90, estimate + half90),
        interval95=(estimate - half95, estimate + half95),
        p_difference=float(2 * scipy_stats.t.sf(abs(estimate) / se, df)),
        p_lower=lower,
        p_upper=upper,
    )
