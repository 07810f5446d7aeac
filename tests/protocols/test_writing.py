"""A study is written as TOML that reads back, and its digest depends on what it says and not on how it is spelt."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.protocols import known_protocols, protocol_digest, read_protocol, to_toml
from aacbench.protocols.reader import MEASURES, SELECTIONS, coherent, parse_protocol
from aacbench.run.records import MethodChoice, QueryPlan, Study

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(lambda t: t == t.strip() != "")
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.+:-]{0,5}", fullmatch=True)
seeds = st.integers(0, 2**32 - 1)
settings = (
    st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | texts
)


def some(values, **more):
    return st.lists(values, min_size=1, max_size=3, unique=True, **more).map(tuple)


@st.composite
def methods(draw):
    fixed = draw(st.dictionaries(names, settings, max_size=2))
    options = st.lists(settings, min_size=1, max_size=3, unique_by=lambda value: (isinstance(value, bool), value))
    grid = draw(st.dictionaries(names.filter(lambda name: name not in fixed), options.map(tuple), max_size=2))
    return MethodChoice(name=draw(names), settings=fixed, grid=grid)


studies = st.builds(
    Study,
    protocol=names,
    summary=texts,
    graphs=some(texts),
    methods=st.lists(methods(), min_size=1, max_size=3, unique_by=lambda choice: choice.name).map(tuple),
    budgets=some(st.integers(1, 10**5).map(float) | st.floats(1e-300, 1e15).map(lambda value: float(f"{value:g}"))),
    seeds=some(seeds),
    queries=st.builds(
        QueryPlan,
        mode=st.sampled_from(["uniform", "hotspot", "powerlaw"]),
        seed=seeds,
        train=st.integers(0, 10**6),
        validation=st.integers(1, 10**6),
        test=st.integers(1, 10**6),
        strict=st.booleans(),
    ),
    search=st.sampled_from(["modern", "paper", "reopen=on,tie=lifo,bpmx=on"]),
    convention=st.sampled_from(["measured/1", "directionality-aware/1"]),
    selection=st.sampled_from(SELECTIONS),
    measure=some(st.sampled_from(MEASURES)).filter(lambda named: "count" in named),
    analysis=st.sampled_from(["crossed/1", "paper/1"]),
)


@given(studies)
def test_what_is_written_reads_back_to_the_same_study(study):
    again = parse_protocol(to_toml(study))
    assert repr(again) == repr(study)  # 1, 1.0 and true are equal, and must not become one another
    assert protocol_digest(again) == protocol_digest(study)


@pytest.mark.parametrize("name", known_protocols())
def test_shipped_protocols_read_back(name):
    study = read_protocol(name)
    assert parse_protocol(to_toml(study)) == study


def test_spelling_does_not_change_the_digest():
    head = 'protocol = "a"\nsummary = "b"\ngraphs = ["p7"]\nseeds = [1]\n'
    one = parse_protocol(head + 'budgets = [32]\n[[methods]]\nname = "m"\nsettings = { x = 1, y = 2 }')
    two = parse_protocol(
        'budgets = [32.0]\nsearch = "reopen=on"\n'
        + head
        + '[queries]\ntest = 100\n[[methods]]\nsettings = { y = 2, x = 1 }\nname = "m"'
    )
    assert protocol_digest(one) == protocol_digest(two) == protocol_digest(replace(one, budgets=(32,)))


def test_every_value_changes_the_digest():
    study = read_protocol("retrospective")
    others = {
        "protocol": "other",
        "summary": "other",
        "graphs": study.graphs[:1],
        "methods": study.methods[:2],
        "budgets": (32.0, 64.0),
        "seeds": study.seeds[:2],
        "queries": replace(study.queries, strict=True),
        "search": "modern",
        "convention": "measured/1",
        "selection": "none",
        "measure": ("count",),
        "analysis": "crossed/1",
    }
    assert set(others) == set(study.record())
    digests = {protocol_digest(coherent(replace(study, **{key: value}))) for key, value in others.items()}
    assert len(digests | {protocol_digest(study)}) == len(others) + 1


def test_a_parameter_that_is_one_is_not_one_that_is_true():
    study = read_protocol("valsplit")
    kinds = [replace(study, methods=(MethodChoice(name="m", settings={"x": x}),)) for x in (1, 1.0, True, "1")]
    one, same, true, text = map(protocol_digest, kinds)
    assert one == same
    assert len({one, true, text}) == 3


def test_the_digest_is_the_documented_one():
    import hashlib
    import json

    study = read_protocol("quick")
    text = json.dumps(
        study.record() | {"budgets": [int(budget) for budget in study.budgets]}, sort_keys=True, separators=(",", ":")
    )
    assert protocol_digest(study) == hashlib.sha256(b"aacbench.protocol/1\0" + text.encode()).hexdigest()
