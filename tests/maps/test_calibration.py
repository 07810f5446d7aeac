"""Calibrated statements: ranks by hand, laws by simulation, and no number where there are too few maps."""

import numpy as np
import pytest

from aacbench.maps.calibration import (
    ambiguity,
    band_statement,
    rank,
    ratios,
    regret_statement,
    selective_statement,
    upper_bound,
)


@pytest.mark.parametrize(
    ("count", "alpha", "expected"), [(9, 0.1, 9), (8, 0.1, None), (19, 0.05, 19), (99, 0.1, 90), (300, 0.1, 271)]
)
def test_the_rank_is_that_of_split_conformal_prediction(count, alpha, expected):
    assert rank(count, alpha) == expected


def test_a_bound_is_the_score_at_its_rank():
    scores = np.array([5.0, 1.0, 3.0, 2.0, 4.0, 9.0, 8.0, 7.0, 6.0])
    assert upper_bound(scores, 0.1) == 9.0
    assert upper_bound(scores, 0.2) == 8.0
    assert upper_bound(scores[:8], 0.1) is None


def test_too_few_calibration_maps_give_no_number():
    few, test = np.ones(8), np.ones(50)
    told = regret_statement(few, test, 0.1)
    assert (told.calibration, told.bound, told.held, told.broken) == (8, None, None, None)
    band, a = band_statement(few, few, test, test, 0.1)
    assert band.bound is None
    assert np.isnan(a)
    assert selective_statement(few, few > 0, test, test > 0, 0.1).bound is None


def test_bounds_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    held = [regret_statement(rng.random(60), rng.random(40), 0.1).held for _ in range(400)]
    assert 0.89 < np.mean(held) < 0.93
    low, high = (rng.random((400, 100)) for _ in range(2))
    bands = [
        band_statement(l[:60], 1 + h[:60], l[60:], 1 + h[60:], 0.1)[0].held for l, h in zip(low, high, strict=True)
    ]
    assert 0.89 < np.mean(bands) < 0.95


def test_a_shift_is_called_broken_and_chance_is_not():
    rng = np.random.default_rng(2)
    same = [regret_statement(rng.random(200), rng.random(200), 0.1).broken for _ in range(300)]
    assert sum(same) <= 3
    assert regret_statement(rng.random(200), 0.3 + rng.random(200), 0.1).broken


def test_the_selective_statement_breaks_in_at_most_one_study_of_ten():
    """Errors are as likely as the score is high; the risk of what is issued is known."""
    rng = np.random.default_rng(3)
    broken = issued = 0
    for _ in range(2000):
        scores, new = rng.random(120), rng.random(4000)
        told = selective_statement(scores, rng.random(120) > 0.2 * scores, new, rng.random(4000) > 0.2 * new, 0.1)
        if told.bound:
            issued += 1
            broken += 0.2 * told.bound / 2 > 0.1  # the mean error below the threshold, which is the issued share
    assert issued > 500
    assert broken <= 0.1 * 2000


def test_nothing_is_issued_where_nothing_can_be_shown():
    rng = np.random.default_rng(4)
    scores = rng.random(300)
    assert selective_statement(scores, rng.random(300) > 0.5, scores, scores > 0, 0.05).bound is None
    perfect = selective_statement(scores, scores >= 0, scores, scores >= 0, 0.02)
    assert (perfect.bound, perfect.held, perfect.broken) == (1.0, 1.0, False)


def test_ratios_are_of_true_to_predicted_costs():
    low, high = ratios(np.array([[[8, 12], [53, 92]]]), np.array([[[8192, 24576], [54272, 47104]]]), 1024)
    assert low.tolist() == [0.5]
    assert high.tolist() == [2.0]


def test_ambiguity_is_one_half_way_between_two_costs():
    values = np.array([10, 20, 60])
    assert ambiguity(np.array([[[10, 15]], [[21, 60]], [[20, 50]], [[5, 60]], [[80, 60]]]), values).tolist() == [
        1.0,
        0.05,
        0.5,
        1.0,
        1.0,
    ]
