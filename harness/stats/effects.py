"""From paired rows to an effect: estimate, intervals, tests against no difference and against the margin."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.stats import outcomes
from aacbench.stats.bootstrap import BOOTSTRAP_WARNING, percentile_interval, two_way
from aacbench.stats.crossed import FEW_SEEDS, FEW_SEEDS_WARNING, crossed
from aacbench.stats.estimands import Estimand
from aacbench.stats.paired import Expansions, MethodRows, Paired, pair
from aacbench.stats.profiles import SEEDS, SEEDS_AND_QUERIES, Profile
from aacbench.stats.ttests import TTest, no_spread, paired_t_test, t_test

Array = npt.NDArray[Any]
Interval = tuple[float, float]

NO_SPREAD = "the differences have no spread, so the difference is exact and no test applies."
BOTH_DETERMINISTIC = "Both methods are deterministic, so there are no seeds to infer over: queries only."
ONE_SEED = "There is one seed only, so nothing is inferred over seeds: queries only, for this one build."
SEEDS_WANTED = "{profile} tests over seeds, and there are fewer than two to pair, so there is no test over seeds."


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An effect of A against B in the estimand's unit, except `se`, which is of the logarithm of a ratio.

    `status` says whether there was something to test, `reason` why not. `level` is what the intervals generalise over:
    seeds, queries, both, or nothing. What does not exist is None.
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

    def interval(self, wide: bool = True) -> Interval | None:
        """The 95 % interval, or the 90 % one of two one-sided tests; an exact difference is its own."""
        if self.status == outcomes.DEGENERATE and self.estimate is not None:
            return self.estimate, self.estimate
        return self.interval95 if wide else self.interval90

    @property
    def bootstrapped(self) -> bool:
        """Whether the intervals are those of the bootstrap, which has no p-values beside them."""
        return self.status == outcomes.OK and self.interval95 is not None and self.p_difference is None

    @property
    def caution(self) -> str:
        """What must be known before the interval is used, or nothing."""
        if self.status == outcomes.QUERIES_ONLY:
            return self.reason
        if self.bootstrapped:
            return BOOTSTRAP_WARNING
        return FEW_SEEDS_WARNING if self.level == SEEDS_AND_QUERIES and self.seeds < FEW_SEEDS else ""


def effect_of_rows(
    a: MethodRows, b: MethodRows, profile: Profile, estimand: Estimand, base: Expansions | None = None
) -> Effect:
    """The effect of A against B from the rows of both; `base` are Dijkstra's, for reductions."""
    return effect(pair(a, b, base), profile, estimand)


def effect(paired: Paired, profile: Profile, estimand: Estimand) -> Effect:
    """The effect of A against B from rows that are paired already."""
    problem = _problem(paired, estimand)
    if problem:
        return _bare(profile, estimand, None, outcomes.UNDEFINED, problem, paired)
    estimate = float(estimand.formula(paired.a, paired.b, paired.base))
    per_seed = estimand.formula(paired.a[:, None, :], paired.b[:, None, :], paired.base)
    bare = _bare(profile, estimand, estimate, outcomes.OK, "", paired)
    bare = replace(bare, per_seed=tuple(per_seed.tolist()), sd=_sd(per_seed, profile))
    if profile.inference == SEEDS:
        return _over_seeds(bare, profile, estimand, estimand.working(per_seed))
    draws = two_way(paired, estimand, replicates=profile.bootstrap_replicates, seed=profile.bootstrap_seed)
    bare = replace(bare, bootstrap95=percentile_interval(draws, 0.95))
    if estimand.linear is None:
        return _bootstrapped(bare, profile, draws)
    rows = estimand.linear(paired.a, paired.b, paired.base)
    return _crossed(bare, profile, estimand, np.asarray(rows))


def effect_of_observations(a: Array, b: Array, profile: Profile, estimand: Estimand) -> Effect:
    """The effect from one published value a seed for each method, such as reductions in percent; rows are better.

    For a ratio the values are expansions (or shares of them), for the others whatever A - B is meant of.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    per_seed = a / b if estimand.is_ratio else a - b
    working = estimand.working(per_seed)
    bare = _bare(profile, estimand, estimand.shown(working.mean()), outcomes.OK, "", None)
    bare = replace(bare, per_seed=tuple(per_seed.tolist()), sd=_sd(per_seed, profile), seeds=len(a))
    return _over_seeds(bare, profile, estimand, working)


def _problem(paired: Paired, estimand: Estimand) -> str:
    if paired.queries < 2:
        return f"there are {paired.queries} queries that both answered, and two are needed."
    if estimand.needs_base and paired.base is None:
        return f"{estimand.name} is measured against dijkstra, and there are no rows of it."
    if estimand.needs_base and paired.base is not None and not paired.base.mean() > 0:
        return "dijkstra expanded nothing on these queries, so there is nothing to reduce."
    if estimand.needs_positive and not (paired.a.min() > 0 and paired.b.min() > 0):
        return f"{estimand.name} needs an expansion at least in every row, and some have none."
    if estimand.is_ratio and not (np.median(paired.a) > 0 and np.median(paired.b) > 0):
        return f"{estimand.name} divides by expansions, and most rows have none."
    return ""


def _bare(
    profile: Profile, estimand: Estimand, estimate: float | None, status: str, reason: str, paired: Paired | None
) -> Effect:
    return Effect(
        estimand=estimand.name,
        unit=estimand.unit,
        profile=profile.label,
        estimate=estimate,
        null=estimand.null,
        margin=profile.margin(estimand),
        status=status,
        reason=reason,
        seeds=len(paired.seeds) if paired else 0,
        queries=paired.queries if paired else 0,
        left_out=paired.left_out if paired else 0,
    )


def _sd(per_seed: Array, profile: Profile) -> float | None:
    return float(per_seed.std(ddof=profile.sd_ddof)) if len(per_seed) > 1 else None


def _over_seeds(bare: Effect, profile: Profile, estimand: Estimand, values: Array) -> Effect:
    if len(values) < 2:
        return replace(bare, status=outcomes.NOT_TESTED, reason=SEEDS_WANTED.format(profile=profile.label))
    if no_spread(values):
        return replace(bare, status=outcomes.DEGENERATE, reason=NO_SPREAD)
    found = paired_t_test(values, np.zeros_like(values), _working_margin(bare, estimand))
    return _tested(replace(bare, level="seeds"), profile, estimand, found)


def _crossed(bare: Effect, profile: Profile, estimand: Estimand, rows: Array) -> Effect:
    if no_spread(rows):
        return replace(bare, status=outcomes.DEGENERATE, reason=NO_SPREAD)
    assert bare.estimate is not None
    center, margin = float(estimand.working(np.asarray(bare.estimate))), _working_margin(bare, estimand)
    if len(rows) < 2:
        queries = rows.shape[1]
        found = t_test(center, float(rows[0].std(ddof=1) / np.sqrt(queries)), queries - 1, margin)
        reason = ONE_SEED if bare.seeds else BOTH_DETERMINISTIC
        bare = replace(bare, status=outcomes.QUERIES_ONLY, reason=reason, level="queries")
        return _tested(bare, profile, estimand, found)
    table = crossed(rows)
    found = t_test(center, float(table.se), float(table.df), margin)
    return _tested(replace(bare, level=SEEDS_AND_QUERIES), profile, estimand, found)


def _bootstrapped(bare: Effect, profile: Profile, draws: Array) -> Effect:
    """Decided by the intervals: there is no p-value that the bootstrap could give beyond them."""
    if no_spread(draws):
        return replace(bare, status=outcomes.DEGENERATE, reason=NO_SPREAD)
    inner, outer = (percentile_interval(draws, 1 - share * profile.alpha) for share in (2, 1))
    differs = not outer[0] <= bare.null <= outer[1]
    within = bare.margin is not None and bare.margin[0] < inner[0] and inner[1] < bare.margin[1]
    seeds = bare.seeds > 1
    return replace(
        bare,
        status=outcomes.OK if seeds else outcomes.QUERIES_ONLY,
        reason="" if seeds else ONE_SEED if bare.seeds else BOTH_DETERMINISTIC,
        level=SEEDS_AND_QUERIES if seeds else "queries",
        interval90=percentile_interval(draws, 0.90),
        interval95=percentile_interval(draws, 0.95),
        outcome=outcomes.four_way(differs, within),
    )


def _tested(bare: Effect, profile: Profile, estimand: Estimand, found: TTest) -> Effect:
    equivalent = found.p_tost is not None and found.p_tost < profile.alpha
    return replace(
        bare,
        se=found.se,
        df=found.df,
        interval90=_shown(estimand, found.interval90),
        interval95=_shown(estimand, found.interval95),
        p_difference=found.p_difference,
        p_lower=found.p_lower,
        p_upper=found.p_upper,
        p_tost=found.p_tost,
        outcome=outcomes.four_way(found.p_difference < profile.alpha, equivalent),
    )


def _working_margin(bare: Effect, estimand: Estimand) -> Interval | None:
    if bare.margin is None:
        return None
    low, high = (float(estimand.working(np.asarray(bound))) for bound in bare.margin)
    return low, high


def _shown(estimand: Estimand, interval: Interval) -> Interval:
    return estimand.shown(interval[0]), estimand.shown(interval[1])
