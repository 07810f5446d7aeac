"""Values that follow from the paper's published per-run records, where no data is needed to compute them again."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aacbench.protocols.paper import Exhibit, Printed, SeedRecord
from aacbench.reports.paper.columns import PROFILE, Found

Formula = Callable[[SeedRecord], Found | None]


def from_record(exhibit: Exhibit, printed: Printed, records: Sequence[SeedRecord]) -> Found | None:
    """Return what the record gives for a printed value, or None."""
    compute = COLUMNS.get(printed.column)
    budgets = exhibit.facts.get("budgets", [])
    budget = printed.row.get("budget_bytes", budgets[0] if len(budgets) == 1 else None)
    place = (printed.row.get("graph"), budget)
    found = next((record for record in records if (record.graph, record.budget_bytes) == place), None)
    return compute(found) if compute and found else None


def _combined(name: str) -> Formula:
    def compute(record: SeedRecord) -> Found | None:
        from aacbench.stats.combine import combine  # imports scipy

        return Found(combine(name, [float(p) for p in record.p_by_seed]).p) if record.p_by_seed else None

    return compute


def _median(record: SeedRecord) -> Found | None:
    return Found(float(np.median([float(p) for p in record.p_by_seed]))) if record.p_by_seed else None


def _gap(record: SeedRecord) -> Found:
    gaps = [float(value - record.alt) for value in record.aac]
    return Found(float(np.mean(gaps)), float(np.std(gaps)), len(gaps))


def _test(name: str) -> Callable[[SeedRecord], float | None]:
    def compute(record: SeedRecord) -> float | None:
        from aacbench.stats import effect_of_observations, estimand  # imports scipy
        from aacbench.stats.profiles import profile

        aac = np.array([float(value) for value in record.aac])
        alt = np.full(len(aac), float(record.alt))
        found = effect_of_observations(aac, alt, profile(PROFILE), estimand("reduction_of_means_pp"))
        p: float | None = getattr(found, name)
        return p

    return compute


def _equivalence(record: SeedRecord) -> Found | None:
    p = _test("p_tost")(record)
    return None if p is None else Found("accepted" if p < 0.05 else "rejected", seeds=len(record.aac))


COLUMNS: Mapping[str, Formula] = {
    "p_fisher": _combined("fisher"),
    "p_stouffer_absz": _combined("stouffer-absz"),
    "p_median_seed": _median,
    "observed_gap_pp": _gap,
    "tost": _equivalence,
}
