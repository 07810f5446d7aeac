"""Tests over queries: signed ranks per seed, combined over seeds, and corrected over a family of comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts are imported when they are first used

from aacbench.errors import UsageError
from aacbench.stats.paired import Array, Paired
from aacbench.stats.profiles import Profile
from aacbench.stats.ranks import Location, Wilcoxon, hodges_lehmann, wilcoxon

Formula = Callable[[Array, Array], Array]  # of p-values and their directions, along the last axis

ABSZ_WARNING = (
    "stouffer-absz is the paper's: it adds z-values without their signs, so seeds that contradict each other count "
    "as agreement. With five seeds and no effect it rejects in 36 % of cases at a nominal 5 %."
)
# Type I error of cauchy on dependent p-values, by nominal level: the worst case in simulation.
CAUCHY_REJECTED = {0.05: 0.06, 0.01: 0.0125}
CAUCHY_WARNING = (
    "cauchy keeps small levels under any dependence, but at a nominal 5 % it rejects in up to "
    f"{100 * CAUCHY_REJECTED[0.05]:.0f} % of cases."
)
ONE_WARNING = "A p-value of exactly 1 decides {name} alone; look at the seeds one by one."


@dataclass(frozen=True, slots=True)
class Combined:
    """A combined two-sided p-value, and what to know before using it."""

    name: str
    p: float
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Combination:
    """A way to combine p-values."""

    name: str
    formula: Formula
    signed: bool = False
    warning: str = ""
    decided_by_one: bool = False
    near_level: str = ""  # the warning for 0.01 <= p < 0.05


def stouffer_z(ps: Array, directions: Array) -> Array:
    return (directions * scipy.stats.norm.isf(ps / 2)).sum(axis=-1) / np.sqrt(ps.shape[-1])


def _by_scipy(method: str) -> Formula:
    return lambda ps, _: scipy.stats.combine_pvalues(ps, method=method, axis=-1).pvalue


def _cauchy(ps: Array, _: Array) -> Array:
    return scipy.stats.cauchy.sf(np.tan((0.5 - ps) * np.pi).mean(axis=-1))


COMBINATIONS = {
    way.name: way
    for way in (
        Combination("fisher", _by_scipy("fisher")),  # assumes independence, but seeds share their queries
        Combination("stouffer", _by_scipy("stouffer"), decided_by_one=True),  # independence, one-sided p-values
        Combination(  # valid under no assumption
            "stouffer-absz",
            lambda ps, _: 2 * scipy.stats.norm.sf(stouffer_z(ps, np.ones_like(ps))),
            warning=ABSZ_WARNING,
        ),
        Combination(  # independence
            "stouffer-signed",
            lambda ps, signs: 2 * scipy.stats.norm.sf(np.abs(stouffer_z(ps, signs))),
            signed=True,
        ),
        Combination("cauchy", _cauchy, decided_by_one=True, near_level=CAUCHY_WARNING),  # nearly any dependence
        Combination(  # as cauchy, but one-sided: A expands more
            "cauchy-directional",
            lambda ps, signs: _cauchy(np.where(signs > 0, ps / 2, 1 - ps / 2), signs),
            signed=True,
        ),
        Combination(  # positive dependence
            "simes", lambda ps, _: scipy.stats.false_discovery_control(ps, axis=-1).min(axis=-1)
        ),
        # The others hold under any dependence.
        Combination("bonferroni", lambda ps, _: np.minimum(1, ps.shape[-1] * ps.min(axis=-1))),
        Combination("twice-mean", lambda ps, _: np.minimum(1, 2 * ps.mean(axis=-1))),
        Combination("twice-median", lambda ps, _: np.minimum(1, 2 * np.median(ps, axis=-1))),
    )
}


def combine(name: str, ps: Sequence[float], directions: Sequence[int] = ()) -> Combined:
    """Combine two-sided p-values; signed ways need the direction of each, 1 or -1."""
    if name not in COMBINATIONS:
        raise UsageError(f"Unknown combination of p-values {name!r}. Known are {', '.join(COMBINATIONS)}.")
    way, values = COMBINATIONS[name], np.asarray(ps, dtype=float)
    if way.signed and len(directions) != len(values):
        raise UsageError(f"{name} needs the direction of each p-value.")
    warnings = [way.warning] if way.warning else []
    if way.decided_by_one and (values == 1).any():
        warnings.append(ONE_WARNING.format(name=name))
    p = float(way.formula(values, np.asarray(directions)))
    if way.near_level and 0.01 <= p < 0.05:
        warnings.append(way.near_level)
    return Combined(name, p, " ".join(warnings))


@dataclass(frozen=True, slots=True)
class QueryTests:
    """Signed-rank tests of A - B over queries; none of them generalises to other seeds.

    `summed` tests the sums over seeds, which are whole numbers; `location` is that of the mean over seeds.
    """

    per_seed: tuple[Wilcoxon, ...]
    combined: tuple[Combined, ...]
    summed: Wilcoxon
    location: Location

    def p_of(self, name: str) -> float | None:
        """Return the combined p-value of this name; with a single seed, the p-value of that seed."""
        if len(self.per_seed) == 1:
            return self.per_seed[0].p
        return next((combined.p for combined in self.combined if combined.name == name), None)


def query_tests(paired: Paired, profile: Profile) -> QueryTests | None:
    """Return every test the profile names, or None with fewer than two queries."""
    if paired.queries < 2:
        return None
    options = {"zero_method": profile.wilcoxon_zero_method, "method": profile.wilcoxon_method}
    per_seed = tuple(wilcoxon(a, b, **options) for a, b in zip(paired.a, paired.b, strict=True))
    differences = paired.a - paired.b
    several = len(per_seed) > 1
    ps, directions = [test.p for test in per_seed], [test.direction for test in per_seed]
    return QueryTests(
        per_seed=per_seed,
        combined=tuple(combine(name, ps, directions) for name in profile.combinations) if several else (),
        summed=wilcoxon(differences.sum(axis=0, dtype=float), 0, **options) if several else per_seed[0],
        location=hodges_lehmann(differences.mean(axis=0)),
    )


CORRECTIONS = {
    "bh": "Benjamini-Hochberg",  # false discoveries, under positive dependence
    "by": "Benjamini-Yekutieli",  # false discoveries, under any dependence
    "holm": "Holm",  # any false rejection, under any dependence
}


def adjust(name: str, ps: Sequence[float | None]) -> list[float | None]:
    """Return adjusted p-values in the same order; None stays None and is not part of the family."""
    if name not in CORRECTIONS:
        raise UsageError(f"Unknown correction {name!r}. Known are {', '.join(CORRECTIONS)}.")
    known = [p for p in ps if p is not None]
    if not known:
        return list(ps)
    adjusted = holm(known) if name == "holm" else scipy.stats.false_discovery_control(known, method=name)
    remaining = iter(adjusted)
    return [None if p is None else float(next(remaining)) for p in ps]


def holm(ps: Sequence[float]) -> Array:
    """Return the step-down p-values of Holm. statsmodels has them too, but collects all garbage at every call."""
    given = np.asarray(ps, dtype=np.float64)
    order = np.argsort(given)
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
