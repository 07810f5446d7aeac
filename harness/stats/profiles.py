"""Analysis profiles: every choice of an analysis, fixed under a name and a version before the run."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from aacbench.errors import UsageError
from aacbench.stats.estimands import Estimand
from aacbench.stats.estimands import estimand as estimand_of
from aacbench.stats.inference import VARIANCE

SEEDS, SEEDS_AND_QUERIES = "seeds", "seeds and queries"
NOMINAL, MEASURED = "nominal", "measured"
NO_MORE = "measured, or A with fewer"  # as MEASURED, and otherwise A is judged against a B with more bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How rows become a verdict. A published profile never changes; a new choice gets a new version."""

    name: str
    version: int
    summary: str
    inference: str  # what the interval generalises over
    variance: str
    estimand: str
    companion: str | None  # a second estimand, shown beside the first with its own margin
    alpha: float = 0.05
    margin_pp: float = 1.0
    margin_ratio: float | None  # ratios from 1/margin to margin are equivalent
    wilcoxon_zero_method: str = "wilcox"
    wilcoxon_method: str = "asymptotic"
    combinations: tuple[str, ...]
    family_of: str  # the p-values that are corrected: "difference", or the name of a combination
    correction: str
    further_corrections: tuple[str, ...] = ()
    family_level: float = 0.05
    sd_ddof: int = 1
    bootstrap_replicates: int
    bootstrap_seed: int = 20260101
    pairing: str  # cells are paired by NOMINAL budgets, by MEASURED bytes, or by NO_MORE
    bytes_tolerance: float = 0.05  # relative

    @property
    def label(self) -> str:
        return f"{self.name}/{self.version}"

    def margin(self, estimand: Estimand) -> tuple[float, float] | None:
        """Return the margin of equivalence in the estimand's unit, or None if the profile has none for it."""
        if estimand.name == "reduction_of_means_pp":
            return -self.margin_pp, self.margin_pp
        if estimand.is_ratio and self.margin_ratio is not None:
            return 1 / self.margin_ratio, self.margin_ratio
        return None

    def record(self) -> dict[str, Any]:
        """Return every value, with estimands in full, for digests and for printing."""
        companion = estimand_of(self.companion).record() if self.companion else None
        return {
            **asdict(self),
            "combinations": list(self.combinations),
            "further_corrections": list(self.further_corrections),
            "estimand": estimand_of(self.estimand).record(),
            "companion": companion,
        }


PAPER_1 = Profile(
    name="paper",
    version=1,
    summary="the AAC paper's own tests, kept for replication",
    inference=SEEDS,
    variance="sample variance of the per-seed differences, ddof 1; df = S - 1",
    estimand="reduction_of_means_pp",
    companion=None,
    margin_ratio=None,
    combinations=("fisher", "stouffer-absz"),
    family_of="fisher",
    correction="bh",
    bootstrap_replicates=0,
    pairing=NOMINAL,
)
CROSSED_1 = Profile(
    name="crossed",
    version=1,
    summary="seeds and queries as two crossed sources of variation; for new work",
    inference=SEEDS_AND_QUERIES,
    variance=VARIANCE,
    estimand="reduction_of_means_pp",
    companion="ratio_of_means",
    margin_ratio=1.05,
    combinations=("stouffer-signed", "cauchy", "simes"),
    family_of="difference",
    correction="holm",
    further_corrections=("by", "bh"),
    bootstrap_replicates=2000,
    pairing=MEASURED,
)
CROSSED_2 = replace(
    CROSSED_1,
    version=2,
    summary="seeds and queries as two crossed sources of variation, A with no more bytes than B; for new work",
    pairing=NO_MORE,
)
MAPS_1 = replace(
    CROSSED_1,
    name="maps",
    summary="seeds and maps as two crossed sources of variation; "
    "for studies on maps, where a map takes a query's place",
)
PROFILES = {known.label: known for known in (PAPER_1, CROSSED_1, CROSSED_2, MAPS_1)}


def profile(label: str) -> Profile:
    if label not in PROFILES:
        raise UsageError(f"Unknown analysis profile {label!r}. Known are {', '.join(PROFILES)}.")
    return PROFILES[label]


def ratio_allowed(margin_pp: float, reduction_b: float) -> float:
    """Return the largest ratio of expansions A/B within this margin, given B's reduction in percent."""
    left = 100 - reduction_b
    return math.inf if left <= 0 else 1 + margin_pp / left
