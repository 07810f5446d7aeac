"""Labels as codes of six bits (u6): the levels between them are shared by all columns and closest where bounds arise.

A bound comes from two labels of one landmark. The levels are placed by the labels that give the largest bounds of
random pairs: the mean width of a code is least if their density follows the square root of that of those labels.
"""

from dataclasses import dataclass

import numpy as np

from aacbench.contract.method import LabelHeuristic, Unsupported
from aacbench.graphs.record import Array, frozen
from aacbench.labels.stores.quantised import too_far
from aacbench.labels.stores.selection import Selection
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.codes import BITS, LEVELS, width_of
from aacbench.search.networks import Network

PAIRS = 3000  # random pairs whose bounds place the levels
BINS = 400  # of the histogram of the labels that give them
SMOOTHED = 9  # bins whose mean replaces each
LEAST = 1e-3  # density anywhere, of the largest


@dataclass(frozen=True, eq=False, slots=True)
class Coded:
    """The labels of a selection in codes."""

    network: Network
    chosen: Selection

    @classmethod
    def of(cls, network: Network, chosen: Selection, store: str) -> "Coded | Unsupported":
        return too_far(network, chosen, store) or cls(network, chosen)

    def nbytes(self, count: int) -> int:
        """Return the bytes of all arrays with the first `count` of the selection."""
        chosen = self.chosen.first(count)
        columns = len(chosen.forward) + (0 if chosen.one_label else len(chosen.backward))
        return self.network.graph.vertices * width_of(columns) + 2 * LEVELS * 8

    def encode(self, count: int) -> LabelHeuristic:
        """Return the heuristic with the first `count` of the selection."""
        chosen = self.chosen.first(count)
        table = chosen.by_column()
        edges = levels(table)
        low, high = np.full(LEVELS, np.inf), np.full(LEVELS, -np.inf)
        rows = np.zeros((table.shape[1], width_of(len(table)) + 1), dtype=np.uint8)
        for column, distances in enumerate(table):
            found = np.where(distances < 0, LEVELS, np.searchsorted(edges, distances, side="right"))
            known = distances >= 0
            np.minimum.at(low, found[known], distances[known])
            np.maximum.at(high, found[known], distances[known])
            byte, shift = divmod(column * BITS, 8)
            rows[:, byte] |= (found << shift & 255).astype(np.uint8)
            rows[:, byte + 1] |= (found << shift >> 8).astype(np.uint8)
        unused = low > high
        arrays = {
            "rows": frozen(rows[:, :-1], np.uint8),
            "low": frozen(np.where(unused, 0, low), np.float64),
            "high": frozen(np.where(unused, 0, high), np.float64),
        }
        margin = 0.0 if table.dtype.kind == "i" else 4 * RELATIVE_TOLERANCE * float(table.max(initial=0))
        settings = {"columns": len(table), "margin": margin, **chosen.columns()}
        return LabelHeuristic(arrays, "codes", settings)


def levels(table: Array) -> Array:
    """Return the distances at which the next code begins, ascending; there is one less than there are levels."""
    known = table[table >= 0]
    least, greatest = (known.min(), known.max()) if known.size else (0, 0)
    if table.dtype.kind == "i" and greatest - least < LEVELS:
        return np.arange(least + 1, least + LEVELS)  # every distance has its own code
    counts, edges = np.histogram(_deciding(table), bins=BINS, range=(float(least), float(greatest)))
    smooth = np.convolve(counts, np.full(SMOOTHED, 1 / SMOOTHED), "same")
    density = np.sqrt(smooth + LEAST * max(smooth.max(), 1))
    reached = np.concatenate(([0.0], np.cumsum(density)))
    return np.interp(np.arange(1, LEVELS) / LEVELS * reached[-1], reached, edges)


def _deciding(table: Array) -> Array:
    """Return both labels of the landmark with the largest difference, for random pairs of vertices."""
    one, other = np.random.default_rng(0).integers(0, table.shape[1], (2, PAIRS))
    here, there = table[:, one].astype(np.float64), table[:, other].astype(np.float64)
    best = np.where((here < 0) | (there < 0), -1.0, np.abs(here - there)).argmax(axis=0)[None]
    labels = np.concatenate([np.take_along_axis(side, best, axis=0)[0] for side in (here, there)])
    return labels[labels >= 0]
