"""Random integers that are the same on every machine and under every NumPy version.

NumPy guarantees the raw stream of a bit generator, but not the numbers that `Generator` derives from it, so only the
raw 64-bit words are used.
"""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array


class Dice:
    """A stream of random integers that follows from a few non-negative integers."""

    def __init__(self, *entropy: int) -> None:
        if min(entropy) < 0:
            raise UsageError(f"A seed must be zero or more, not {min(entropy)}.")
        self._words = np.random.PCG64(np.random.SeedSequence(entropy))

    def between(self, low: int, high: int, size: int | tuple[int, ...]) -> Array:
        """Return independent integers, each at least `low` and below `high`."""
        words = self._words.random_raw(int(np.prod(size))) >> np.uint64(32)
        return low + (words * np.uint64(high - low) >> np.uint64(32)).astype(np.int64).reshape(size)

    def one(self, low: int, high: int) -> int:
        return int(self.between(low, high, 1)[0])

    def percent(self, size: int) -> Array:
        return self.between(0, 100, size)

    def order(self, count: int) -> Array:
        return np.argsort(self._words.random_raw(count), kind="stable")
