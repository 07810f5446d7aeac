"""Corrections for a family of tests; what has no p-value is no part of the family."""

from collections.abc import Sequence

import numpy as np
from scipy import stats as scipy_stats

from aacbench.errors import UsageError

CORRECTIONS = {
    "bh": "Benjamini-Hochberg: false discoveries, under positive dependence",
    "by": "Benjamini-Yekutieli: false discoveries, under any dependence",
    "holm": "Holm: any false rejection, under any dependence",
}


def adjust(name: str, ps: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values in the same order, None where there was none."""
    if name not in CORRECTIONS:
        raise UsageError(f"there is no correction {name!r}; there are {', '.join(CORRECTIONS)}.")
    there = [p for p in ps if p is not None]
    adjusted = iter(_adjusted(name, there) if there else [])
    return [None if p is None else next(adjusted) for p in ps]


def _adjusted(name: str, ps: Sequence[float]) -> list[float]:
    if name == "holm":
        from statsmodels.stats.multitest import multipletests

        return [float(p) for p in multipletests(ps, method="holm")[1]]
    return [float(p) for p in scipy_stats.false_discovery_control(np.asarray(ps), method=name)]
