"""Statistics on tables of expansions: pure functions that read no files and print nothing."""

from aacbench.stats.combine import QueryTests, adjust, query_tests
from aacbench.stats.effects import (
    Effect,
    ForestRow,
    effect,
    effect_of_observations,
    effect_of_rows,
    forest_rows,
)
from aacbench.stats.estimands import ESTIMANDS, Estimand, estimand
from aacbench.stats.paired import MethodRows, Paired, pair
from aacbench.stats.profiles import CROSSED_1, CROSSED_2, PAPER_1, PROFILES, Profile, profile

__all__ = [
    "CROSSED_1",
    "CROSSED_2",
    "ESTIMANDS",
    "PAPER_1",
    "PROFILES",
    "Effect",
    "Estimand",
    "ForestRow",
    "MethodRows",
    "Paired",
    "Profile",
    "QueryTests",
    "adjust",
    "effect",
    "effect_of_observations",
    "effect_of_rows",
    "estimand",
    "forest_rows",
    "pair",
    "profile",
    "query_tests",
]
