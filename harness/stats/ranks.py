"""Signed ranks: Wilcoxon's test, its effect size, and the Hodges-Lehmann estimate with its intervals."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # whose parts are imported when they are first used

from aacbench.stats.paired import Array

OK, ALL_ZERO = "ok", "all_zero"
EXACT_UP_TO = 60  # differences; beyond that the normal approximation of the rank sum is as good


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """A signed-rank test of differences A - B; `positive` is the rank sum of those above zero.

    If all differences are zero, the status is `all_zero` and p is 1, whatever a library returns.
    """

    n: int
    zeros: int
    statistic: float
    positive: float
    p: float
    z: float | None
    rank_biserial: float | None
    status: str

    @property
    def direction(self) -> int:
        """1 if A expands more by ranks, -1 if B does, else 0."""
        return int(np.sign(self.rank_biserial or 0.0))


@dataclass(frozen=True, slots=True)
class Location:
    """The Hodges-Lehmann estimate of a difference, with its intervals."""

    estimate: float
    interval90: tuple[float, float]
    interval95: tuple[float, float]


def wilcoxon(a: Array, b: Array | int, *, zero_method: str = "wilcox", method: str = "asymptotic") -> Wilcoxon:
    """Test A - B, two-sided. Pass whole numbers: rounding of floats makes and breaks ties."""
    differences = np.asarray(a) - np.asarray(b)
    zeros = int(np.count_nonzero(differences == 0))
    if zeros == differences.size:
        return Wilcoxon(zeros, zeros, 0.0, 0.0, 1.0, None, None, ALL_ZERO)
    import pingouin  # takes seconds to import

    found = scipy.stats.wilcoxon(differences, zero_method=zero_method, method=method)
    above = scipy.stats.wilcoxon(differences, zero_method=zero_method, method=method, alternative="greater")
    return Wilcoxon(
        n=differences.size,
        zeros=zeros,
        statistic=float(found.statistic),
        positive=float(above.statistic),
        p=float(found.pvalue),
        z=float(found.zstatistic) if method == "asymptotic" else None,
        rank_biserial=float(pingouin.wilcoxon(differences, 0 * differences, zero_method=zero_method)["RBC"].iloc[0]),
        status=OK,
    )


def hodges_lehmann(differences: Array) -> Location:
    """Return the median of all pairwise means, with the intervals of the inverted signed-rank test."""
    walsh = np.sort(_walsh(np.asarray(differences, dtype=float)))
    return Location(float(np.median(walsh)), *(_interval(walsh, len(differences), level) for level in (0.90, 0.95)))


def walsh_median(differences: Array) -> float:
    """Return the Hodges-Lehmann estimate without intervals."""
    return float(np.median(_walsh(np.asarray(differences, dtype=float))))


def _walsh(differences: Array) -> Array:
    first, second = np.triu_indices(len(differences))
    return (differences[first] + differences[second]) / 2


def _interval(walsh: Array, n: int, level: float) -> tuple[float, float]:
    # Too few differences cannot reach the level: the interval is then unbounded.
    cut = _rank_sum_quantile(n, (1 - level) / 2)
    if cut == 0:
        return float("-inf"), float("inf")
    return float(walsh[cut - 1]), float(walsh[-cut])


@lru_cache
def _rank_sum_quantile(n: int, tail: float) -> int:
    """Return how many of the smallest rank sums have a total probability of at most `tail`."""
    if n > EXACT_UP_TO:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return max(int(np.floor(n * (n + 1) / 4 - scipy.stats.norm.isf(tail) * spread)), 0)
    chances = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(len(chances) + rank)
        longer[: len(chances)] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return int(np.searchsorted(np.cumsum(chances), tail, side="right"))
