"""Power of two one-sided t-tests on paired differences, by exact integration over the sample's spread.

The differences are one for each seed, or for each query where both methods are deterministic.
"""

import math

import scipy  # whose parts are imported when they are first used

from aacbench.errors import UsageError

TARGET_POWER = 0.8
MOST_SEEDS = 10_000


def power_tost(n: int, sd: float, theta: float = 0.0, delta: float = 1.0, alpha: float = 0.05) -> float:
    """Return the probability that n differences of mean theta and this sd are shown to be within delta."""
    if n < 2 or sd <= 0 or delta <= 0 or not 0 < alpha < 0.5:
        raise UsageError("Power needs at least two seeds, a spread and a margin above zero, and alpha below 0.5.")
    df, se = n - 1, sd / math.sqrt(n)
    critical, room, shift = float(scipy.stats.t.isf(alpha, df)), delta / se, theta / se
    scale = math.log(2) + df / 2 * math.log(df / 2) - scipy.special.gammaln(df / 2)

    def accepted(u: float) -> float:
        # u is the sample's spread divided by the true one; this is P(equivalent | u) times the density of u.
        left = room - critical * u
        density = math.exp(scale + (df - 1) * math.log(u) - df * u * u / 2)
        return float((scipy.special.ndtr(left - shift) - scipy.special.ndtr(-left - shift)) * density)

    # Beyond room / critical no mean is accepted; outside least..most the density of u is negligible.
    least, most = (float(scipy.stats.chi.ppf(q, df)) / math.sqrt(df) for q in (1e-15, 1 - 1e-15))
    top = min(room / critical, most)
    return float(scipy.integrate.quad(accepted, min(least, top), top, epsabs=1e-12, limit=200)[0])


def smallest_delta(n: int, sd: float, theta: float = 0.0, alpha: float = 0.05, power: float = TARGET_POWER) -> float:
    """Return the smallest margin within which equivalence is shown with this power."""
    start = abs(theta) + sd / math.sqrt(n)
    top = start
    while power_tost(n, sd, theta, top, alpha) < power:
        top *= 2
    bottom = 1e-9 * start
    return float(scipy.optimize.brentq(lambda delta: power_tost(n, sd, theta, delta, alpha) - power, bottom, top))


def seeds_needed(
    sd: float, theta: float = 0.0, delta: float = 1.0, alpha: float = 0.05, power: float = TARGET_POWER
) -> int | None:
    """Return the fewest seeds with this power, or None if even MOST_SEEDS are too few, as for theta at the margin."""
    if power_tost(MOST_SEEDS, sd, theta, delta, alpha) < power:
        return None
    low, high = 1, MOST_SEEDS  # the power at `low` is too small, at `high` sufficient
    while high - low > 1:
        middle = (low + high) // 2
        enough = power_tost(middle, sd, theta, delta, alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def largest_sd(
    n: int, theta: float = 0.0, delta: float = 1.0, alpha: float = 0.05, power: float = TARGET_POWER
) -> float:
    """Return the largest spread between seeds at which n seeds still have this power."""
    if abs(theta) >= delta:
        raise UsageError("The true difference is not within the margin, so no spread gives this power.")
    tiny, huge = 1e-6 * delta, 10 * delta * math.sqrt(n)
    return float(scipy.optimize.brentq(lambda sd: power_tost(n, sd, theta, delta, alpha) - power, tiny, huge))
