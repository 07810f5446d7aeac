"""The published per-run records of the AAC paper, and what the named libraries made of them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from late import Late

from aacbench.stats import CROSSED_1, PAPER_1, MethodRows, effect_of_observations, effect_of_rows, estimand, pair
from aacbench.stats.combine import combine, query_tests, stouffer_z
from aacbench.stats.inference import crossed
from aacbench.stats.power import power_tost
from aacbench.stats.profiles import ratio_allowed
from aacbench.stats.ranks import hodges_lehmann, wilcoxon

pingouin = Late("pingouin")
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "stats.json").read_text(encoding="utf-8"))
PP = estimand("reduction_of_means_pp")
WORDS = {"different_but_negligible": "different but within the margin"}
# Values that a t or normal distribution was evaluated for agree to this; sums of them to a little less.
NEAR = {"rel": 1e-9, "abs": 1e-13}


def cases(group):
    return [pytest.param(case, id=case.get("id", str(case["inputs"]))) for case in GOLDEN[group]]


@pytest.mark.parametrize("case", cases("tost"))
def test_tost_cells(case):
    inputs, wanted = case["inputs"], case["expected"]
    found = effect_of_observations(inputs["method"], inputs["comparator"], PAPER_1, PP)
    assert (found.margin, found.status, found.seeds) == ((inputs["low"], inputs["upp"]), "ok", wanted["n"])
    assert found.estimate == pytest.approx(wanted["mean_diff"], **NEAR)
    assert (found.sd, found.se, found.df) == pytest.approx((wanted["sd_ddof1"], wanted["se"], wanted["df"]), **NEAR)
    assert found.interval90 == pytest.approx(wanted["ci90"], **NEAR)
    assert found.interval95 == pytest.approx(wanted["ci95"], **NEAR)
    ps = found.p_lower, found.p_upper, found.p_tost, found.p_difference
    names = "p_lower", "p_upper", "p_tost", "p_ttest_two_sided"
    assert ps == pytest.approx([wanted[name] for name in names], **NEAR)
    assert found.outcome == WORDS.get(wanted["four_way"], wanted["four_way"])
    assert (found.p_tost < inputs["alpha"]) is wanted["equivalent"]


@pytest.mark.parametrize("case", cases("tost"))
def test_pingouin_agrees_on_tost(case):
    inputs = case["inputs"]
    found = effect_of_observations(inputs["method"], inputs["comparator"], PAPER_1, PP)
    other = pingouin.tost(inputs["method"], inputs["comparator"], bound=float(inputs["upp"]), paired=True)
    assert found.p_tost == pytest.approx(float(other["pval"].iloc[0]), **NEAR)


@pytest.mark.parametrize("case", cases("tost"))
def test_ratios_over_seeds(case):
    # The golden ratios are of unrounded means, and the inputs here have two decimals.
    inputs, wanted = case["inputs"], case["relative_expansions_AAC_over_ALT"]
    left = [100 - np.array(inputs[side]) for side in ("method", "comparator")]
    found = effect_of_observations(*left, CROSSED_1, estimand("ratio_of_means"))
    assert found.estimate == pytest.approx(wanted["gm_ratio_over_seeds"], rel=2e-3)
    assert found.interval90 == pytest.approx(wanted["ci90"], rel=2e-3)
    allowed = ratio_allowed(1, inputs["comparator"][0])
    assert allowed == pytest.approx(wanted["ratio_that_delta_1pp_would_allow"], **NEAR)


@pytest.mark.parametrize("case", cases("tost"))
def test_seed_level_signed_ranks(case):
    found = wilcoxon(*(np.array(case["inputs"][side]) for side in ("method", "comparator")), method="exact")
    assert found.p == pytest.approx(case["expected"]["wilcoxon_seed_level_p_exact"], **NEAR)


COMBINED = {
    "fisher": "fisher_p",
    "stouffer": "stouffer_scipy_p",
    "stouffer-absz": "stouffer_paper_absz_p",
    "stouffer-signed": "stouffer_signed_p_two_sided",
    "cauchy": "cauchy_two_sided_p",
    "cauchy-directional": "cauchy_directional_ALT_ahead_p",
    "bonferroni": "bonferroni_min_p",
    "twice-mean": "twice_mean_p",
    "twice-median": "twice_median_p",
}


@pytest.mark.parametrize("name", COMBINED)
@pytest.mark.parametrize("case", cases("combine"))
def test_combinations_over_seeds(case, name):
    inputs, wanted = case["inputs"], case["expected"]
    found = combine(name, inputs["p_two_sided"], inputs["direction"])
    assert found.p == pytest.approx(wanted[COMBINED[name]], rel=1e-9, abs=0)
    assert bool(found.warning) == (name == "stouffer-absz" or (name == "cauchy" and 0.01 <= found.p < 0.05))


@pytest.mark.parametrize("case", cases("combine"))
def test_signed_z_and_the_published_record(case):
    inputs, record = case["inputs"], case["reference_csv"]
    z = stouffer_z(np.array(inputs["p_two_sided"]), np.array(inputs["direction"]))
    assert z == pytest.approx(case["expected"]["stouffer_signed_z"], **NEAR)
    published = [combine(name, inputs["p_two_sided"]).p for name in ("fisher", "stouffer-absz")]
    assert published == pytest.approx([record["fisher"], record["stouffer"]], rel=1e-9, abs=0)


@pytest.mark.parametrize("case", cases("wilcoxon_per_query"))
def test_signed_ranks_over_queries(case):
    a, b = (np.array(case["inputs"][side]) for side in ("method", "comparator"))
    found, wanted = wilcoxon(a, b), case["expected"]
    assert (found.n, found.zeros) == (wanted["n"], wanted["n_zero"])
    assert (found.statistic, found.positive) == (wanted["W_two_sided_min"], wanted["W_plus"])
    assert (found.p, found.z) == pytest.approx((wanted["p_two_sided"], wanted["z"]), **NEAR)
    assert found.rank_biserial == pytest.approx(wanted["rank_biserial_pingouin"], **NEAR)
    assert hodges_lehmann(a - b).estimate == wanted["hodges_lehmann"]
    for zeros in ("wilcox", "pratt", "zsplit"):
        assert wilcoxon(a, b, zero_method=zeros).p == pytest.approx(wanted["p_two_sided_by"][zeros], **NEAR)


@pytest.mark.parametrize("case", cases("wilcoxon_per_query"))
def test_estimands_diverge_on_the_same_rows(case):
    a, b = (np.array(case["inputs"][side])[None] for side in ("method", "comparator"))
    names = {"ratio_of_means": "ratio_of_means", "geometric_mean_ratio": "geometric_mean_ratio"}
    names |= {"median_ratio": "ratio_of_medians", "hodges_lehmann": "hodges_lehmann"}
    for name, key in names.items():
        assert estimand(name).formula(a, b, None) == pytest.approx(case["expected"][key], **NEAR)


def sbm_rows():
    """The rows of all seeds, as a store would give them."""
    by_seed = {int(case["id"].split("/")[-1]): case["inputs"] for case in GOLDEN["wilcoxon_per_query_sbm"]}
    first = next(iter(by_seed.values()))
    aac = MethodRows("aac", {seed: dict(enumerate(inputs["method"])) for seed, inputs in by_seed.items()})
    alt = MethodRows("alt", {42: dict(enumerate(first["comparator"]))}, deterministic=True)
    return aac, alt, dict(enumerate(first["dijkstra"]))


def test_signed_ranks_and_reductions_seed_by_seed():
    paired = pair(*sbm_rows())
    tests = query_tests(paired, PAPER_1)
    effect = effect_of_rows(*sbm_rows()[:2], PAPER_1, PP, sbm_rows()[2])
    for found, reduction, case in zip(tests.per_seed, effect.per_seed, GOLDEN["wilcoxon_per_query_sbm"], strict=True):
        wanted = case["expected"]
        assert (found.statistic, found.zeros) == (wanted["W"], wanted["n_zero"])
        assert (found.p, reduction) == pytest.approx(
            (wanted["p_two_sided"], wanted["reduction_of_means_diff_pp"]), **NEAR
        )


def test_the_crossed_analysis():
    (case,) = GOLDEN["crossed"]
    wanted, paired = case["expected"], pair(*sbm_rows())
    table = crossed(PP.linear(paired.a, paired.b, paired.base))
    squares = [float(value) for value in (table.ms_seed, table.ms_query, table.ms_resid)]
    assert squares == pytest.approx([wanted[name] for name in ("MS_seed", "MS_query", "MS_resid")], **NEAR)
    found = effect_of_rows(*sbm_rows()[:2], CROSSED_1, PP, sbm_rows()[2])
    names = {"mean_pp": found.estimate, "se": found.se, "df": found.df, "p_lower": found.p_lower}
    names |= {"p_upper": found.p_upper, "p_two_sided": found.p_difference}
    assert names == pytest.approx({name: wanted[name] for name in names}, **NEAR)
    assert found.interval90 == pytest.approx(wanted["ci90"], **NEAR)
    seeds_alone = effect_of_rows(*sbm_rows()[:2], PAPER_1, PP, sbm_rows()[2])
    assert seeds_alone.estimate == pytest.approx(found.estimate, **NEAR)
    assert seeds_alone.se == pytest.approx(wanted["se_seed_level"], **NEAR)


def test_sums_over_seeds_are_tested_as_whole_numbers():
    (case,) = GOLDEN["crossed"]
    wanted, paired = case["expected"], pair(*sbm_rows())
    tests = query_tests(paired, PAPER_1)
    assert tests.summed.p == pytest.approx(wanted["wilcoxon_on_seed_sum_integer_p"], **NEAR)
    assert tests.p_of("fisher") == pytest.approx(wanted["fisher_p"], **NEAR)
    in_points = PP.linear(paired.a, paired.b, paired.base).mean(axis=0)
    rounded = wilcoxon(in_points, np.zeros_like(in_points))
    assert rounded.p == pytest.approx(wanted["same_on_float_means_roundoff_trap"], **NEAR)
    assert rounded.p != pytest.approx(tests.summed.p, rel=1e-3)


@pytest.mark.parametrize("case", cases("tost_power"))
def test_power(case):
    assert power_tost(**case["inputs"]) == pytest.approx(case["expected_power"], rel=case["rtol"])


@pytest.mark.parametrize("case", cases("prereg_verdicts"))
def test_intervals_that_predictions_are_judged_by(case):
    differences, wanted = case["inputs"]["diffs_pp"], case["expected"]
    found = effect_of_observations(differences, np.zeros(len(differences)), PAPER_1, PP)
    assert (found.estimate, found.sd) == pytest.approx((wanted["mean"], wanted["sd_ddof1"]), **NEAR)
    assert found.interval95 == pytest.approx(wanted["ci95"], **NEAR)


def edge(name):
    return next(case["inputs"] for case in GOLDEN["edge_cases"] if case["id"] == f"edge/{name}")


def test_equal_values_are_degenerate_and_have_no_p_value():
    inputs = edge("tost_zero_variance_inside")
    found = effect_of_observations(inputs["method"], inputs["comparator"], PAPER_1, PP)
    assert (found.status, found.estimate, found.p_tost, found.p_difference) == ("degenerate", 0, None, None)
    assert (found.outcome, found.interval95) == (None, None)


@pytest.mark.parametrize("name", ["wilcoxon_all_zero_n5", "wilcoxon_all_zero_n60"])
def test_all_zero_differences(name):
    zeros = np.array(edge(name)["diffs"])
    found = wilcoxon(zeros, zeros)
    assert (found.p, found.zeros, found.status) == (1, len(zeros), "all_zero")


def test_a_p_value_of_one_is_warned_of():
    ps = edge("stouffer_p_equal_1")["p"]
    found = combine("stouffer", ps)
    assert found.p == 1
    assert "exactly 1" in found.warning
    assert 0 < combine("fisher", ps).p < 1
    assert math.isfinite(
        stouffer_z(np.array(ps), np.array([1, -1]))
    )  # half of two-sided 1 is the middle: nothing is clipped


def test_five_seeds_cannot_reach_the_level_by_signed_ranks():
    differences = np.array(edge("seed_level_wilcoxon_n5")["diffs"])
    assert wilcoxon(differences, np.zeros(5), method="exact").p == 0.0625


def test_bounds_of_any_number_type_serve():
    ones = effect_of_observations(np.array([1, 2, 4]), np.array([1, 1, 2]), PAPER_1, PP)
    assert ones.p_tost == pytest.approx(float(pingouin.tost([1, 2, 4], [1, 1, 2], 1.0, paired=True)["pval"].iloc[0]))
