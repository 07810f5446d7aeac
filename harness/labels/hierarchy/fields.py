"""Numbers of a few bits each, one behind the other in 8-byte words."""

from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.scratch import inline
from aacbench.util.compiled import kernel

_WORD, _PLACE, _LAST = np.uint64(6), np.uint64(63), np.uint64(1)


@inline
def window(words: Any, at: Any) -> Any:
    """The 64 bits from bit `at` on; all numbers are uint64."""
    word, shift = at >> _WORD, at & _PLACE
    return (words[word] >> shift) | ((words[word + _LAST] << (_PLACE - shift)) << _LAST)


@inline
def low_bits(value: Any, width: Any) -> Any:
    """The lowest bits of a number, fewer than 64."""
    return value & ((_LAST << width) - _LAST)


@kernel
def write(words: Any, at: Any, value: Any, width: Any) -> None:
    """Write a number of fewer than 64 bits where all bits are still zero."""
    word, shift = at >> _WORD, at & _PLACE
    words[word] |= value << shift
    if shift + width > np.uint64(64):
        words[word + _LAST] |= value >> (np.uint64(64) - shift)


def empty_words(bits: int) -> Array:
    """Zeros for so many bits, and a word behind them that `window` may read."""
    return np.zeros(bits // 64 + 2, dtype=np.uint64)


def packed(values: Array) -> tuple[Array, int]:
    """Return the numbers in fields of one width, and the width: what the largest of them needs."""
    width = max(1, int(values.max(initial=0)).bit_length())
    words = empty_words(width * len(values))
    write_all(words, values.astype(np.uint64), np.uint64(width))
    return words, width


@kernel
def write_all(words: Any, values: Any, width: Any) -> None:
    at = np.uint64(0)
    for value in values:
        write(words, at, value, width)
        at += width
