"""Chosen labels in the order of preference, so that the first of them can be taken where not all fit."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool
from aacbench.search.networks import Network


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """Positions in a pool: labels d(l, v) of those at `forward`, and d(v, l) of those at `backward`.

    With `paired`, position k of both is one landmark; on a symmetric graph one label then serves both directions.
    """

    pool: Pool
    forward: Array
    backward: Array
    paired: bool

    @classmethod
    def of(cls, pool: Pool, forward: npt.ArrayLike, backward: npt.ArrayLike | None = None) -> "Selection":
        ahead = np.asarray(forward, dtype=np.int64)
        back = ahead if backward is None else np.asarray(backward, dtype=np.int64)
        return cls(pool, ahead, back, backward is None)

    def __len__(self) -> int:
        """How many can be dropped one by one: landmarks if paired, else labels."""
        return len(self.forward) if self.paired else len(self.forward) + len(self.backward)

    @property
    def one_label(self) -> bool:
        """Whether one label per landmark serves both directions."""
        return self.paired and self.pool.symmetric

    def first(self, count: int) -> "Selection":
        """Return the first of the selection; of separate directions, the same share of each."""
        if self.paired:
            return replace(self, forward=self.forward[:count], backward=self.forward[:count])
        ahead = min(len(self.forward), max(count - len(self.backward), round(count * len(self.forward) / len(self))))
        return replace(self, forward=self.forward[:ahead], backward=self.backward[: count - ahead])

    def positions(self) -> Array:
        """The positions of the chosen landmarks, each once, ascending."""
        return np.unique(np.concatenate((self.forward, self.backward)))

    def landmarks(self) -> Array:
        """The vertices whose labels are chosen, each once."""
        return self.pool.landmarks[self.positions()]

    def on(self, pool: Pool) -> "Selection":
        """Return the same landmarks as positions in a pool of exactly `landmarks()`."""
        known = self.positions()
        ahead = np.searchsorted(known, self.forward)
        back = ahead if self.paired else np.searchsorted(known, self.backward)
        return Selection(pool, ahead, back, self.paired)

    def columns(self) -> dict[str, int]:
        """The settings that say which columns of a table hold which labels."""
        return {"both": len(self.forward)} if self.one_label else {"forward": len(self.forward)}

    def by_column(self) -> Array:
        """Return the labels, one row per column of a table, in the graph's own vertex order; -1 is unreachable."""
        tables = [self.pool.forward[self.forward]]
        if not self.one_label:
            tables.append(self.pool.backward[self.backward])
        return np.concatenate(tables, axis=0)

    def table(self, network: Network) -> Array:
        """Return the labels, one row per vertex in the network's order; -1 is unreachable."""
        return np.ascontiguousarray(self.by_column().T[network.original])
