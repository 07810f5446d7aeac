"""The fingerprint that tells a changed graph from an unchanged one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aacbench.search.fingerprint import _FACTOR, _START, fingerprint, mixed

WORDS = arrays.arrays(np.uint64, st.integers(0, 40), elements=st.integers(0, 2**64 - 1))


@given(WORDS)
def test_the_kernel_does_what_plain_integers_do(words: np.ndarray) -> None:
    start = int(_START)
    lanes = [start, start ^ (2**64 - 1)] * 2
    whole = len(words) // 4 * 4
    for lane in range(4):
        lanes[lane] = _folded(lanes[lane], words[lane:whole:4].tolist())
    found = _folded(_folded(lanes[0], words[whole:].tolist()), lanes[1:])
    assert int(mixed(_START, words)) == found


def _folded(start: int, words: list[int]) -> int:
    for word in words:
        start = ((start ^ word) * int(_FACTOR)) % 2**64
    return start


def test_two_words_that_change_places_are_noticed() -> None:
    words = np.arange(8, dtype=np.uint64)
    swapped = [
        words[[*range(k), k + step, *range(k + 1, k + step), k, *range(k + step + 1, 8)]]
        for step in (1, 2, 4)
        for k in range(8 - step)
    ]
    assert len({fingerprint([array]) for array in [words, *swapped]}) == 1 + len(swapped)


@given(st.integers(1, 50), st.sampled_from(["i4", "i8", "f8", "u1"]), st.data())
def test_any_change_of_one_value_is_noticed(length: int, dtype: str, data: st.DataObject) -> None:
    array = np.arange(length).astype(dtype)
    at = data.draw(st.integers(0, length - 1))
    changed = array.copy()
    changed[at] += 1
    assert fingerprint([array]) != fingerprint([changed])
    assert fingerprint([array]) == fingerprint([array.copy()])


def test_shape_and_type_count() -> None:
    zeros = np.zeros(8, dtype=np.int32)
    others = [zeros.reshape(2, 4), zeros.view(np.uint32), zeros[:7], np.zeros(9, dtype=np.int32), zeros.view(np.int64)]
    assert len({fingerprint([array]) for array in [zeros, *others]}) == 6
