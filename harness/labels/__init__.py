"""Landmark labels: pools, selectors, distance tables and heuristics from them."""

from aacbench.labels.exact import Direction, distances
from aacbench.labels.pool import (
    Pool,
    covering_radius,
    farthest_points,
    of_landmarks,
    stored_farthest_points,
    symmetric_covering_radius,
)
from aacbench.labels.selectors import SELECTORS, select
from aacbench.labels.tables import alt_layout, fixed_point, label_rows, rounding_margin, subset

__all__ = [
    "SELECTORS",
    "Direction",
    "Pool",
    "alt_layout",
    "covering_radius",
    "distances",
    "farthest_points",
    "fixed_point",
    "label_rows",
    "of_landmarks",
    "rounding_margin",
    "select",
    "stored_farthest_points",
    "subset",
    "symmetric_covering_radius",
]
