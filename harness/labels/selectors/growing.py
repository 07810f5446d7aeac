"""A pool that grows by one landmark at a time, and the ALT bounds of the landmarks so far."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distances
from aacbench.labels.pool import Pool, table
from aacbench.search.networks import Network
from aacbench.util.compiled import kernel


@dataclass(slots=True)
class Growing:
    """Landmarks and their rows of distances; on a symmetric graph `backward` is `forward`.

    `away` is the forward distance of each vertex from its nearest landmark.
    """

    network: Network
    landmarks: list[int] = field(default_factory=list)
    forward: list[Array] = field(default_factory=list)
    backward: list[Array] = field(default_factory=list)
    away: Array = field(init=False)

    def __post_init__(self) -> None:
        if self.network.graph.symmetric:
            self.backward = self.forward
        self.away = np.full(self.network.graph.vertices, np.inf)

    @property
    def one_table(self) -> bool:
        return self.backward is self.forward

    @classmethod
    def of(cls, network: Network, pool: Pool) -> "Growing":
        wide, grown = network.graph.weights.dtype, cls(network)
        for landmark, ahead, back in zip(pool.landmarks.tolist(), pool.forward, pool.backward, strict=True):
            row = ahead.astype(wide)
            grown._append(landmark, row, row if grown.one_table else back.astype(wide))
        return grown

    def add(self, landmark: int) -> None:
        row = distances(self.network, landmark, Direction.FROM)
        self._append(landmark, row, row if self.one_table else distances(self.network, landmark, Direction.TO))

    def only(self, positions: Iterable[int]) -> "Growing":
        fewer = Growing(self.network)
        fewer.take_from(self, positions)
        return fewer

    def take_from(self, other: "Growing", positions: Iterable[int]) -> None:
        for k in positions:
            self._append(other.landmarks[k], other.forward[k], other.backward[k])

    def bounds_from(self, root: int) -> Array:
        """Return the ALT bound on d(root, v) for every v."""
        best = np.zeros(self.network.graph.vertices, dtype=self.network.graph.weights.dtype)
        for row in self.forward:
            raise_bounds(best, row, row[root], True, self.one_table)
        for row in () if self.one_table else self.backward:
            raise_bounds(best, row, row[root], False, True)
        return best

    def pool(self) -> Pool:
        forward = table(self.forward)
        backward = forward if self.one_table else table(self.backward)
        return Pool(np.array(self.landmarks, dtype=np.int64), forward, backward, 0.0)

    def _append(self, landmark: int, ahead: Array, back: Array) -> None:
        self.landmarks.append(landmark)
        self.forward.append(ahead)
        if not self.one_table:
            self.backward.append(back)
        lower_to(self.away, ahead)


@kernel
def raise_bounds(best: Array, row: Array, at_root: Any, ahead: bool, back: bool) -> None:
    """Raise bounds on d(root, v) to those of one landmark, from d(l, v), d(v, l) or both; -1 is unreachable."""
    if at_root < 0:
        return
    for v in range(len(best)):
        if row[v] >= 0:
            further = row[v] - at_root
            if ahead and further > best[v]:
                best[v] = further
            if back and -further > best[v]:
                best[v] = -further


@kernel
def lower_to(best: Array, row: Array) -> None:
    for v in range(len(best)):
        if row[v] >= 0 and row[v] < best[v]:
            best[v] = row[v]
