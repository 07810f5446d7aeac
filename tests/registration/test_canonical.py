"""Canonical hashing: one digest for one meaning, another for every other."""

import hashlib
import json
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.prereg.canonical import LARGEST, canonical, digest

NUMBERS = st.integers(-LARGEST, LARGEST) | st.floats(-LARGEST, LARGEST)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(max_size=8)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)


def shuffled(value, rng):
    """The same value with its keys in another order, and whole numbers as floats where that is the same number."""
    if isinstance(value, dict):
        pairs = list(value.items())
        rng.shuffle(pairs)
        return {key: shuffled(inner, rng) for key, inner in pairs}
    if isinstance(value, list):
        return [shuffled(inner, rng) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return rng.choice([value, float(value)])
    return value


def same(a, b):
    """Whether two values mean the same in JSON, where true is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


@given(TREES, st.randoms(use_true_random=False))
def test_order_and_spelling_of_numbers_do_not_count(value, rng):
    assert digest(shuffled(value, rng)) == digest(value)


@given(TREES, TREES)
def test_another_value_has_another_digest(one, other):
    assert (digest(one) == digest(other)) == same(one, other)


@given(TREES)
def test_the_canonical_form_reads_back_to_the_value(value):
    assert same(json.loads(canonical(value)), value)


def test_the_digest_is_of_the_tag_a_zero_byte_and_the_json():
    assert digest({"b": 1.0, "a": "é"}) == hashlib.sha256(b'aacbench.prereg/1\0{"a":"\xc3\xa9","b":1}').hexdigest()
    assert digest(1, "other") != digest(1)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), LARGEST + 1, -LARGEST - 1, 1e300, object()])
@given(depth=st.integers(0, 3))
def test_what_has_no_spelling_is_refused_by_the_name_of_its_key(bad, depth):
    value, name = bad, ""
    for level in range(depth):
        value, name = {f"k{level}": value}, f"k{level}.{name}" if name else f"k{level}"
    with pytest.raises(UsageError) as refused:
        canonical({"top": value})
    assert str(refused.value).startswith(f"top.{name} is" if name else "top is")


@given(st.integers(), st.integers())
def test_lists_keep_their_order(a, b):
    assume(a != b and max(abs(a), abs(b)) <= LARGEST)
    assert digest([a, b]) != digest([b, a])


def test_shuffling_in_the_test_does_shuffle():
    rng, value = random.Random(1), {str(i): i for i in range(9)}
    assert list(shuffled(value, rng)) != list(value)
