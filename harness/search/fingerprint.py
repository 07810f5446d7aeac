"""A fast fingerprint of arrays: to notice that one has changed, not to prove that it has not been forged."""

from collections.abc import Iterable

import numpy as np

from aacbench.graphs.record import Array
from aacbench.util.compiled import kernel

_START, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)


def fingerprint(arrays: Iterable[Array]) -> int:
    """A number that differs after any one change of eight bytes, and after nearly every other change."""
    found = _START
    for array in arrays:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        whole = len(data) // 8 * 8
        found = np.uint64(mixed(found, data[:whole].view(np.uint64)))
        rest = np.frombuffer(data[whole:].tobytes().ljust(8, b"\0"), np.uint64)
        shape = np.array([array.dtype.num, *array.shape], dtype=np.uint64)
        found = np.uint64(mixed(found, np.concatenate((rest, shape))))  # a kernel gives back a plain int
    return int(found)


@kernel
def mixed(found: np.uint64, words: Array) -> np.uint64:
    """Fold words into a number, each step invertible, so that a change of one word cannot be lost.

    Four lanes beside one another, since a processor would wait for each product of one.
    """
    a, b, c, d = found, ~found, found, ~found
    whole = len(words) // 4 * 4
    for k in range(0, whole, 4):
        a = (a ^ words[k]) * _FACTOR
        b = (b ^ words[k + 1]) * _FACTOR
        c = (c ^ words[k + 2]) * _FACTOR
        d = (d ^ words[k + 3]) * _FACTOR
    for k in range(whole, len(words)):
        a = (a ^ words[k]) * _FACTOR
    for lane in (b, c, d):
        a = (a ^ lane) * _FACTOR
    return a
