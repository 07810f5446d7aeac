"""Statements about true costs, calibrated on maps that no training saw: they hold for new maps like those, by chance.

A statement at `alpha` holds on a new map with probability 1 - alpha. It is available only with enough calibration maps.
"""

import math
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array

CONFIDENCE = 0.9  # of the selective statement
SHARES = (50, 60, 70, 80, 90, 100)  # percent of the calibration maps at which the selective statement is tried
BROKEN = 0.001  # a realised share below this point of its law is called broken
MOST_VALUES = 16  # distinct training costs, for the selective statement


@dataclass(frozen=True, slots=True)
class Statement:
    """A calibrated statement and how often it held on the test maps; all but the first three are None if not available.

    `bound` is the largest ratio of costs it allows; of the selective one, the share of test maps it is made for.
    """

    kind: str
    alpha: float
    calibration: int
    test: int
    bound: float | None = None
    held: float | None = None
    broken: bool | None = None


def rank(count: int, alpha: float) -> int | None:
    """Return which of the ordered scores bounds a new one with probability 1 - alpha; None if there are too few."""
    wanted = math.ceil((count + 1) * (1 - alpha) - 1e-9)  # without the slack, 0.9 * 10 is more than 9
    return wanted if wanted <= count else None


def upper_bound(scores: Array, alpha: float) -> float | None:
    at = rank(len(scores), alpha)
    return None if at is None else float(np.sort(scores)[at - 1])


def regret_statement(calibration: Array, test: Array, alpha: float) -> Statement:
    """The path found costs at most `bound` times the least; scores are true cost / least true cost."""
    bound = upper_bound(calibration, alpha)
    told = Statement("regret", alpha, len(calibration), len(test))
    if bound is None:
        return told
    held = float((test <= bound).mean())
    return _stated(told, bound, held, rank(len(calibration), alpha))


def band_statement(low: Array, high: Array, test_low: Array, test_high: Array, alpha: float) -> tuple[Statement, float]:
    """Every true cost lies between a and b times the predicted one, so the path costs at most b/a times the least.

    `low` and `high` are the least and the largest ratio of a true cost to its prediction on each map. Also returns a.
    """
    told = Statement("band", alpha, len(low), len(test_low))
    largest, smallest = upper_bound(high, alpha / 2), upper_bound(-low, alpha / 2)
    if largest is None or smallest is None:
        return told, math.nan
    a = -smallest
    held = float(((test_low >= a) & (test_high <= largest)).mean())
    # Two one-sided statements at alpha / 2 hold together at least as often as one at alpha.
    return _stated(told, largest / a, held, rank(len(low), alpha)), a


def selective_statement(
    scores: Array, optimal: Array, test_scores: Array, test_optimal: Array, alpha: float
) -> Statement:
    """Where a map's score is low enough, its path is of least true cost, but for a share `alpha` of such maps.

    The threshold is the last that passes, in the order of `SHARES`: an exact binomial test that too many errors are
    among the calibration maps below it, at the confidence `CONFIDENCE`.
    """
    from scipy.stats import binom

    told = Statement("selective", alpha, len(scores), len(test_scores))
    threshold = None
    for share in SHARES:
        limit = float(np.sort(scores)[max(0, math.ceil(share / 100 * len(scores)) - 1)])
        below = scores <= limit
        errors = int((~optimal[below]).sum())
        if binom.cdf(errors, int(below.sum()), alpha) > 1 - CONFIDENCE:
            break
        threshold = limit
    if threshold is None:
        return told
    issued = test_scores <= threshold
    if not issued.any():
        return Statement("selective", alpha, len(scores), len(test_scores), 0.0)
    right = int(test_optimal[issued].sum())
    broken = bool(right < binom.ppf(BROKEN, int(issued.sum()), 1 - alpha))
    held = right / int(issued.sum())
    return Statement("selective", alpha, len(scores), len(test_scores), float(issued.mean()), held, broken)


def ratios(truth: Array, predicted: Array, scale: int) -> tuple[Array, Array]:
    """Return the least and the largest ratio of a true cost to its prediction on each map."""
    found = (truth.astype(np.int64) * scale / predicted).reshape(len(truth), -1)
    return found.min(axis=1), found.max(axis=1)


def ambiguity(predicted: Array, values: Array) -> Array:
    """Return for each map how far its most doubtful prediction is from the nearest of these costs, in half gaps.

    1 is half way to the next cost. Beyond the smallest and the largest cost the gap is that inside.
    """
    known = np.sort(values.astype(np.float64))
    flat = predicted.reshape(len(predicted), -1).astype(np.float64)
    nearest = np.abs(flat[..., None] - known).argmin(axis=-1)
    gaps = np.diff(known)
    above = np.append(gaps, gaps[-1:])[nearest]
    below = np.insert(gaps, 0, gaps[:1])[nearest]
    off = flat - known[nearest]
    return np.abs(off / (np.where(off > 0, above, below) / 2)).max(axis=1)


def _stated(told: Statement, bound: float, held: float, at: int | None) -> Statement:
    """Call a statement broken if it held less often than its law makes likely, given its calibration maps."""
    from scipy.stats import betabinom

    assert at is not None
    least = betabinom.ppf(BROKEN, told.test, at, told.calibration + 1 - at)
    broken = bool(round(held * told.test) < least)
    return Statement(told.kind, told.alpha, told.calibration, told.test, bound, held, broken)
