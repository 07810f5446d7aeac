"""Float weights as whole numbers of a unit, rounded down, so that distances over them are exact and narrow."""

from collections.abc import Mapping

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.pool import of_landmarks
from aacbench.labels.stores.selection import Selection
from aacbench.search.networks import Network, with_weights
from aacbench.search.packed import FAR

LEVELS = (2**19, 2**16 - 2)  # units in the largest distance, at most: where cells can narrow them to 16 bits, or not
FEW = 64  # different weights, up to which units that divide all of them well are looked for

SHORTEST = 1e-280  # largest distances below this are not told apart, so that no number of units overflows


def on_grid(network: Network, chosen: Selection, levels: int) -> tuple[Selection, Mapping[str, float]]:
    """Return the selection with distances over weights on a grid, and the settings that convert units.

    The bound is admissible and consistent: distances are exact on arcs that are no longer than the graph's.
    """
    weights = network.graph.weights
    farthest = max(float(chosen.pool.forward.max()), float(chosen.pool.backward.max()))
    per_unit = best_grid(weights, levels / max(farthest, SHORTEST))
    with np.errstate(over="ignore"):  # arcs longer than any distance are on no shortest path
        whole = np.minimum(weights * per_unit, FAR).astype(np.int64)
    pool = of_landmarks(with_weights(network, whole), chosen.landmarks())
    return chosen.on(pool), {"per_unit": per_unit, "scale": unit_below(weights, whole, per_unit)}


def best_grid(weights: Array, finest: float) -> float:
    """Return how many units a weight of 1 has: at most `finest`, and such that rounding down loses little.

    With few different weights, those numbers of units in the smallest positive weight are tried that lose least.
    """
    values, counts = np.unique(weights[weights > 0], return_counts=True)
    most = int(min(values[0] * finest, max(LEVELS))) if len(values) else 0
    if len(values) > FEW or most < 1:
        return float(finest)
    per_unit = np.arange(1, most + 1)[:, None] / values[0] * (1 + 1e-15)
    shares = values * per_unit
    lost = ((shares - np.floor(shares)) / per_unit * counts).sum(axis=1)
    return float(per_unit[np.argmin(lost), 0])


def unit_below(weights: Array, whole: Array, per_unit: float) -> float:
    """Return the value of a unit, low enough that no arc on the grid is longer than the arc itself."""
    unit = 1.0 / per_unit
    used = (whole > 0) & (whole < FAR)
    ratios = weights[used] / whole[used]
    return float(min(unit, ratios.min())) if len(ratios) else unit
