"""What `pretty` wrote is read back member by member, with the same answer as by writing all of it once more."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aacbench.util import pretty_text
from aacbench.util.canonical import canonical, pretty
from aacbench.util.pretty_text import read_again, read_plainly, read_pretty

NAMES = st.one_of(st.sampled_from(["a", "b", "key", "é", '"', "\\", "", "a b", "\U0001f600"]), st.text(max_size=4))
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "plain", 'a "b"', "\\", "é", "line\nend", ',\n "x": 1']),
    st.text(max_size=5),
)
OBJECTS = st.dictionaries(
    NAMES,
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
        max_leaves=12,
    ),
    max_size=5,
)
SAMPLE = pretty(
    {
        "audit": {"arcs": 609, "counterexamples": [], "violations": {"admissible": 0, "optimal": 0}},
        "build": {"facts": {}, "pool_seconds": 0, "seconds": 1.7194999998082494e-05},
        "bytes": {"arrays": [{"dtype": "int32", "shape": [101, 2]}], "measured": True},
        "key": {"budget": 24, "label": "alt[tie=fifo]", "splits": ["validation", "test"]},
        "lock": None,
        "reason": 'a "quoted" one: é',
    }
)


def _answer(read, data):
    try:
        return read(data)
    except ValueError:
        return "refused"


@given(OBJECTS)
@example({"seconds": 1e-05, "deep": {"seconds": 1e22}})
@example({"": 1, "a": {"": {}}})
def test_the_values_and_their_canonical_spelling_come_back(value):
    record, spelt = read_pretty(pretty(value))
    assert record == json.loads(pretty(value))
    assert "{" + ",".join(spelt.values()) + "}" == canonical(value).decode()
    assert list(spelt) == list(read_plainly(pretty(value))[1])
    assert repr(read_again(pretty(value))) == repr(json.loads(pretty(value)))


@given(
    OBJECTS, st.integers(0, 400), st.sampled_from([b"", b" ", b"\n", b'"', b",", b"0", b"1", b"}", b"{", b"e", b"\xc3"])
)
def test_an_edit_is_refused_by_both_readers_or_by_none(value, place, put):
    for data in (pretty(value), SAMPLE):
        at = place % len(data)
        edited = data[:at] + put + data[at + 1 :]
        assert _answer(read_pretty, edited) == _answer(read_plainly, edited)


def test_every_changed_byte_of_a_file_is_refused_or_another_value():
    record, _ = read_pretty(SAMPLE)
    for at in range(len(SAMPLE)):
        edited = bytearray(SAMPLE)
        edited[at] ^= 1
        assert _answer(read_pretty, bytes(edited)) == _answer(read_plainly, bytes(edited))
        assert _answer(read_pretty, bytes(edited))[0] != record


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]\n",
        '{"a": 1}\n',
        '{\n "b": 1,\n "a": 1\n}\n',
        '{\n "a": 1,\n "a": 1\n}\n',
        '{\n "a": 1.50\n}\n',
        '{\n "a": 1e5\n}\n',
        '{\n "a": -0\n}\n',
        '{\n "a": NaN\n}\n',
        '{\n "a": "\\u0041"\n}\n',
        '{\n "a": {\n  "b": 1,\n "c": 2\n }\n}\n',
        '{\n "a": 1\n}\n\n',
        '{\n "a": ' + "[" * 100_000 + "\n}\n",
    ],
)
def test_another_spelling_is_refused(text):
    assert _answer(read_pretty, text.encode()) == "refused"


def test_what_is_remembered_is_bounded_and_shared(monkeypatch):
    monkeypatch.setattr(pretty_text, "MOST_MEMBERS", 3)
    monkeypatch.setattr(pretty_text, "_KNOWN", {})
    found = [read_pretty(pretty({"n": n, "same": {"a": 1}}))[0] for n in range(50)]
    assert [one["n"] for one in found] == list(range(50))
    assert all(len(known) <= 3 for known in pretty_text._KNOWN.values())
    assert len({id(one["same"]) for one in found}) < 50
