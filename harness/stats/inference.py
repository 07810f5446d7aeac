"""Intervals and tests for one estimate: t-tests, the crossed variance of seeds and queries, the two-way bootstrap."""

import math
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts are imported when they are first used

from aacbench.stats.estimands import Estimand
from aacbench.stats.paired import Array, Paired

Interval = tuple[float, float]

VARIANCE = "(MS_seed + MS_query - MS_resid) / (S Q), at least max(MS_seed, MS_query) / (S Q); Satterthwaite df"

# Type I error of the crossed test at a nominal 5 %, by number of seeds: the worst case in simulation, rounded up.
REJECTED = {2: 0.13, 3: 0.08, 4: 0.07, 5: 0.06}
FEW_SEEDS = 5
FEW_SEEDS_WARNING = (
    "With fewer than five seeds the crossed test rejects a true null too often if seeds differ much: at a nominal 5 %, "
    f"in up to {100 * REJECTED[4]:.0f} % of cases with four seeds, {100 * REJECTED[3]:.0f} % with three and "
    f"{100 * REJECTED[2]:.0f} % with two."
)

# Coverage of the 95 % bootstrap interval in simulation, by number of seeds, if most of the variation is between seeds.
COVERED = {2: 0.55, 3: 0.73, 5: 0.83, 10: 0.88}
BOOTSTRAP_WARNING = (
    "Bootstrap intervals are too narrow if seeds differ much, because resampling a few seeds understates how much new "
    f"seeds would vary: the 95 % interval then covers {100 * COVERED[10]:.0f} % with ten seeds, "
    f"{100 * COVERED[5]:.0f} % with five and {100 * COVERED[2]:.0f} % with two."
)
# A 95 % interval cuts off one resample in 40 at each end; with fewer, its ends are the smallest and the largest.
FEWEST_RESAMPLES = 40
BOOTSTRAP_ROWS = 4_000_000  # resampled values in memory at a time


@dataclass(frozen=True, slots=True)
class TTest:
    """A t-test on the scale that was tested; without a margin, `p_lower` and `p_upper` are None."""

    estimate: float
    se: float
    df: float
    interval90: Interval
    interval95: Interval
    p_difference: float
    p_lower: float | None
    p_upper: float | None

    @property
    def p_tost(self) -> float | None:
        return None if self.p_lower is None or self.p_upper is None else max(self.p_lower, self.p_upper)


def t_test(estimate: float, se: float, df: float, margin: Interval | None) -> TTest:
    """Test an estimate whose standard error is above zero."""
    lower = upper = None
    if margin is not None:
        lower = float(scipy.stats.t.sf((estimate - margin[0]) / se, df))
        upper = float(scipy.stats.t.cdf((estimate - margin[1]) / se, df))
    return _with_intervals(estimate, se, df, lower, upper)


def paired_t_test(a: Array, b: Array, margin: Interval | None) -> TTest:
    """Test paired values whose differences have some spread; the one-sided tests are those of statsmodels."""
    from statsmodels.stats.weightstats import ttost_paired

    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    lower = upper = None
    if margin is not None:
        _, low, high = ttost_paired(np.asarray(a, dtype=float), np.asarray(b, dtype=float), *margin)
        lower, upper = float(low[1]), float(high[1])
    n = len(differences)
    return _with_intervals(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(n)), n - 1, lower, upper)


def no_spread(values: Array) -> bool:
    """Return whether values differ only by rounding: libraries then report p = 0, which no data can support."""
    values = np.asarray(values, dtype=float)
    return bool(np.ptp(values) <= 1e-12 * max(float(np.abs(values).max()), 1e-300))


def _with_intervals(estimate: float, se: float, df: float, lower: float | None, upper: float | None) -> TTest:
    half90, half95 = (float(scipy.stats.t.isf(tail, df)) * se for tail in (0.05, 0.025))
    return TTest(
        estimate=estimate,
        se=se,
        df=float(df),
        interval90=(estimate - half90, estimate + half90),
        interval95=(estimate - half95, estimate + half95),
        p_difference=float(2 * scipy.stats.t.sf(abs(estimate) / se, df)),
        p_lower=lower,
        p_upper=upper,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Mean squares of a two-way table without replication, and the standard error of its mean."""

    mean: Array
    ms_seed: Array
    ms_query: Array
    ms_resid: Array
    se: Array
    df: Array


def crossed(values: Array) -> Crossed:
    """Analyse a table of seeds by queries (the last two axes), at least two of each.

    The difference of mean squares can fall below the variance that seeds or queries alone would give, so it has a
    floor. The degrees of freedom are used**2 over the sum of all three ms**2 / df, at the floor too.
    """
    seeds, queries = values.shape[-2:]
    mean = values.mean(axis=(-2, -1))
    by_seed, by_query = values.mean(axis=-1), values.mean(axis=-2)
    seed_part = by_seed - mean[..., None]
    query_part = by_query - mean[..., None]
    rest = values - by_seed[..., None] - by_query[..., None, :] + mean[..., None, None]
    freedom = seeds - 1, queries - 1, (seeds - 1) * (queries - 1)
    ms_seed = queries * (seed_part**2).sum(axis=-1) / freedom[0]
    ms_query = seeds * (query_part**2).sum(axis=-1) / freedom[1]
    ms_resid = (rest**2).sum(axis=(-2, -1)) / freedom[2]
    used = np.maximum(ms_seed + ms_query - ms_resid, np.maximum(ms_seed, ms_query))
    squares = sum(ms**2 / df for ms, df in zip((ms_seed, ms_query, ms_resid), freedom, strict=True))
    with np.errstate(invalid="ignore"):  # without any spread this is 0 / 0
        df = used**2 / squares
    return Crossed(mean, ms_seed, ms_query, ms_resid, np.sqrt(used / (seeds * queries)), df)


def two_way_bootstrap(paired: Paired, estimand: Estimand, *, replicates: int, seed: int) -> Array:
    """Return the estimand of each replicate; seeds and queries are resampled independently, with replacement."""
    rng = np.random.default_rng(seed)
    seeds, queries = paired.a.shape
    step = max(1, BOOTSTRAP_ROWS // paired.a.size)
    parts = [
        _resample(paired, estimand, rng, (min(step, replicates - done), seeds, queries))
        for done in range(0, replicates, step)
    ]
    return np.concatenate(parts)


def distinct_resamples(seeds: int, queries: int) -> int:
    """Return how many resamples of a table differ: choices of seeds, times choices of queries, in any order."""
    sizes = (min(size, 9) for size in (seeds, queries))  # more are counted as nine, which is far above any limit
    return math.prod(math.comb(2 * size - 1, size) for size in sizes)


def percentile_interval(draws: Array, level: float) -> Interval:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resample(paired: Paired, estimand: Estimand, rng: np.random.Generator, shape: tuple[int, int, int]) -> Array:
    count, seeds, queries = shape
    which_seeds = rng.integers(seeds, size=(count, seeds, 1))
    which_queries = rng.integers(queries, size=(count, 1, queries))
    base = None if paired.base is None else paired.base[which_queries[:, 0, :]]
    return estimand.formula(paired.a[which_seeds, which_queries], paired.b[which_seeds, which_queries], base)
