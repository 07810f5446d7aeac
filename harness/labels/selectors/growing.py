"""A pool that grows landmark by landmark, with the bounds that the landmarks so far give from one vertex to all."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distances
from aacbench.labels.pool import Pool, table
from aacbench.search.networks import Network


@dataclass(slots=True)
class Growing:
    """Landmarks and their rows of distances; on a symmetric graph `backward` is `forward`."""

    network: Network
    landmarks: list[int] = field(default_factory=list)
    forward: list[Array] = field(default_factory=list)
    backward: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.network.graph.symmetric:
            self.backward = self.forward

    @classmethod
    def of(cls, network: Network, pool: Pool) -> "Growing":
        """A pool to grow on from."""
        wide = network.graph.weights.dtype
        grown = cls(network, pool.landmarks.tolist(), [row.astype(wide) for row in pool.forward])
        if grown.backward is not grown.forward:
            grown.backward = [row.astype(wide) for row in pool.backward]
        return grown

    def add(self, landmark: int) -> None:
        """One more landmark, its distances computed."""
        self.landmarks.append(landmark)
        self.forward.append(distances(self.network, landmark, Direction.FROM))
        if self.backward is not self.forward:
            self.backward.append(distances(self.network, landmark, Direction.TO))

    def kept(self, positions: Iterable[int]) -> "Growing":
        """The landmarks at these positions, to grow on from."""
        fewer = Growing(self.network)
        fewer.take_from(self, positions)
        return fewer

    def take_from(self, other: "Growing", positions: Iterable[int]) -> None:
        """Add another's landmarks at these positions, with what is known of them."""
        for k in positions:
            self.landmarks.append(other.landmarks[k])
            self.forward.append(other.forward[k])
            if self.backward is not self.forward:
                self.backward.append(other.backward[k])

    def bounds_from(self, root: int) -> Array:
        """The ALT bound on d(root, v) for every v, 0 where nothing is known."""
        best = np.zeros(self.network.graph.vertices, dtype=self.network.graph.weights.dtype)
        for row in self.forward:
            if row[root] >= 0:
                np.maximum(best, row - row[root], out=best)  # where v is not reached, this is negative
        for row in self.backward:
            if row[root] >= 0:
                np.maximum(best, np.where(row < 0, 0, row[root] - row), out=best)
        return best

    def nearest(self) -> Array:
        """How far each vertex is from its nearest landmark, by forward distance."""
        best = np.full(self.network.graph.vertices, np.inf)
        for row in self.forward:
            np.minimum(best, np.where(row < 0, np.inf, row), out=best)
        return best

    def pool(self) -> Pool:
        """What has grown, as a pool."""
        forward = table(self.forward)
        backward = forward if self.backward is self.forward else table(self.backward)
        return Pool(np.array(self.landmarks, dtype=np.int64), forward, backward, 0.0)
