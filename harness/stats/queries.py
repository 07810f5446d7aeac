"""Tests over queries, seed by seed and combined: what the paper reports, and effect sizes by ranks."""

from dataclasses import dataclass

from aacbench.stats.combine import Combined, combine
from aacbench.stats.paired import Paired
from aacbench.stats.profiles import Profile
from aacbench.stats.ranks import Location, Wilcoxon, hodges_lehmann, wilcoxon


@dataclass(frozen=True, slots=True)
class QueryTests:
    """Signed-rank tests of A - B over queries; none of them says anything about other seeds.

    `summed` is the one test of the sums over seeds, on whole numbers; `location` is of the mean over seeds.
    """

    per_seed: tuple[Wilcoxon, ...]
    combined: tuple[Combined, ...]
    summed: Wilcoxon
    location: Location

    def p_of(self, name: str) -> float | None:
        """The combined p-value of this name; with a single seed, its own."""
        if len(self.per_seed) == 1:
            return self.per_seed[0].p
        return next((found.p for found in self.combined if found.name == name), None)


def query_tests(paired: Paired, profile: Profile) -> QueryTests | None:
    """Every test the profile names, or None without queries."""
    if paired.queries < 2:
        return None
    options = {"zero_method": profile.wilcoxon_zero_method, "method": profile.wilcoxon_method}
    per_seed = tuple(wilcoxon(a, b, **options) for a, b in zip(paired.a, paired.b, strict=True))
    several = len(per_seed) > 1
    ps, directions = [found.p for found in per_seed], [found.direction for found in per_seed]
    return QueryTests(
        per_seed=per_seed,
        combined=tuple(combine(name, ps, directions) for name in profile.combinations) if several else (),
        summed=wilcoxon(paired.a.sum(axis=0), paired.b.sum(axis=0), **options) if several else per_seed[0],
        location=hodges_lehmann((paired.a - paired.b).mean(axis=0)),
    )
