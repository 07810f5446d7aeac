"""The landmark pools that a build may ask for: read from disk or computed once, with the time each took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aacbench.graphs import components
from aacbench.labels.pool import Pool, of_landmarks, stored_farthest_points
from aacbench.labels.selectors import stored_selection
from aacbench.search.networks import Network
from aacbench.util.file_lock import file_lock


class StoredPools:
    """Pools of one graph in a folder shared by all workers.

    `seconds` is what those asked for took to compute, now or earlier; `spent` is how long this build waited for them.
    `check` must find the graph as it was: a pool of another graph would mislead every cell that reads it.
    """

    def __init__(self, network: Network, folder: Path, check: Callable[[], None] = lambda: None) -> None:
        self._network = network
        self._folder = folder
        self._check = check
        self._charged: dict[tuple[object, ...], dict[int, float]] = {}
        self._room = len(components.largest(network.graph))
        self._digest = network.graph.digest  # before the method could change the graph
        self.spent = 0.0

    @property
    def seconds(self) -> float:
        """The time to charge: of pools with the same start, that of the largest, which holds the others."""
        return sum(max(sizes.values()) for sizes in self._charged.values())

    def farthest(self, count: int, start: int | None = None) -> Pool:
        """The first `count` farthest-point landmarks, or all vertices of a component that has fewer."""
        # One worker computes a pool while the others wait for it: they would only compute the same beside it.
        with self._timed(), file_lock(self._folder, f"pool-{self._digest[:24]}-{start}", wait=True):
            self._check()  # and once more when it is computed: a method's threads work on meanwhile
            wanted = min(count, self._room)
            pool = stored_farthest_points(self._folder, self._network, wanted, start=start, check=self._check)
        return self._charge(pool, count, "farthest", start)

    def selected(self, selector: str, count: int, seed: int = 0) -> Pool:
        """The pool of this selector, or all vertices of a component that has fewer; `fps` is `farthest`."""
        if selector == "fps":
            return self.farthest(count)
        wanted = min(count, self._room)
        with self._timed(), file_lock(self._folder, f"pool-{self._digest[:24]}-{selector}-{wanted}-{seed}", wait=True):
            self._check()
            pool = stored_selection(self._folder, self._network, selector, wanted, seed, check=self._check)
        return self._charge(pool, wanted, selector, wanted, seed)

    def of(self, landmarks: npt.ArrayLike) -> Pool:
        """The pool of given landmarks, which is not stored."""
        with self._timed():
            pool = of_landmarks(self._network, np.asarray(landmarks))
        return self._charge(pool, len(pool), "given", len(self._charged))

    def _charge(self, pool: Pool, count: int, *kind: object) -> Pool:
        """Note what a pool cost; of one kind, a smaller pool is a prefix of a larger one."""
        self._charged.setdefault(kind, {})[count] = pool.seconds
        return pool

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spent += time.perf_counter() - began
