"""The variance of a mean over seeds and queries that are crossed: every seed meets every query."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
VARIANCE = "(MS_seed + MS_query - MS_resid) / (S Q), at least max(MS_seed, MS_query) / (S Q); Satterthwaite df"

# How often a true null is rejected at a nominal 5 %, by seeds: the most that simulations found, rounded up.
REJECTED = {2: 0.13, 3: 0.08, 4: 0.07, 5: 0.06}
FEW_SEEDS = 5
FEW_SEEDS_WARNING = (
    "With fewer than five seeds the crossed test is too eager where seeds differ much: at a nominal 5 % it "
    f"rejects in up to {100 * REJECTED[4]:.0f} % of cases with four seeds, {100 * REJECTED[3]:.0f} % with three and "
    f"{100 * REJECTED[2]:.0f} % with two."
)


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Mean squares of the two-way table without replication, and the standard error of its mean."""

    mean: Array
    ms_seed: Array
    ms_query: Array
    ms_resid: Array
    se: Array
    df: Array


def crossed(values: Array) -> Crossed:
    """For a table of seeds by queries, two of each at least; further axes before these are kept.

    The floor is there because a difference of mean squares can fall below the variance that seeds or queries alone
    would give; the degrees of freedom are then Satterthwaite's for what is used.
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
    with np.errstate(invalid="ignore"):  # a table without any spread has no degrees of freedom either
        df = used**2 / squares
    return Crossed(mean, ms_seed, ms_query, ms_resid, np.sqrt(used / (seeds * queries)), df)
