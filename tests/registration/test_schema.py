"""The registration file: its defaults, its errors, and its digest."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.prereg.schema import parse_registration, read_registration, registration_of
from aacbench.util.canonical import canonical

FOLDER = Path(__file__).parents[2] / "prereg"
EXAMPLE = (FOLDER / "worked-example.toml").read_text(encoding="utf-8")
DIGEST = "075fa089182e297b7d551f156052724c09ceae5f4bd0ace87e03b6852edbfff1"
FIRST_DIGEST = "d16b837c2a6eeba45535098154ef4bf251e3e824f3fbacb358a0d6c7ae8fdbc4"  # before its last prediction changed


def changed(old, new, text=EXAMPLE):
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    return text.replace(old, new)


def refused(text):
    with pytest.raises(UsageError) as error:
        parse_registration(text)
    return str(error.value)


def test_the_digest_of_the_shipped_example_is_what_it_was():
    # A published profile, a default or a spelling that changes would change every registration.
    assert parse_registration(EXAMPLE).digest == DIGEST
    assert parse_registration(changed('of = "admissibility"', 'of = "violations"')).digest == FIRST_DIGEST


def test_comments_white_space_order_and_spelling_do_not_count():
    bare = re.sub(r"^#.*\n", "", EXAMPLE, flags=re.MULTILINE).replace(" = ", "=")
    spelt = bare.replace("budgets=[16, 32]", "budgets=[16.0, 32.0] # bytes")
    other_order = spelt.replace('mode="uniform"\nseed=2027\n', 'seed=2027\nmode="uniform"\n')
    assert other_order != spelt != bare
    assert parse_registration(other_order).digest == DIGEST


def test_a_default_left_out_is_the_default_spelt_out():
    assert parse_registration(changed('seed_source = "fixed"\n', "")).digest == DIGEST
    assert parse_registration(changed('search = "modern"\n', "")).digest == DIGEST


LEAVES = [
    (path, value)
    for path, value in (
        (("prior_exposure",), "none"),
        (("status",), "exploratory"),
        (("accounting", "convention"), "directionality-aware/1"),
        (("protocol", "budgets"), [16, 32, 64]),
        (("protocol", "seeds"), [1, 2, 3, 4, 6]),
        (("protocol", "queries", "seed"), 2028),
        (("protocol", "search"), "modern,tie=fifo"),
        (("protocol", "seed_source"), "lock"),
        (("prediction", 0, "low"), 0.5),
        (("prediction", 0, "high"), 15.000000000000002),
        (("prediction", 0, "rule"), "point"),
        (("prediction", 0, "estimand"), "hodges_lehmann"),
        (("prediction", 1, "margin"), 3.5),
        (("prediction", 2, "best"), "aac[K0=16]"),
        (("prediction", 3, "equals"), 1),
        (("analysis", "profile"), "paper/1"),
        (("analysis", "sensitivity"), ["median_ratio"]),
        (("power", "sd"), 1.6),
        (("anchors", "required"), ["rfc3161"]),
    )
]


@pytest.mark.parametrize(("path", "value"), LEAVES, ids=[".".join(map(str, path)) for path, _ in LEAVES])
def test_every_value_counts(path, value):
    table = tomllib.loads(EXAMPLE)
    place = table
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    if path[-1] == "estimand":
        place.pop("direction")
    assert registration_of(table).digest != DIGEST


def test_the_record_says_what_names_stand_for():
    record = parse_registration(EXAMPLE).record()
    assert record["analysis"]["profile"]["bootstrap_replicates"] == 2000
    assert record["accounting"]["enforced"] is True
    assert record["protocol"]["queries"]["strict"] is False
    assert canonical(record)


WRONG = [
    ("low = 0\n", "low = nan\n", "prediction #1.low is nan"),
    ("low = 0\n", "low = -inf\n", "prediction #1.low is -inf"),
    ("low = 0\n", "low = 2026-01-01\n", "prediction #1.low is a date"),
    ("low = 0\n", "low = 9007199254740992\n", "prediction #1.low is a number of 2^53"),
    ("low = 0\n", "low = 20\n", "prediction #1.low must be below prediction #1.high"),
    ("low = 0\n", "lwo = 0\n", 'Unknown key "prediction #1.lwo"; did you mean low?'),
    ("low = 0\n", "", "prediction #1.low is missing"),
    ('direction = "a"', 'direction = "b"', "prediction #1.direction is 'b'"),
    ("margin = 3\n", "margin = 0\n", "prediction #2.margin must be above 0"),
    ('cell = { graph = "maze-16", budget = 32 }', 'cell = { graph = "maze", budget = 32 }', "prediction #2.cell.graph"),
    ('cell = { graph = "maze-16", budget = 32 }', 'cell = { graph = "maze-16", budget = 8 }', "#2.cell.budget is 8"),
    ('best = "alt"', 'best = "cdh"', "prediction #3.among must name cdh"),
    ('id = "grid-32-best"', 'id = "grid-16-band"', "prediction #3.id repeats"),
    ('profile = "crossed/1"', 'profile = "crossed/9"', "analysis.profile cannot be"),
    (
        'convention = "measured/1"',
        'convention = "measured/9"',
        "accounting.convention: Unknown accounting convention",
    ),
    ("seeds = [1, 2, 3, 4, 5]", "seeds = []", "protocol.seeds must be a list"),
    ('main = ["grid-16-band"', 'main = ["nothing"', "analysis.families.main names 'nothing'"),
    ("[anchors]\n", '[anchors]\nrequired = ["blockchain"]\n', "anchors.required #1 cannot be"),
    ('status = "confirmatory"', 'status = "certain"', "status cannot be"),
    ('schema = "aacbench.prereg/1"', 'schema = "aacbench.prereg/2"', "schema cannot be"),
    ("[power]", "[powers]", 'Unknown key "powers"; did you mean power?'),
    (
        'exclusions = "unanswered"',
        'measure = ["count"]',
        "counts violations, so protocol.measure must contain",
    ),
    ('name = "aac"', 'name = "alt-pool"', "prediction #1 is about 'aac[K0=16]', but no [[method]] has that name"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG, ids=[new.strip() or f"no {old}" for old, new, _ in WRONG])
def test_a_mistake_is_named_by_its_key(old, new, sentence):
    assert sentence in refused(changed(old, new))


def test_published_observations_are_for_replications_alone():
    replication = (FOLDER / "ogbn-arxiv.toml").read_text(encoding="utf-8")
    assert "replication" in refused(changed('status = "replication"', 'status = "confirmatory"', replication))


def test_a_published_value_that_is_none_is_left_out_with_its_seed():
    replication = (FOLDER / "ogbn-arxiv.toml").read_text(encoding="utf-8")
    said = refused(changed("values = [87.60, ", "values = [nan, ", replication))
    assert said.endswith("values #1 is nan, which JSON cannot hold; give a finite number, or leave it out.")
    said = refused(changed("values = [87.60, ", "values = [", replication))
    assert said.endswith("or one for all of them; leave seeds without a value out of the list of seeds.")


@given(st.text(max_size=40))
def test_junk_is_one_sentence(text):
    assert refused(text)


def test_a_ratio_below_nothing_is_refused():
    text = changed('estimand = "reduction_of_means_pp"\nlow = 0', 'estimand = "ratio_of_means"\nlow = -0.1')
    assert "prediction #1.low is -0.1, but ratio_of_means is never below 0" in refused(text)


def test_what_an_editor_adds_does_not_count(tmp_path):
    path = tmp_path / "worked-example.toml"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert read_registration(path).digest == DIGEST


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_registration(tmp_path / "none.toml")
