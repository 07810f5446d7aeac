"""What no library does for us, held against simulated truth: error rates and coverage, with fixed seeds.

Every tolerance is three standard errors of the simulation itself: a rate that is claimed to be p comes out of N runs
within 3 * sqrt(p (1 - p) / N) of it. Where a procedure misses its nominal level, what is claimed is what the code and
the document say instead.
"""

from dataclasses import replace

import numpy as np
import pytest
from late import Late

from aacbench.stats import CROSSED_2, effect
from aacbench.stats.combine import CAUCHY_REJECTED, CAUCHY_WARNING, COMBINATIONS, combine
from aacbench.stats.estimands import ESTIMANDS, estimand
from aacbench.stats.inference import COVERED, REJECTED, crossed, percentile_interval, two_way_bootstrap
from aacbench.stats.paired import Paired
from aacbench.stats.power import power_tost
from aacbench.stats.ranks import hodges_lehmann

scipy_stats = Late("scipy.stats")
PP = estimand("reduction_of_means_pp")
RUNS = 4000
ROUNDING = 0.005  # of a claim in whole percent


def spread(rate, runs=RUNS):
    """Three standard errors of a rate over so many runs."""
    return 3 * np.sqrt(rate * (1 - rate) / runs)


def at_most(claimed, runs=RUNS):
    """The most that may be found where a rate is claimed to be no more than this."""
    return claimed + spread(claimed, runs)


def tables(rng, runs, seeds, queries, *, query_share, seed_spread, mean=0.0):
    """Tables of differences: what queries have in common over seeds, what a seed adds to all queries, and the rest."""
    common = rng.normal(size=(runs, 1, queries)) * np.sqrt(query_share)
    own = rng.normal(size=(runs, seeds, queries)) * np.sqrt(1 - query_share)
    return mean + common + own + rng.normal(size=(runs, seeds, 1)) * seed_spread


def crossed_rates(values, truth, margin):
    """How often the test rejects no difference, the interval misses the truth, and equivalence is declared."""
    found = crossed(values)
    p = 2 * scipy_stats.t.sf(np.abs(found.mean) / found.se, found.df)
    missed = np.abs(found.mean - truth) > scipy_stats.t.isf(0.025, found.df) * found.se
    half = scipy_stats.t.isf(0.05, found.df) * found.se
    declared = (found.mean - half > -margin) & (found.mean + half < margin)
    return np.mean(p < 0.05), np.mean(missed), np.mean(declared)


SHARES = (0.0, 0.3, 0.6, 0.9)
SPREADS = (0.0, 0.05, 0.1, 0.2, 0.4)


@pytest.mark.parametrize("seed_spread", SPREADS)
@pytest.mark.parametrize("query_share", SHARES)
def test_the_crossed_test_keeps_its_level_whatever_queries_and_seeds_share(query_share, seed_spread):
    rng = np.random.default_rng([1, int(100 * query_share), int(100 * seed_spread)])
    values = tables(rng, RUNS, 5, 60, query_share=query_share, seed_spread=seed_spread)
    rejected, missed, _ = crossed_rates(values, 0.0, 1.0)
    assert rejected <= at_most(REJECTED[5])  # Satterthwaite's degrees of freedom are an approximation
    assert missed == rejected


@pytest.mark.parametrize("seeds", REJECTED)
def test_few_seeds_are_not_enough_and_it_is_said_by_how_much(seeds):
    """At the spread where it is worst: no more than is claimed, and less by no more than the claim is rounded up."""
    values = tables(np.random.default_rng([12, seeds]), 8000, seeds, 60, query_share=0.9, seed_spread=0.8)
    rate, claimed = crossed_rates(values, 0.0, 1.0)[0], REJECTED[seeds]
    assert claimed - 2 * ROUNDING - spread(claimed, 8000) <= rate <= at_most(claimed, 8000)


def test_equivalence_is_declared_at_the_margin_no_oftener_than_the_level():
    rng = np.random.default_rng(2)
    for query_share, seed_spread in ((0.0, 0.1), (0.5, 0.1), (0.9, 0.3)):
        values = tables(rng, RUNS, 5, 60, query_share=query_share, seed_spread=seed_spread, mean=0.7)
        _, missed, declared = crossed_rates(values, 0.7, 0.7)
        assert declared <= at_most(REJECTED[5])
        assert missed <= at_most(REJECTED[5])


def test_combining_seeds_that_share_queries_does_not_keep_the_level_and_the_crossed_test_does():
    rng = np.random.default_rng(3)
    values = tables(rng, 1000, 5, 60, query_share=0.9, seed_spread=0.4)
    t, p = scipy_stats.ttest_1samp(values, 0.0, axis=-1)
    rates = [np.mean(COMBINATIONS[name].formula(p, np.sign(t)) < 0.05) for name in ("fisher", "stouffer-absz")]
    assert min(rates) - spread(0.5, 1000) > 0.5  # in most cases
    assert crossed_rates(values, 0.0, 1.0)[0] <= at_most(REJECTED[5], 1000)


def test_the_papers_stouffer_rejects_as_often_as_its_warning_says():
    rng = np.random.default_rng(4)
    ps = rng.uniform(size=(20_000, 5))
    rate = np.mean(COMBINATIONS["stouffer-absz"].formula(ps, ps) < 0.05)
    assert f"{100 * rate:.0f} %" in COMBINATIONS["stouffer-absz"].warning
    assert rate == pytest.approx(0.36, abs=ROUNDING + spread(0.36, 20_000))


@pytest.mark.parametrize("name", [name for name in COMBINATIONS if name != "stouffer-absz"])
def test_combinations_keep_their_level_on_independent_p_values(name):
    rng = np.random.default_rng(5)
    ps, signs = rng.uniform(size=(RUNS, 5)), rng.choice([-1, 1], size=(RUNS, 5))
    assert np.mean(COMBINATIONS[name].formula(ps, signs) < 0.05) <= at_most(0.05)


@pytest.mark.parametrize("name", ["simes", "bonferroni", "twice-mean", "twice-median"])
def test_robust_combinations_keep_their_level_on_dependent_p_values(name):
    assert np.mean(COMBINATIONS[name].formula(*dependent(5)) < 0.05) <= at_most(0.05)


@pytest.mark.parametrize("count", [5, 10])
def test_cauchy_exceeds_its_level_on_dependent_p_values_by_no_more_than_is_said(count):
    found = COMBINATIONS["cauchy"].formula(*dependent(count))
    for level, claimed in CAUCHY_REJECTED.items():
        assert np.mean(found < level) <= at_most(claimed)


def test_cauchy_warns_where_its_level_is_exceeded():
    assert combine("cauchy", [0.03, 0.03]).warning == CAUCHY_WARNING
    assert combine("cauchy", [0.003, 0.003]).warning == ""
    assert combine("cauchy", [0.3, 0.3]).warning == ""


def dependent(count):
    rng = np.random.default_rng(6)
    z = np.sqrt(0.7) * rng.normal(size=(RUNS, 1)) + np.sqrt(0.3) * rng.normal(size=(RUNS, count))
    return 2 * scipy_stats.norm.sf(np.abs(z)), np.sign(z)


@pytest.mark.parametrize("n", [8, 30, 90])
def test_hodges_lehmann_intervals_cover(n):
    rng = np.random.default_rng([7, n])
    found = [hodges_lehmann(sample) for sample in rng.standard_t(3, size=(1500, n)) + 1]
    for level, intervals in ((0.90, [one.interval90 for one in found]), (0.95, [one.interval95 for one in found])):
        low, high = np.array(intervals).T
        covered = np.mean((low <= 1) & (high >= 1))
        # Rank sums are whole: at each end the interval may hold one step more than its level.
        step = scipy_stats.norm.pdf(scipy_stats.norm.isf((1 - level) / 2)) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        assert level - spread(level, 1500) <= covered <= level + 2 * step + spread(level, 1500)


def expansions(rng, seeds=6, queries=50, ratio=1.1, seed_spread=0.05, rest=0.3):
    """Whole numbers as a search gives them: skewed over queries, with seeds that matter."""
    hard = rng.lognormal(6, 1, size=queries)
    b = hard * rng.lognormal(0, 0.2, size=queries)
    a = ratio * b * rng.lognormal(0, seed_spread, size=(seeds, 1)) * rng.lognormal(0, rest, size=(seeds, queries))
    a, b = np.ceil(a).astype(np.int64), np.ceil(np.broadcast_to(b, a.shape)).astype(np.int64)
    return Paired(a, b, np.ceil(10 * hard).astype(np.int64), tuple(range(seeds)), 0, ())


def covered(runs, draw):
    """How often the bootstrap's 95 % interval holds the true ratio."""
    ratio, found = estimand("geometric_mean_ratio"), []
    for run in range(runs):
        low, high = percentile_interval(two_way_bootstrap(draw(), ratio, replicates=200, seed=run), 0.95)
        found.append(low <= 1.1 <= high)
    return np.mean(found)


def test_the_two_way_bootstrap_covers_where_seeds_differ_little():
    """It then covers too much, since what belongs to one seed and one query is drawn anew with both."""
    rng = np.random.default_rng(8)
    assert covered(300, lambda: expansions(rng, queries=30)) >= 0.95 - spread(0.95, 300)


@pytest.mark.parametrize("seeds", COVERED)
def test_the_two_way_bootstrap_covers_too_little_where_seeds_differ_much_and_it_is_said_by_how_much(seeds):
    rng = np.random.default_rng([13, seeds])
    found = covered(300, lambda: expansions(rng, seeds, 30, seed_spread=0.3, rest=0.05))
    assert found == pytest.approx(COVERED[seeds], abs=ROUNDING + spread(COVERED[seeds], 300))


def test_the_bootstrap_repeats_itself_and_changes_with_its_seed():
    paired = expansions(np.random.default_rng(9))
    for known in ESTIMANDS.values():
        if known.name == "optimal_pp":
            continue  # these are expansions: none equals the least cost, so its replicates are all zero
        first, again, other = (two_way_bootstrap(paired, known, replicates=40, seed=seed) for seed in (1, 1, 2))
        assert (first == again).all()
        assert (first != other).any()


def test_a_ratio_of_means_has_the_spread_its_rows_give_it():
    rng, ratio = np.random.default_rng(10), estimand("ratio_of_means")
    found, errors = [], []
    for _ in range(600):
        paired = expansions(rng, seeds=5, queries=60)
        found.append(float(np.log(ratio.formula(paired.a, paired.b, paired.base))))
        errors.append(float(crossed(ratio.linear(paired.a, paired.b, paired.base)).se))
    # A standard deviation over N runs is known to 1 / sqrt(2 N). The variance is never below that of seeds or queries
    # alone, which makes the standard error a little too wide, by a tenth at most, and not too narrow.
    known = 3 / np.sqrt(2 * len(found))
    assert 1 - known <= np.sqrt(np.mean(np.square(errors))) / np.std(found) <= 1.1 * (1 + known)


@pytest.mark.parametrize(("n", "sd", "theta"), [(5, 0.5, 0.0), (5, 0.9, 0.3), (12, 1.2, 0.2)])
def test_power_is_what_simulation_gives(n, sd, theta):
    values = np.random.default_rng([11, n]).normal(theta, sd, size=(40_000, n))
    mean, half = values.mean(axis=1), scipy_stats.t.isf(0.05, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    share = np.mean((mean - half > -1) & (mean + half < 1))
    assert power_tost(n, sd, theta, 1.0, 0.05) == pytest.approx(share, abs=3 * np.sqrt(0.25 / 40_000))


@pytest.mark.parametrize("skewed", [False, True])
def test_the_power_of_deterministic_methods_is_what_the_profile_shows_over_queries(skewed):
    """With one row of queries and no seeds, whose differences are normal, or as skewed as those of searches."""
    rng, profile = np.random.default_rng([14, skewed]), replace(CROSSED_2, bootstrap_replicates=1)
    queries, runs, sd = 60, 800, 300
    base, b = np.full(queries, 10_000), np.full((1, queries), 5_000)
    shown = 0
    for _ in range(runs):
        drawn = rng.gamma(4, 0.5, size=queries) - 2 if skewed else rng.normal(size=queries)
        found = effect(Paired(b - np.rint(sd * drawn).astype(np.int64), b, base, (), 0, ()), profile, PP)
        assert found.level == "queries"
        shown += found.outcome in ("equivalent", "different but within the margin")
    # A difference of 100 expansions is one percentage point, and the margin is one.
    assert shown / runs == pytest.approx(power_tost(queries, sd / 100), abs=spread(0.7, runs))
