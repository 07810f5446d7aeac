"""Protocols are read by name or by path, and a wrong one gets one sentence with the file and the key."""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.protocols import known_protocols, read_protocol
from aacbench.protocols.reader import (
    CERTIFICATES,
    KEYS,
    METHOD,
    QUERIES,
    SPLITS,
    TOP,
    VARIANT,
    parse_protocol,
    revised,
    to_toml,
)
from aacbench.run.records import Certificates, MapSplits, MethodChoice, QueryPlan, Study, Variant

HEAD = {
    "protocol": '"mine"',
    "summary": '"a test"',
    "graphs": '["p7"]',
    "budgets": "[32]",
    "seeds": "[1]",
}
METHODS = '[[methods]]\nname = "alt"\n'


def written(tail=METHODS, **changes):
    """A small protocol with some top keys changed, or left out where the change is None."""
    keys = {key: value for key, value in (HEAD | changes).items() if value is not None}
    return "".join(f"{key} = {value}\n" for key, value in keys.items()) + tail


def complaint(text, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_protocol(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")


def test_what_is_left_out_has_the_records_defaults():
    study = parse_protocol(written())
    assert study == Study(
        protocol="mine",
        summary="a test",
        graphs=("p7",),
        methods=(MethodChoice(name="alt"),),
        budgets=(32.0,),
        seeds=(1,),
    )
    assert isinstance(study.budgets[0], float)


def test_every_key_reaches_the_study():
    tail = """
        search = "reopen=off,tie=fifo"
        convention = "directionality-aware/1"
        selection = "none"
        measure = ["time", "count"]
        analysis = "paper/1"
        [queries]
        mode = "hotspot"
        seed = 7
        train = 3
        validation = 0
        test = 5
        strict = true
        [[methods]]
        name = "aac"
        settings = { init = "identity", lr = 1e-3, fancy = true }
        grid = { K0 = [32, 64] }
        [[methods]]
        name = "aac"
    """
    assert parse_protocol(written(tail, budgets="[32, 0.5]")) == Study(
        protocol="mine",
        summary="a test",
        graphs=("p7",),
        methods=(
            MethodChoice(name="aac", settings={"init": "identity", "lr": 0.001, "fancy": True}, grid={"K0": (32, 64)}),
            MethodChoice(name="aac"),
        ),
        budgets=(32.0, 0.5),
        seeds=(1,),
        queries=QueryPlan(mode="hotspot", seed=7, train=3, validation=0, test=5, strict=True),
        search="paper",
        convention="directionality-aware/1",
        selection="none",
        measure=("time", "count"),
        analysis="paper/1",
    )


def test_the_key_tables_are_the_records_fields():
    tables = {Study: TOP, QueryPlan: QUERIES, MethodChoice: METHOD, Variant: VARIANT}
    tables |= {MapSplits: SPLITS, Certificates: CERTIFICATES}
    for kind, checks in tables.items():
        assert set(checks) == set(kind.__dataclass_fields__)
    assert len(set(KEYS)) == sum(map(len, tables.values()))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (written(seeds=None), "seeds is missing."),
        (written(""), "methods is missing."),
        (written("[[methods]]\n"), "methods #1.name is missing."),
        (written(grafs='["p7"]'), 'Unknown key "grafs"; did you mean graphs?'),
        (
            written(METHODS + "[queries]\nvalidatoin = 1"),
            'Unknown key "queries.validatoin"; did you mean validation?',
        ),
        (written(METHODS + "zzz = 1"), 'Unknown key "methods #1.zzz"; choose one of name, settings, grid.'),
        (
            written(METHODS + '[queries]\nvalidation = "ten"'),
            'queries.validation must be a whole number of at least 0, not "ten".',
        ),
        (written(METHODS + "[queries]\ntest = 0"), "queries.test must be a whole number of at least 1, not 0."),
        (written(METHODS + "[queries]\ntrain = -1"), "queries.train must be a whole number of at least 0, not -1."),
        (written(METHODS + "[queries]\ntest = true"), "queries.test must be a whole number of at least 1, not true."),
        (written(METHODS + "[queries]\nstrict = 1"), "queries.strict must be true or false, not 1."),
        (written(METHODS + '[queries]\nmode = "hotspots"'), 'queries.mode cannot be "hotspots"; did you mean hotspot?'),
        (written(queries="3"), "queries must be a table, not 3."),
        (written(graphs="[]"), "graphs must be a list with at least one entry, not an empty list."),
        (written(graphs='"p7"'), 'graphs must be a list with at least one entry, not "p7".'),
        (written(graphs='["p7", " p7"]'), 'graphs #2 must be a text without blanks at its ends, not " p7".'),
        (written(graphs='["p7", "grid", "p7"]'), "graphs #3 repeats graphs #1; give each entry once."),
        (written(seeds="[1, 1]"), "seeds #2 repeats seeds #1; give each entry once."),
        (written(seeds="[-1]"), "seeds #1 must be a whole number between 0 and 4294967295, not -1."),
        (written(seeds="[4294967296]"), "seeds #1 must be a whole number between 0 and 4294967295, not 4294967296."),
        (written(seeds="[1.0]"), "seeds #1 must be a whole number between 0 and 4294967295, not 1.0."),
        (written(budgets="[64, 64.0]"), "budgets #2 repeats budgets #1; give each entry once."),
        (written(budgets="[32, -64]"), "budgets #2 must be a positive number of bytes per vertex, not -64."),
        (written(budgets="[32, 32.000001]"), "budgets #2 must be a number of at most six digits, not 32.000001."),
        (written(budgets="[1234567]"), "budgets #1 must be a number of at most six digits, not 1234567."),
        (written(budgets="[0]"), "budgets #1 must be a positive number of bytes per vertex, not 0."),
        (written(budgets="[inf]"), "budgets #1 must be a positive number of bytes per vertex, not inf."),
        (written(budgets="[nan]"), "budgets #1 must be a positive number of bytes per vertex, not nan."),
        (written(budgets="[true]"), "budgets #1 must be a positive number of bytes per vertex, not true."),
        (written(protocol='"my own"'), 'protocol must be a name of letters, digits and _ . + : -, not "my own".'),
        (written(summary='""'), 'summary must be a text without blanks at its ends, not "".'),
        (
            written(selection='"best"'),
            'selection cannot be "best"; choose one of mean-expansions, retrospective, none.',
        ),
        (written(selection="1"), "selection must be one of mean-expansions, retrospective, none, not 1."),
        (written(measure='["audit"]'), "measure must include count: only counted searches are timed and audited."),
        (written(measure='["count", "tiem"]'), 'measure #2 cannot be "tiem"; did you mean time?'),
        (written(analysis='"paper"'), 'analysis cannot be "paper"; did you mean paper/1?'),
        (written(analysis='"paper/2"'), 'analysis cannot be "paper/2"; did you mean paper/1?'),
        (written("[methods]\nname = 'alt'"), "methods must be a list of tables; write [[methods]] above each."),
        (written(methods="[]", tail=""), "methods must be a list with at least one entry, not an empty list."),
        (written(methods='["alt"]', tail=""), 'methods #1 must be a table, not "alt".'),
        (written(METHODS * 2), "methods #2 repeats methods #1; give each entry once."),
        (
            written(METHODS + "settings = { a = 1, b = 2 }\n" + METHODS + "settings = { b = 2, a = 1 }"),
            "methods #2 repeats methods #1; give each entry once.",
        ),
        (
            written(METHODS + "settings = { K0 = [1] }"),
            "methods #1.settings.K0 must be true, false, a number or a text, not a list.",
        ),
        (
            written(METHODS + "settings = { K0 = 9007199254740993 }"),
            "methods #1.settings.K0 must be true, false, a number or a text, not a number beyond 2^53.",
        ),
        (written(METHODS + "settings = { lr = inf }"), "methods #1.settings.lr must be a finite number, not inf."),
        (
            written(METHODS + 'settings = { "a b" = 1 }'),
            'a name in methods #1.settings must be a name of letters, digits and _ . + : -, not "a b".',
        ),
        (
            written(METHODS + "grid = { K0 = 64 }"),
            "methods #1.grid.K0 must be a list with at least one entry, not 64.",
        ),
        (
            written(METHODS + "grid = { K0 = [64, 32, 64] }"),
            "methods #1.grid.K0 #3 repeats methods #1.grid.K0 #1; give each entry once.",
        ),
        (
            written(METHODS + "settings = { K0 = 1 }\ngrid = { K0 = [64] }"),
            "methods #1 has K0 both in settings and in grid; give it once.",
        ),
        (
            written(METHODS + "grid = { K0 = [32] }\n[queries]\nvalidation = 0"),
            'queries.validation must be at least 1 where selection is "mean-expansions": '
            "settings in the grid of alt are chosen on validation queries.",
        ),
    ],
)
def test_each_mistake_has_its_sentence(text, sentence, tmp_path):
    assert complaint(text, tmp_path) == sentence


def test_true_and_one_are_two_values_of_a_grid():
    (method,) = parse_protocol(written(METHODS + "grid = { x = [1, true] }")).methods
    assert method.grid["x"] == (1, True)


def test_policies_and_conventions_are_checked_by_those_who_know_them(tmp_path):
    assert re.match("search: .*'modren'", complaint(written(search='"modren"'), tmp_path))
    assert complaint(written(search="1"), tmp_path).startswith("search must be a text")
    assert re.match("search: .*tie", complaint(written(search='"tie=best"'), tmp_path))
    assert re.match("convention: .*'measured'.* measured/1", complaint(written(convention='"measured"'), tmp_path))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("protocol = 'a'\nsummary\n", "line 2"),
        ("protocol = 'a'\nprotocol = 'b'\n", "line 2"),
        ("a = 1\n[queries]\n[queries]\n", "line 3"),
        ("a = 1\nb = [", "line 2"),
        ('a = 1\n\nb = """', "line 3"),
    ],
)
def test_bad_toml_is_told_with_its_line(text, place, tmp_path):
    sentence = complaint(text, tmp_path)
    assert sentence.startswith("Not valid TOML: ")
    assert place in sentence
    assert "end of document" not in sentence


def test_what_toml_itself_cannot_take_is_a_sentence_too(tmp_path):
    assert "digits" in complaint(f"a = {'9' * 5000}", tmp_path)
    assert "recursion" in complaint(f"a = {'[' * 100_000}", tmp_path)


def test_a_byte_order_mark_is_no_part_of_a_protocol(tmp_path):
    file = tmp_path / "marked.toml"
    file.write_bytes(b"\xef\xbb\xbf" + (resources.files("aacbench.protocols") / "quick.toml").read_bytes())
    assert read_protocol(file) == read_protocol("quick")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'summary = "caf\xe9"')
    with pytest.raises(UsageError, match="Byte 15 is not UTF-8"):
        read_protocol(tmp_path / "latin.toml")
    with pytest.raises(UsageError, match=r"missing\.toml: The protocol cannot be read \(No such file"):
        read_protocol(tmp_path / "missing.toml")
    for no_file, reason in ((tmp_path, "Is a directory"), ("/dev/null", "it is a pipe or a device; write its content")):
        with pytest.raises(UsageError, match=rf"The protocol cannot be read \({reason}"):
            read_protocol(no_file)
    with pytest.raises(UsageError, match="the name contains a NUL character"):
        read_protocol("a\0b.toml")
    with pytest.raises(UsageError, match="The protocol cannot be read"):
        read_protocol("x" * 5000 + ".toml")


def test_names_come_before_files_and_shipped_ones_before_plugins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own.toml"
    own.write_text(written(), encoding="utf-8")
    (tmp_path / "quick").write_text("nonsense", encoding="utf-8")
    extra = {"theirs": own, "quick": own}
    assert known_protocols(extra) == (*known_protocols(), "theirs")
    assert read_protocol("theirs", extra).protocol == "mine"
    assert read_protocol("quick", extra).protocol == "quick"
    assert read_protocol("own.toml").protocol == "mine"
    assert read_protocol(f".{os.sep}own.toml").protocol == "mine"


def test_a_plugins_broken_file_is_named(tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text(written(seeds=None), encoding="utf-8")
    with pytest.raises(UsageError, match=r"broken\.toml: seeds is missing"):
        read_protocol("theirs", {"theirs": broken})


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UsageError, match=r'Unknown protocol "quik"; did you mean quick\?'):
        read_protocol("quik")
    with pytest.raises(
        UsageError, match=r"choose one of ablation, context, context-paper, .*controls, heldout, quick, rec"
    ):
        read_protocol("zzzzzz")


def test_shipped_protocols_are_called_what_their_files_are():
    shipped = {"ablation", "quick", "valsplit", "retrospective", "soundness", "heldout"}
    shipped |= {"traffic", "recommend", "records", "controls", "context", "context-paper"}
    shipped |= {"context-quick", "context-warcraft"}
    assert set(known_protocols()) == shipped
    assert all(read_protocol(name).protocol == name for name in known_protocols())


def test_shipped_protocols_run_on_graphs_that_need_no_file():
    from aacbench.graphs.catalogue import FIXED, SIZED

    for name in known_protocols():
        for graph in read_protocol(name).graphs:
            assert graph in FIXED or SIZED.fullmatch(graph), f"{name}: {graph}"


def test_valsplit_is_the_papers():
    study = read_protocol("valsplit")
    assert (study.search, study.convention) == ("paper", "directionality-aware/1")
    assert study.budgets == (32, 64, 128)
    assert study.seeds == (42, 123, 456, 789, 1024)
    assert study.queries == QueryPlan(mode="uniform", seed=42, validation=100, test=100)
    assert (study.selection, study.analysis) == ("mean-expansions", "paper/1")


def test_retrospective_differs_from_valsplit_in_what_it_chooses_on():
    study, usual = read_protocol("retrospective"), read_protocol("valsplit")
    assert (study.queries.validation, study.queries.test, study.selection) == (0, 100, "retrospective")
    assert {tuple(choice.grid.items()) for choice in study.methods if choice.grid} == {(("K0", (32, 64, 128)),)}
    same = ("graphs", "budgets", "seeds", "search", "convention", "analysis")
    assert all(getattr(study, key) == getattr(usual, key) for key in same)


def test_importing_the_reader_imports_nothing_heavy():
    code = "import sys, aacbench.protocols; sys.exit('numpy' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.dates()
junk = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


@given(st.sampled_from(sorted(TOP)), junk)
def test_any_value_is_read_or_refused_with_its_key(key, value):
    study = parse_protocol(written())
    try:
        changed = revised(study, {key: value})
    except UsageError as error:
        sentence = str(error)
    else:
        assert replace(changed, **{key: getattr(study, key)}) == study
        return
    assert f"--{key}" in sentence
    assert "\n" not in sentence


@given(st.text(alphabet='abk0=[]{},."#1-\n\t é', max_size=40))
def test_any_text_is_toml_or_refused(text):
    try:
        tomllib.loads(text)
        expected = ("Unknown key", "protocol is missing")
    except tomllib.TOMLDecodeError:
        expected = ("Not valid TOML",)
    with pytest.raises(UsageError) as caught:
        parse_protocol(text)
    assert str(caught.value).startswith(expected)


# Traffic


def test_traffic_is_read_in_one_spelling():
    study = parse_protocol(written(traffic='["none", "arcs[factor=3.0,share=.05]"]'))
    assert study.traffic == ("none", "arcs[share=0.05,factor=3]")
    assert parse_protocol(to_toml(study)) == study
    assert revised(study, {"traffic": ["network"]}).traffic == ("network[factor=3]",)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ('["arcs[factor=0.9]"]', "traffic #1: The factor of traffic must be between 1 and 1000"),
        ('["arcs", "arcs[share=0.1]"]', "traffic #2 repeats traffic #1"),
        ("[]", "traffic must be a list with at least one entry"),
    ],
)
def test_wrong_traffic_is_refused(value, part, tmp_path):
    assert part in complaint(written(traffic=value), tmp_path)


def test_a_grid_is_refused_under_traffic(tmp_path):
    tail = '[[methods]]\nname = "alt-pool"\ngrid = { K0 = [32, 64] }\n'
    assert "chosen after the weights rose" in complaint(written(tail, traffic='["arcs"]'), tmp_path)
