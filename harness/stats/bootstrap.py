"""The two-way bootstrap: seeds and queries are drawn anew, each with replacement, and every pair of them kept."""

from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.stats.estimands import Estimand
from aacbench.stats.paired import Paired

Array = npt.NDArray[Any]
AT_ONCE = 4_000_000  # rows held in memory
# What the 95 % interval covers, by seeds, where hardly anything but the seeds varies.
COVERED = {2: 0.55, 3: 0.73, 5: 0.83, 10: 0.88}
BOOTSTRAP_WARNING = (
    "Intervals by bootstrap are too narrow where seeds differ much, because few seeds drawn anew vary less than others "
    f"would: 95 % is then {100 * COVERED[10]:.0f} % with ten seeds, {100 * COVERED[5]:.0f} % with five and "
    f"{100 * COVERED[2]:.0f} % with two."
)


def two_way(paired: Paired, estimand: Estimand, *, replicates: int, seed: int) -> Array:
    """The estimand of each replicate; with one seed only the queries are drawn."""
    rng = np.random.default_rng(seed)
    seeds, queries = paired.a.shape
    step = max(1, AT_ONCE // paired.a.size)
    parts = [
        _draw(paired, estimand, rng, (min(step, replicates - done), seeds, queries))
        for done in range(0, replicates, step)
    ]
    return np.concatenate(parts)


def percentile_interval(draws: Array, level: float) -> tuple[float, float]:
    """The middle share of the draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _draw(paired: Paired, estimand: Estimand, rng: np.random.Generator, shape: tuple[int, int, int]) -> Array:
    count, seeds, queries = shape
    which_seeds = rng.integers(seeds, size=(count, seeds, 1))
    which_queries = rng.integers(queries, size=(count, 1, queries))
    base = None if paired.base is None else paired.base[which_queries[:, 0, :]]
    return estimand.formula(paired.a[which_seeds, which_queries], paired.b[which_seeds, which_queries], base)
