"""Labels in whole steps, rounded down: one byte (u8) or two (u16) for each, with a step for each column.

The steps of a column cover the distances between two quantiles: a few far vertices would otherwise make every step
coarser. A distance outside has the first or the last label, which is sound: it is known from one side only, and a
bound that needs the other side comes out negative.
"""

from dataclasses import dataclass

import numpy as np

from aacbench.contract.landmarks import STEPS
from aacbench.contract.method import LabelHeuristic, Unsupported
from aacbench.graphs.record import Array, frozen
from aacbench.labels.stores.selection import Selection
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.networks import Network

COVERED = {1: (0.0005, 0.998), 2: (0.0, 1.0)}  # quantiles between which distances have steps of their own, by width

EXACT = 2**52  # up to here, whole numbers are exact as floats, in which the bound is computed


@dataclass(frozen=True, eq=False, slots=True)
class Quantised:
    """The labels of a selection in steps."""

    network: Network
    chosen: Selection
    width: int

    @classmethod
    def of(cls, network: Network, chosen: Selection, store: str) -> "Quantised | Unsupported":
        return too_far(network, chosen, store) or cls(network, chosen, STEPS[store])

    def nbytes(self, count: int) -> int:
        """Return the bytes of all arrays with the first `count` of the selection."""
        chosen = self.chosen.first(count)
        columns = len(chosen.forward) + (0 if chosen.one_label else len(chosen.backward))
        return columns * (self.network.graph.vertices * self.width + 8)

    def encode(self, count: int) -> LabelHeuristic:
        """Return the heuristic with the first `count` of the selection."""
        chosen = self.chosen.first(count)
        table = chosen.by_column()
        rows = np.empty(table.shape[::-1], dtype=f"u{self.width}")
        sizes = np.empty(len(table), dtype=np.int64 if table.dtype.kind == "i" else np.float64)
        for column, distances in enumerate(table):
            rows[:, column], sizes[column] = in_steps(distances, self.width)
        largest = float(table.max(initial=0))
        margin = {} if table.dtype.kind == "i" else {"margin": 4 * RELATIVE_TOLERANCE * largest}
        arrays = {"rows": frozen(rows, rows.dtype), "steps": frozen(sizes, sizes.dtype)}
        return LabelHeuristic(arrays, "steps", {**chosen.columns(), **margin})


def too_far(network: Network, chosen: Selection, store: str) -> Unsupported | None:
    """Return why distances cannot be stored: bounds on whole numbers are computed as floats."""
    farthest = max(chosen.pool.forward.max(), chosen.pool.backward.max())
    if network.graph.integral and farthest >= EXACT:
        return Unsupported(f"{store} labels are for distances below 2^52, and some are {farthest}; use labels=exact")
    return None


def in_steps(distances: Array, width: int) -> tuple[Array, int | float]:
    """Return distances in whole steps of a size, and the size; the largest label stands for no path."""
    none = (1 << (8 * width)) - 1
    known = distances[distances >= 0].astype(np.float64)
    low, high = np.quantile(known, COVERED[width]) if len(known) else (0.0, 0.0)
    size: int | float
    if distances.dtype.kind == "i":
        if len(known) and known.max() - known.min() < none:
            low, high = known.min(), known.max()  # steps of 1 lose nothing
        low = int(low)
        size = max(1, -((low - int(high) - 1) // none))
        whole = (distances - low) // size
    else:
        size = float(high - low) / none or 1.0
        whole = np.floor((distances - low) / size)
    labels = np.clip(whole, 0, none - 1)
    return np.where(distances < 0, none, labels).astype(np.int64), size
