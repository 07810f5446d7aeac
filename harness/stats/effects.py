"""The effect of method A against method B: estimate, intervals, tests for a difference and for equivalence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aacbench.errors import UsageError
from aacbench.stats.estimands import Estimand
from aacbench.stats.inference import (
    BOOTSTRAP_WARNING,
    FEW_SEEDS,
    FEW_SEEDS_WARNING,
    FEWEST_RESAMPLES,
    Interval,
    TTest,
    crossed,
    distinct_resamples,
    no_spread,
    paired_t_test,
    percentile_interval,
    t_test,
    two_way_bootstrap,
)
from aacbench.stats.paired import Array, Expansions, MethodRows, Paired, pair
from aacbench.stats.profiles import SEEDS, SEEDS_AND_QUERIES, Profile

EQUIVALENT = "equivalent"
DIFFERENT = "different"
WITHIN = "different but within the margin"
INCONCLUSIVE = "inconclusive"
OUTCOMES = (EQUIVALENT, WITHIN, DIFFERENT, INCONCLUSIVE)

OK = "ok"
DEGENERATE = "degenerate"  # the differences have no spread, so the difference is exact and no test applies
QUERIES_ONLY = "queries only"  # fewer than two seeds: the interval does not generalise to other builds
NOT_TESTED = "not tested"  # there is an estimate, but the profile allows no inference from these rows
NOT_ENOUGH = "not enough data"  # there is an estimate, but too few rows for an interval
UNDEFINED = "undefined"  # there is no estimate


NO_SPREAD = "the differences have no spread, so the difference is exact and no test applies."
BOTH_DETERMINISTIC = "Both methods are deterministic, so there are no seeds to infer over: queries only."
ONE_SEED = "There is only one seed, so nothing is inferred over seeds: queries only, for this one build."
FEW_RESAMPLES = (
    "the rows have {found} distinct bootstrap resamples, and a 95 % interval needs "
    f"{FEWEST_RESAMPLES}; run more seeds or queries."
)
NO_ERROR = "the means of the seeds are all equal, and so are those of the queries; run more seeds or queries."
SEEDS_NEEDED = "{profile} tests over seeds and needs at least two paired seeds."


def four_way(differs: bool, is_equivalent: bool) -> str:
    if differs:
        return WITHIN if is_equivalent else DIFFERENT
    return EQUIVALENT if is_equivalent else INCONCLUSIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An effect of A against B in the estimand's unit; for a ratio, `se` is that of its logarithm.

    `status` says whether there was something to test, `reason` why not. `level` says what the intervals generalise
    over: seeds, queries, both, or nothing. Values that do not exist are None.
    """

    estimand: str
    unit: str
    profile: str
    estimate: float | None
    null: float
    margin: Interval | None
    status: str
    reason: str = ""
    level: str = ""
    outcome: str | None = None
    se: float | None = None
    df: float | None = None
    interval90: Interval | None = None
    interval95: Interval | None = None
    p_difference: float | None = None
    p_lower: float | None = None
    p_upper: float | None = None
    p_tost: float | None = None
    bootstrap95: Interval | None = None
    per_seed: tuple[float, ...] = ()
    sd: float | None = None  # of per_seed, ddof 1
    seeds: int = 0
    queries: int = 0
    left_out: int = 0
    memory: str = ""  # what can be concluded although the two have unlike memory

    def interval(self, wide: bool = True) -> Interval | None:
        """Return the 95 % interval, or the 90 % one; that of an exact difference has no width."""
        if self.status == DEGENERATE and self.estimate is not None:
            return self.estimate, self.estimate
        return self.interval95 if wide else self.interval90

    @property
    def bootstrapped(self) -> bool:
        """Whether the intervals are bootstrapped; there are no p-values then."""
        return self.status == OK and self.interval95 is not None and self.p_difference is None

    @property
    def caution(self) -> str:
        """What a reader must know before using the interval, or an empty text."""
        if self.status == QUERIES_ONLY:
            return self.reason
        if self.bootstrapped:
            return BOOTSTRAP_WARNING
        return FEW_SEEDS_WARNING if self.level == SEEDS_AND_QUERIES and self.seeds < FEW_SEEDS else ""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One row of a forest plot: point, two intervals, a dot per seed, margin, predicted band, and a label."""

    cell: str
    estimate: float | None
    interval90: Interval | None
    interval95: Interval | None
    null: float
    margin: Interval | None
    seeds: tuple[float, ...]
    label: str
    band: Interval | None = None


def forest_rows(effects: Iterable[tuple[str, Effect]], bands: Mapping[str, Interval] | None = None) -> list[ForestRow]:
    """Return a row for each named effect; `bands` has the predicted intervals by the same names."""
    return [
        ForestRow(
            cell=cell,
            estimate=effect.estimate,
            interval90=effect.interval(wide=False),
            interval95=effect.interval(),
            null=effect.null,
            margin=effect.margin,
            seeds=effect.per_seed if effect.seeds > 1 else (),
            label=effect.outcome or effect.status,
            band=(bands or {}).get(cell),
        )
        for cell, effect in effects
    ]


def effect_of_rows(
    a: MethodRows, b: MethodRows, profile: Profile, estimand: Estimand, base: Expansions | None = None
) -> Effect:
    return effect(pair(a, b, base), profile, estimand)


def effect(paired: Paired, profile: Profile, estimand: Estimand, *, bootstrap: bool = True) -> Effect:
    """Estimate and test; without `bootstrap`, resample only where the interval has no formula."""
    counts = {"seeds": len(paired.seeds), "queries": paired.queries, "left_out": paired.left_out}
    problem = _problem(paired, estimand)
    if problem:
        return _untested(profile, estimand, np.empty(0), estimate=None, status=UNDEFINED, reason=problem, **counts)
    estimate = float(estimand.formula(paired.a, paired.b, paired.base))
    per_seed = estimand.formula(paired.a[:, None, :], paired.b[:, None, :], paired.base)
    untested = _untested(profile, estimand, per_seed, estimate=estimate, status=OK, **counts)
    if profile.inference == SEEDS:
        return _over_seeds(untested, profile, estimand, estimand.working(per_seed))
    if estimand.linear is not None and not bootstrap:
        return _crossed(untested, profile, estimand, np.asarray(estimand.linear(paired.a, paired.b, paired.base)))
    draws = two_way_bootstrap(paired, estimand, replicates=profile.bootstrap_replicates, seed=profile.bootstrap_seed)
    resamples = distinct_resamples(*paired.a.shape)
    if resamples >= FEWEST_RESAMPLES:
        untested = replace(untested, bootstrap95=percentile_interval(draws, 0.95))
    if estimand.linear is None:
        return _bootstrapped(untested, profile, draws, resamples)
    rows = estimand.linear(paired.a, paired.b, paired.base)
    return _crossed(untested, profile, estimand, np.asarray(rows))


def effect_of_observations(a: Array, b: Array, profile: Profile, estimand: Estimand) -> Effect:
    """Return the effect from one published value per seed and method, such as reductions in percent.

    For a ratio the values are expansions (or shares of them); otherwise the effect is the mean of A - B.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise UsageError("A published value is not a finite number; leave out the seeds without one.")
    if estimand.is_ratio and not ((a > 0).all() and (b > 0).all()):
        raise UsageError(f"{estimand.name} divides by published values, so each must be above 0.")
    per_seed = a / b if estimand.is_ratio else a - b
    working = estimand.working(per_seed)
    untested = _untested(profile, estimand, per_seed, estimate=estimand.shown(working.mean()), status=OK, seeds=len(a))
    return _over_seeds(untested, profile, estimand, working)


def _problem(paired: Paired, estimand: Estimand) -> str:
    if paired.queries < 2:
        return f"both methods answered only {paired.queries} queries; two are needed."
    if estimand.needs_base and paired.base is None:
        return f"{estimand.name} is measured against dijkstra, which has no rows."
    if estimand.needs_base and paired.base is not None and not paired.base.mean() > 0:
        return "dijkstra expanded nothing on these queries, so no reduction is defined."
    if estimand.needs_positive and not (paired.a.min() > 0 and paired.b.min() > 0):
        return f"{estimand.name} needs at least one expansion in every row; some have none."
    if estimand.is_ratio and not (np.median(paired.a) > 0 and np.median(paired.b) > 0):
        return f"{estimand.name} divides by expansions; most rows have none."
    return ""


def _untested(profile: Profile, estimand: Estimand, per_seed: Array, **values: Any) -> Effect:
    return Effect(
        estimand=estimand.name,
        unit=estimand.unit,
        profile=profile.label,
        null=estimand.null,
        margin=profile.margin(estimand),
        per_seed=tuple(per_seed.tolist()),
        sd=float(per_seed.std(ddof=profile.sd_ddof)) if len(per_seed) > 1 else None,
        **values,
    )


def _over_seeds(untested: Effect, profile: Profile, estimand: Estimand, values: Array) -> Effect:
    if len(values) < 2:
        return replace(untested, status=NOT_TESTED, reason=SEEDS_NEEDED.format(profile=profile.label))
    if no_spread(values):
        return replace(untested, status=DEGENERATE, reason=NO_SPREAD)
    test = paired_t_test(values, np.zeros_like(values), _working_margin(untested, estimand))
    return _with_test(replace(untested, level="seeds"), profile, estimand, test)


def _crossed(untested: Effect, profile: Profile, estimand: Estimand, rows: Array) -> Effect:
    if no_spread(rows):
        return replace(untested, status=DEGENERATE, reason=NO_SPREAD)
    assert untested.estimate is not None
    center, margin = float(estimand.working(np.asarray(untested.estimate))), _working_margin(untested, estimand)
    if len(rows) < 2:
        queries = rows.shape[1]
        test = t_test(center, float(rows[0].std(ddof=1) / np.sqrt(queries)), queries - 1, margin)
        reason = ONE_SEED if untested.seeds else BOTH_DETERMINISTIC
        untested = replace(untested, status=QUERIES_ONLY, reason=reason, level="queries")
        return _with_test(untested, profile, estimand, test)
    table = crossed(rows)
    if not table.se > 0:  # the rows vary, but their variation cancels out
        return replace(untested, status=NOT_ENOUGH, reason=NO_ERROR)
    test = t_test(center, float(table.se), float(table.df), margin)
    return _with_test(replace(untested, level=SEEDS_AND_QUERIES), profile, estimand, test)


def _bootstrapped(untested: Effect, profile: Profile, draws: Array, resamples: int) -> Effect:
    """Decide by the intervals, since the bootstrap gives no p-values."""
    if no_spread(draws):
        return replace(untested, status=DEGENERATE, reason=NO_SPREAD)
    if resamples < FEWEST_RESAMPLES:
        return replace(untested, status=NOT_ENOUGH, reason=FEW_RESAMPLES.format(found=resamples))
    inner, outer = (percentile_interval(draws, 1 - share * profile.alpha) for share in (2, 1))
    differs = not outer[0] <= untested.null <= outer[1]
    within = untested.margin is not None and untested.margin[0] < inner[0] and inner[1] < untested.margin[1]
    seeds = untested.seeds > 1
    return replace(
        untested,
        status=OK if seeds else QUERIES_ONLY,
        reason="" if seeds else ONE_SEED if untested.seeds else BOTH_DETERMINISTIC,
        level=SEEDS_AND_QUERIES if seeds else "queries",
        interval90=percentile_interval(draws, 0.90),
        interval95=percentile_interval(draws, 0.95),
        outcome=four_way(differs, within),
    )


def _with_test(untested: Effect, profile: Profile, estimand: Estimand, test: TTest) -> Effect:
    equivalent = test.p_tost is not None and test.p_tost < profile.alpha
    return replace(
        untested,
        se=test.se,
        df=test.df,
        interval90=_shown(estimand, test.interval90),
        interval95=_shown(estimand, test.interval95),
        p_difference=test.p_difference,
        p_lower=test.p_lower,
        p_upper=test.p_upper,
        p_tost=test.p_tost,
        outcome=four_way(test.p_difference < profile.alpha, equivalent),
    )


def _working_margin(untested: Effect, estimand: Estimand) -> Interval | None:
    if untested.margin is None:
        return None
    low, high = (float(estimand.working(np.asarray(bound))) for bound in untested.margin)
    return low, high


def _shown(estimand: Estimand, interval: Interval) -> Interval:
    return estimand.shown(interval[0]), estimand.shown(interval[1])
