"""Rows become effects: pairing, sides, levels, and input that has nothing to test."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from late import Late
from support import example_count

from aacbench.errors import UsageError
from aacbench.stats import (
    CROSSED_1,
    ESTIMANDS,
    PAPER_1,
    PROFILES,
    MethodRows,
    effect,
    effect_of_observations,
    effect_of_rows,
    estimand,
    forest_rows,
    pair,
    profile,
    query_tests,
)
from aacbench.stats.combine import adjust
from aacbench.stats.effects import OUTCOMES, four_way
from aacbench.stats.inference import FEW_SEEDS_WARNING
from aacbench.stats.paired import Counts, aligned
from aacbench.stats.power import largest_sd, power_tost, seeds_needed, smallest_delta

multitest = Late("statsmodels.stats.multitest")

PP = estimand("reduction_of_means_pp")
QUERIES = 40
# No expansions of these rows are equal to a least cost, so all of them are equally far from optimal.
OF_ANY_ROWS = [name for name in ESTIMANDS if name != "optimal_pp"]


def rows(name, seeds, *, factor=1.0, deterministic=False, spread=0.1):
    """Expansions of the same queries, `factor` times so many, with a spread that seeds decide."""
    hard = np.random.default_rng(0).lognormal(6, 1, size=QUERIES)
    made = {}
    for seed in seeds:
        noise = np.random.default_rng([seed, len(name)]).lognormal(0, spread, size=QUERIES)
        made[seed] = {query: int(np.ceil(value)) for query, value in enumerate(factor * hard * noise)}
    return MethodRows(name, made, deterministic)


BASE = {query: 10 * count for query, count in rows("x", [1]).by_seed[1].items()}
SEEDS = (1, 2, 3, 4, 5)


def counted(rows, places):
    """The same expansions as arrays."""
    return {seed: Counts(places, np.array(list(row.values()))) for seed, row in rows.by_seed.items()}


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("base", [None, BASE])
def test_counts_in_arrays_are_paired_as_any_are(deterministic, base):
    places = {query: query for query in range(QUERIES)}
    a, b = rows("a", SEEDS[:1] if deterministic else SEEDS, deterministic=deterministic), rows("bb", SEEDS[1:])
    arrays = [dataclasses.replace(side, by_seed=counted(side, dict(places))) for side in (a, b)]
    array_base = None if base is None else Counts(places, np.array(list(base.values())))
    assert aligned([array_base or {}, *arrays[0].by_seed.values()]) is not None or base is None
    for found, wanted in zip(
        dataclasses.astuple(pair(*arrays, array_base)), dataclasses.astuple(pair(a, b, base)), strict=True
    ):
        assert np.array_equal(found, wanted)
    assert aligned([Counts(places, np.arange(QUERIES)), Counts({1: 0}, np.arange(1))]) is None


def test_queries_that_one_side_did_not_answer_with_every_seed_are_left_out():
    a, b = rows("a", SEEDS), rows("bb", SEEDS)
    a.by_seed[2][7] = None
    del b.by_seed[4][9]
    paired = pair(a, b, {**BASE, 11: None})
    assert (paired.a.shape, paired.queries, paired.left_out) == ((5, QUERIES - 3), QUERIES - 3, 3)
    kept = [query for query in range(QUERIES) if query not in (7, 9, 11)]
    assert paired.a[1].tolist() == [a.by_seed[2][query] for query in kept]
    assert paired.b[1].tolist() == [b.by_seed[2][query] for query in kept]


def test_a_deterministic_method_serves_for_every_seed_of_the_other():
    alt = rows("alt", [42], deterministic=True)
    for paired in (pair(alt, rows("b", SEEDS)), pair(rows("b", SEEDS), alt)):
        assert (paired.seeds, paired.a.shape) == (SEEDS, (5, QUERIES))
    assert (pair(alt, rows("b", SEEDS)).a == list(alt.by_seed[42].values())).all()


def test_other_methods_meet_on_common_seeds():
    paired = pair(rows("a", (1, 2, 3)), rows("b", (2, 3, 4)))
    assert (paired.seeds, paired.unpaired_seeds) == ((2, 3), (1, 4))
    with pytest.raises(UsageError, match="no seed in common"):
        pair(rows("a", (1,)), rows("b", (2,)))
    with pytest.raises(UsageError, match="b has no rows"):
        pair(rows("a", (1,)), MethodRows("b", {}))


@pytest.mark.parametrize("label", PROFILES)
@pytest.mark.parametrize("name", OF_ANY_ROWS)
def test_swapping_the_sides_turns_the_effect_around(label, name):
    a, b = rows("a", SEEDS, factor=1.3), rows("bb", SEEDS)
    one, other = (effect_of_rows(*sides, profile(label), estimand(name), BASE) for sides in ((a, b), (b, a)))
    ratio = one.null == 1
    assert other.estimate == pytest.approx(1 / one.estimate if ratio else -one.estimate)
    turned = [1 / end if ratio else -end for end in reversed(one.interval95)]
    assert other.interval95 == pytest.approx(turned, rel=1e-6)  # between two draws of a bootstrap, a straight line
    assert other.outcome == one.outcome == "different"
    assert not estimand(name).favours_a(one.estimate)
    assert estimand(name).favours_a(other.estimate)


def test_the_crossed_estimate_is_exactly_the_papers():
    a, b = rows("a", SEEDS, factor=1.1), rows("alt", [9], deterministic=True)
    paper, both = (effect_of_rows(a, b, known, PP, BASE) for known in (PAPER_1, CROSSED_1))
    assert both.estimate == pytest.approx(paper.estimate, rel=1e-12)
    assert (paper.level, both.level) == ("seeds", "seeds and queries")
    assert both.se > paper.se  # queries vary too


def test_both_deterministic_is_inferred_over_queries_only_and_says_so():
    sides = rows("a", [1], deterministic=True, factor=1.2), rows("bb", [1], deterministic=True)
    found = effect_of_rows(*sides, CROSSED_1, PP, BASE)
    assert (found.status, found.level, found.df, found.seeds) == ("queries only", "queries", QUERIES - 1, 0)
    assert "deterministic" in found.reason
    assert found.outcome in OUTCOMES
    papers = effect_of_rows(*sides, PAPER_1, PP, BASE)
    assert (papers.status, papers.outcome, papers.interval95) == ("not tested", None, None)
    assert papers.estimate == pytest.approx(found.estimate)


def test_one_seed_is_no_sample_of_seeds():
    found = effect_of_rows(rows("a", [1]), rows("bb", [1], deterministic=True), CROSSED_1, PP, BASE)
    assert (found.status, found.seeds, found.sd) == ("queries only", 1, None)
    assert "one seed" in found.reason


@pytest.mark.parametrize("label", PROFILES)
@pytest.mark.parametrize("name", ESTIMANDS)
def test_equal_rows_are_degenerate_with_the_exact_difference(label, name):
    a = rows("a", SEEDS)
    found = effect_of_rows(a, a, profile(label), estimand(name), BASE)
    assert (found.status, found.estimate, found.outcome) == ("degenerate", found.null, None)
    assert (found.p_difference, found.p_tost, found.interval95) == (None, None, None)


def test_what_has_no_estimate_is_undefined_with_the_reason():
    a, b = rows("a", SEEDS), rows("bb", SEEDS)
    assert "dijkstra" in effect_of_rows(a, b, CROSSED_1, PP).reason
    a.by_seed[1][0] = 0
    ratio = effect_of_rows(a, b, CROSSED_1, estimand("geometric_mean_ratio"))
    assert (ratio.status, ratio.estimate) == ("undefined", None)
    assert effect_of_rows(a, b, CROSSED_1, estimand("ratio_of_means")).status == "ok"
    nobody = {seed: dict.fromkeys(range(QUERIES)) for seed in SEEDS}
    assert "0 queries" in effect_of_rows(a, MethodRows("c", nobody), CROSSED_1, PP, BASE).reason
    assert query_tests(pair(a, MethodRows("c", nobody)), CROSSED_1) is None


def test_close_methods_are_equivalent_and_far_ones_are_not():
    b = rows("bb", SEEDS, spread=0.01)
    same = effect_of_rows(rows("a", SEEDS, spread=0.01), b, CROSSED_1, PP, BASE)
    near = effect_of_rows(rows("a", SEEDS, factor=1.05, spread=0.01), b, CROSSED_1, PP, BASE)
    far = effect_of_rows(rows("a", SEEDS, factor=1.4), b, CROSSED_1, PP, BASE)
    assert [found.outcome for found in (same, near, far)] == [
        "equivalent",
        "different but within the margin",
        "different",
    ]
    ratio = effect_of_rows(rows("a", SEEDS, factor=1.08, spread=0.01), b, CROSSED_1, estimand("ratio_of_means"))
    assert (ratio.margin, ratio.outcome) == ((1 / 1.05, 1.05), "different")


def test_outcomes_have_four_ways():
    ways = [four_way(differs, within) for differs in (False, True) for within in (False, True)]
    assert ways == ["inconclusive", "equivalent", "different", "different but within the margin"]
    assert set(ways) == set(OUTCOMES)


def test_profiles_are_frozen_and_spelt_out():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PAPER_1.alpha = 0.1
    for known in PROFILES.values():
        record = json.loads(json.dumps(known.record()))
        assert {field.name for field in dataclasses.fields(known)} == set(record)
        assert record["estimand"]["unit"] == "percentage points"
    changed = dataclasses.replace(CROSSED_1, bytes_tolerance=0.1)
    assert changed.record() != CROSSED_1.record()
    with pytest.raises(UsageError, match="Known are paper/1, crossed/1, crossed/2"):
        profile("paper/2")
    with pytest.raises(UsageError, match="Known are reduction_of_means_pp"):
        estimand("mean")


def test_families_leave_out_what_has_no_p_value():
    ps = [0.01, None, 0.04, 0.03]
    assert adjust("holm", ps) == pytest.approx([0.03, None, 0.06, 0.06])
    assert adjust("bh", ps) == pytest.approx([0.03, None, 0.04, 0.04])
    assert adjust("by", ps) == pytest.approx([0.03 * 11 / 6, None, 0.04 * 11 / 6, 0.04 * 11 / 6])
    assert adjust("bh", [None]) == [None]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@example_count(30)
def test_holm_is_that_of_statsmodels(ps):
    assert adjust("holm", ps) == multitest.multipletests(ps, method="holm")[1].tolist()


def test_forest_rows_are_the_tables_numbers():
    found = effect(pair(rows("a", SEEDS), rows("alt", [1], deterministic=True), BASE), CROSSED_1, PP)
    (row,) = forest_rows([("grid 32", found)], {"grid 32": (2.0, 6.0)})
    assert (row.estimate, row.interval90, row.interval95) == (found.estimate, found.interval90, found.interval95)
    assert (row.margin, row.label, row.band, len(row.seeds)) == ((-1, 1), found.outcome, (2.0, 6.0), 5)
    assert np.mean(row.seeds) == pytest.approx(row.estimate)


@pytest.mark.parametrize(("seeds", "warned"), [(2, True), (4, True), (5, False)])
def test_few_seeds_come_with_a_caution(seeds, warned):
    found = effect(pair(rows("a", SEEDS[:seeds]), rows("alt", [1], deterministic=True), BASE), CROSSED_1, PP)
    assert (found.caution == FEW_SEEDS_WARNING) == warned
    over_seeds = effect(pair(rows("a", SEEDS[:seeds]), rows("alt", [1], deterministic=True), BASE), PAPER_1, PP)
    assert over_seeds.caution == ""  # its own interval is exact over seeds


def test_power_plans_agree_with_each_other():
    assert largest_sd(5) == pytest.approx(0.62, abs=0.005)  # five seeds, a margin of one point
    delta = smallest_delta(5, 1.2, theta=0.1)
    assert power_tost(5, 1.2, 0.1, delta) == pytest.approx(0.8)
    needed = seeds_needed(1.586)
    assert (needed, power_tost(needed, 1.586) >= 0.8, power_tost(needed - 1, 1.586) >= 0.8) == (23, True, False)
    assert seeds_needed(0.5, theta=1.0) is None
    with pytest.raises(UsageError):
        power_tost(1, 0.5)


@pytest.mark.parametrize("side", ["a", "b", "base"])
@pytest.mark.parametrize("count", [2**63, float("nan"), float("inf"), -1, 1.5])
def test_expansions_that_are_no_counts_are_an_error(side, count):
    a, b, base = rows("a", SEEDS), rows("b", SEEDS), dict(BASE)
    {"a": a.by_seed[3], "b": b.by_seed[3], "base": base}[side][7] = count
    name = "dijkstra" if side == "base" else side
    with pytest.raises(UsageError, match=rf"^The expansions of {name} must be whole numbers from 0 to below 2\^63;"):
        effect_of_rows(a, b, CROSSED_1, PP, base)


def large(least, most):
    """Nine seeds and three queries that differ little, and the means of Dijkstra as large as the largest."""
    a, b = ({seed: {query: value - 3 * query for query in range(3)} for seed in range(9)} for value in (least, most))
    return pair(MethodRows("a", a), MethodRows("b", b), dict.fromkeys(range(3), most))


def test_the_largest_counts_do_not_overflow():
    paired = large(9, 2**63 - 1)
    assert effect(paired, CROSSED_1, PP).estimate == pytest.approx(100, rel=1e-12)
    summed = query_tests(paired, CROSSED_1).summed
    assert (summed.positive, summed.rank_biserial) == (0.0, -1.0)


def test_a_small_difference_of_large_counts_is_not_lost():
    paired = large(2**62, 2**62 + 2**40)
    assert effect(paired, CROSSED_1, PP).estimate == pytest.approx(100 / 2**22, rel=1e-6)
    near = query_tests(large(2**62, 2**62 + 1), CROSSED_1)
    assert (near.summed.zeros, near.summed.rank_biserial, near.location.estimate) == (0, -1.0, -1.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("at", [0, 1])
def test_published_values_must_be_finite(value, at):
    values = [[80.0, 81.0, 82.0], [79.0, 80.0, 80.0]]
    values[at][1] = value
    with pytest.raises(UsageError, match=r"^A published value is not a finite number; leave"):
        effect_of_observations(*values, PAPER_1, PP)


def test_published_values_of_a_ratio_must_be_above_zero():
    with pytest.raises(UsageError, match=r"^ratio_of_means divides by published values, so each must be above 0"):
        effect_of_observations([1.0, 2.0], [1.0, 0.0], CROSSED_1, estimand("ratio_of_means"))


def few(name, seeds, queries, factor=1):
    made = {
        seed: {query: 10 * factor + (1 + query) ** factor + seed for query in range(queries)} for seed in range(seeds)
    }
    return MethodRows(name, made)


@pytest.mark.parametrize("name", ["median_ratio", "hodges_lehmann"])
@pytest.mark.parametrize(
    ("seeds", "queries", "resamples"),
    [(1, 4, 35), (2, 2, 9), (2, 3, 30), (3, 2, 30), (1, 5, 126), (2, 4, 105), (3, 3, 100)],
)
def test_a_bootstrap_needs_enough_distinct_resamples(name, seeds, queries, resamples):
    found = effect_of_rows(few("a", seeds, queries), few("b", seeds, queries, 2), CROSSED_1, estimand(name))
    assert found.estimate is not None
    if resamples >= 40:
        assert found.outcome in OUTCOMES
        assert found.interval95 == found.bootstrap95
    else:
        assert (found.status, found.outcome) == ("not enough data", None)
        assert (found.interval95, found.bootstrap95) == (None, None)
        assert f"{resamples} distinct bootstrap resamples, and a 95 % interval needs 40; run more" in found.reason


def test_no_bootstrap_interval_stands_beside_a_t_test_of_too_few_rows():
    found = effect_of_rows(few("a", 2, 2), few("b", 2, 2, 2), CROSSED_1, estimand("ratio_of_means"))
    assert found.interval95 is not None
    assert found.bootstrap95 is None


def test_variation_that_cancels_out_is_not_enough_data():
    crosswise = MethodRows("a", {1: {0: 10, 1: 20}, 2: {0: 20, 1: 10}})
    found = effect_of_rows(crosswise, few("b", 2, 2), CROSSED_1, estimand("ratio_of_means"))
    assert found.outcome in OUTCOMES
    even = MethodRows("b", {1: {0: 15, 1: 15}}, deterministic=True)
    found = effect_of_rows(crosswise, even, CROSSED_1, estimand("ratio_of_means"))
    assert (found.estimate, found.status, found.interval95) == (1, "not enough data", None)
    assert "run more seeds or queries" in found.reason


@pytest.mark.parametrize("name", OF_ANY_ROWS)
def test_intervals_of_the_papers_profile_are_around_the_mean_of_the_seeds(name):
    kind = estimand(name)
    found = effect_of_rows(rows("a", SEEDS, spread=1), rows("bb", SEEDS, spread=1), PAPER_1, kind, BASE)
    assert kind.working(found.interval95).mean() == pytest.approx(kind.working(found.per_seed).mean())
    assert not found.bootstrapped
