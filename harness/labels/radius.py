"""Covering radii: how far the farthest vertex is from its nearest landmark."""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool


def covering_radius(pool: Pool, component: Array) -> float:
    """max over v of min over l of d(l, v); infinite where some vertex is reached by no landmark."""
    return _radius(_finite(pool.forward[:, component]))


def symmetric_covering_radius(pool: Pool, component: Array) -> float:
    """max over v of min over l of max(d(l, v), d(v, l)), the radius directed bounds depend on."""
    there, back = _finite(pool.forward[:, component]), _finite(pool.backward[:, component])
    return _radius(np.maximum(there, back))


def _finite(table: Array) -> Array:
    return np.where(table < 0, np.inf, table)


def _radius(table: Array) -> float:
    return float(table.min(axis=0).max())
