"""The fingerprint that tells a changed graph from an unchanged one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aacbench.search.fingerprint import _FACTOR, _START, fingerprint, mixed

WORDS = arrays.arrays(np.uint64, st.integers(0, 40), elements=st.integers(0, 2**64 - 1))


@given(WORDS)
def test_the_kernel_does_what_plain_integers_do(words: np.ndarray) -> None:
    found = int(_START)
    for word in words.tolist():
        found = ((found ^ word) * int(_FACTOR)) % 2**64
    assert int(mixed(_START, words)) == found


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
