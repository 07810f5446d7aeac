"""Canonical JSON and digests: one spelling for each value, another for every other value."""

import json
import math
from types import MappingProxyType

import numpy as np
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.run.layout import cell_id
from aacbench.util.canonical import LARGEST, Spelling, canonical, digest, finite, plain, pretty

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PORTABLE = st.integers(-LARGEST, LARGEST) | st.floats(-LARGEST, LARGEST)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def trees(numbers):
    return st.recursive(
        st.none() | st.booleans() | numbers | TEXTS,
        lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXTS, inside, max_size=3),
        max_leaves=12,
    )


def shuffled(value, random):
    """The same value with its keys in another order, and whole numbers as floats where that is the same number."""
    if isinstance(value, dict):
        pairs = list(value.items())
        random.shuffle(pairs)
        return MappingProxyType({key: shuffled(inner, random) for key, inner in pairs})
    if isinstance(value, list):
        return tuple(shuffled(inner, random) for inner in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return random.choice([value, float(value)])
    return value


def same(a, b):
    """Whether two values mean the same in JSON, where true is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def test_the_spelling_is_fixed():
    value = {"b": (1.0, 0.1, -0.0, 1e-7), "a": {"é": None, "Z": True}, "n": 1e22}
    expected = '{"a":{"Z":true,"é":null},"b":[1,0.1,0,1e-7],"n":10000000000000000000000}'
    assert canonical(value) == expected.encode()


def test_digests_never_change():
    key = {"method": "alt", "budget": 32.0, "params": {"tie": "fifo"}}
    assert digest(key, "t") == "f7ceb3c18588d6c1628252ad91a35d3dc051f34f52010233f8b8afc783ca3e29"
    assert cell_id(key) == "9c72eee580ba1e54a3e6351f"
    body = {"lr": 1e-7, "decay": 0.00001, "budget": 32.0, "ﬀ": [-0.0, 1e15], "😀": "\u0007\x7f\\é"}
    assert digest(body, "aacbench.prereg/1") == "b26b5102f179c5ee9fe2ac9081c45ac882f728ba6e117fd91ea91444543ed0f2"


@given(trees(PORTABLE))
def test_portable_values_are_spelt_as_rfc_8785_says(value):
    assert canonical(value) == rfc8785.dumps(value)


@given(trees(NUMBERS))
def test_reading_back_changes_nothing(value):
    assert same(json.loads(canonical(value)), value)
    assert same(json.loads(pretty(value)), value)
    assert canonical(json.loads(pretty(value))) == canonical(value)


@given(trees(PORTABLE), st.randoms(use_true_random=False))
def test_order_and_spelling_of_numbers_do_not_count(value, random):
    assert canonical(shuffled(value, random)) == canonical(value)


@given(trees(PORTABLE), trees(PORTABLE))
def test_another_value_has_another_spelling(one, other):
    assert (canonical(one) == canonical(other)) == same(one, other)


@given(*[st.recursive(st.sampled_from([0, -0.0, 1, 1.0, 0.5, "1", "", None]), st.lists, max_leaves=3)] * 2)
def test_equal_bytes_mean_equal_values(one, other):
    assert (canonical(one) == canonical(other)) == (one == other)


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
        ({"a": [float("nan")]}, "a #1 is nan, which JSON cannot hold; give a finite number, or leave it out."),
        (float("-inf"), "The value is -inf"),
        ({1: 2}, "has the key 1"),
        ({"a": {None: 2}}, "a has the key None"),
        (np.int64(3), "int64"),
        ({1, 2}, "a set"),
        (b"bytes", "a bytes"),
        ("\ud800", r"The text '\\ud800' has no UTF-8 form"),
        ({"a": 1, "b": ["file:\udcff.gr"]}, r"The text 'file:\\udcff.gr' has no UTF-8 form; if .* rename the file\."),
        ({"\ud800": 1}, "no UTF-8 form"),
        ([10**5000], "too long"),
        (holding_itself(), "contains itself"),
    ],
)
def test_what_json_cannot_hold_is_refused(value, message):
    for write in (canonical, pretty):
        with pytest.raises(DataError, match=message):
            write(value)


@pytest.mark.parametrize("number", [LARGEST + 1, -LARGEST - 1, 1e300])
def test_numbers_that_readers_round_are_not_portable(number):
    assert plain({"a": {"b": [number]}}) == {"a": {"b": [number]}}
    with pytest.raises(DataError, match=r"top\.a\.b #2 is a number of 2\^53 or more"):
        plain({"a": {"b": [LARGEST, number]}}, "top", portable=True)


def test_what_is_not_finite_becomes_null():
    assert finite({"a": (1.5, math.nan), "b": [math.inf, "x"]}) == {"a": [1.5, None], "b": [None, "x"]}


@given(trees(NUMBERS))
def test_files_are_indented_as_json_does_it(value):
    expected = json.dumps(plain(value), sort_keys=True, ensure_ascii=False, indent=1) + "\n"
    assert pretty(value) == expected.encode()


@given(trees(NUMBERS))
def test_what_was_read_from_such_a_file_need_not_be_made_plain(value):
    read = json.loads(pretty(value))
    assert pretty(read, parsed=True) == pretty(value)
    assert canonical(read, parsed=True) == canonical(value)


@pytest.mark.parametrize(("number", "spelt"), [(1.5e-05, b"0.000015"), (1e-07, b"1e-7"), (-2.5e21, b"-2.5e+21")])
def test_a_number_alone_is_spelt_as_within_a_list(number, spelt):
    assert canonical(number, parsed=True) == spelt
    assert canonical([number], parsed=True) == b"[" + spelt + b"]"


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), trees(NUMBERS), max_size=3), max_size=4))
def test_members_that_are_spelt_once_give_the_same_text(values):
    spelling = Spelling()
    for value in [*values, *values]:
        assert spelling.of(value) == canonical(value)


def test_values_that_are_equal_in_python_alone_are_spelt_apart(monkeypatch):
    spelling = Spelling()
    values = [1, True, 1.0, 0, False, None, "1", [1], [True], {"x": 1}, {"x": True}]
    assert [spelling.of({"a": value}) for value in values] == [canonical({"a": value}) for value in values]
    monkeypatch.setattr("aacbench.util.canonical.MOST_SPELT", 2)
    assert [spelling.of({"a": [n]}) for n in range(50)] == [canonical({"a": [n]}) for n in range(50)]
