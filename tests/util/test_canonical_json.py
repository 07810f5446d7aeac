"""Canonical JSON and digests."""

import json
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.run.layout import cell_id
from aacbench.util.canonical import canonical, digest

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXTS, inside, max_size=3),
    max_leaves=12,
)


def test_the_spelling_is_fixed():
    value = {"b": (1.0, 0.1, -0.0), "a": {"é": None, "Z": True}, "n": 1e22}
    expected = '{"a":{"Z":true,"é":null},"b":[1,0.1,0],"n":10000000000000000000000}'
    assert canonical(value) == expected.encode()


def test_digests_never_change():
    key = {"method": "alt", "budget": 32.0, "params": {"tie": "fifo"}}
    assert digest(key, "t") == "f7ceb3c18588d6c1628252ad91a35d3dc051f34f52010233f8b8afc783ca3e29"
    assert cell_id(key) == "9c72eee580ba1e54a3e6351f"


@given(VALUES)
def test_reading_back_changes_nothing(value):
    assert canonical(json.loads(canonical(value))) == canonical(value)
    assert canonical(json.loads(json.dumps(value))) == canonical(value)


@given(*[st.recursive(st.sampled_from([0, -0.0, 1, 1.0, 0.5, "1", "", None]), st.lists, max_leaves=3)] * 2)
def test_equal_bytes_mean_equal_values(one, other):
    assert (canonical(one) == canonical(other)) == (one == other)


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.randoms())
def test_order_does_not_count(key, random):
    items = list(key.items())
    random.shuffle(items)
    assert cell_id(MappingProxyType(dict(items))) == cell_id(key)


def test_numbers_agree_and_booleans_do_not():
    assert cell_id({"budget": 1}) == cell_id({"budget": 1.0}) == cell_id({"budget": np.float64(1)})
    assert cell_id({"budget": 1}) != cell_id({"budget": True})
    assert digest(1, "a") != digest(1, "b")


def holding_itself():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [float("nan")]}, r"the value\['a'\]\[0\] is nan"),
        (float("-inf"), "is -inf"),
        ({1: 2}, "has the key 1"),
        ({"a": {None: 2}}, r"the value\['a'\] has the key None"),
        (np.int64(3), "int64"),
        ({1, 2}, "a set"),
        (b"bytes", "a bytes"),
        ("\ud800", "no UTF-8 form"),
        ([10**5000], "too long"),
        (holding_itself(), "holds itself"),
    ],
)
def test_what_json_cannot_hold_is_refused(value, message):
    with pytest.raises(DataError, match=message):
        canonical(value)
