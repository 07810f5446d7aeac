"""Method lists and other changes from the command line, under the same checks as a protocol's keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.protocols import override, parse_methods, read_protocol, spell
from aacbench.protocols.choices import value_of
from aacbench.run.records import MethodChoice, QueryPlan, Study


def choice(name, grid=(), **settings):
    return MethodChoice(name=name, settings=settings, grid=dict(grid))


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("alt", [choice("alt")]),
        (" alt , dijkstra ", [choice("alt"), choice("dijkstra")]),
        ("alt[]", [choice("alt")]),
        ("alt[tie=fifo],alt-pool[K0=64]", [choice("alt", tie="fifo"), choice("alt-pool", K0=64)]),
        ("alt,alt[tie=fifo]", [choice("alt"), choice("alt", tie="fifo")]),
        ("aac [ init = identity , lr = 1e-3 ]", [choice("aac", init="identity", lr=0.001)]),
        ("alt-pool[K0=32|64 | 128]", [choice("alt-pool", {"K0": (32, 64, 128)})]),
        ("m[a=1|x|true,b=2]", [choice("m", {"a": (1, "x", True)}, b=2)]),
        ("hybrid[a=aac[K0=64],b=alt]", [choice("hybrid", a="aac[K0=64]", b="alt")]),
        (
            "hybrid[a=aac[K0=32|64,init=x],b=h[a=p[q=1],b=r]]",
            [choice("hybrid", a="aac[K0=32|64,init=x]", b="h[a=p[q=1],b=r]")],
        ),
        ("hybrid[a=aac[K0=32]|alt]", [choice("hybrid", {"a": ("aac[K0=32]", "alt")})]),
    ],
)
def test_a_method_list_is_read(text, choices):
    assert parse_methods(text) == tuple(choices)


@pytest.mark.parametrize(
    ("text", "what", "character"),
    [
        ("", "a method name is missing", 1),
        ("alt,", "a method name is missing", 5),
        ("alt,,dijkstra", "a method name is missing", 5),
        ("[tie=fifo]", "a method name is missing", 1),
        ("alt dijkstra", '"alt dijkstra" is not a method name', 1),
        ("alt=3", '"alt=3" is not a method name', 1),
        ("alt[tie=fifo", "[ is never closed", 4),
        ("h[a=x[b=1]", "[ is never closed", 2),
        ("alt]", "] closes nothing", 4),
        ("alt[tie=fifo]]", "] closes nothing", 14),
        ("alt[tie=fifo]dijkstra", "a comma is missing", 14),
        ("alt[a=1][b=2]", "a comma is missing", 9),
        ("alt[tie]", "tie has no value; write tie=VALUE", 5),
        ("alt[tie=]", "a value of tie is missing", 9),
        ("alt[K0=32||64]", "a value of K0 is missing", 11),
        ("alt[=fifo]", "a setting name is missing", 5),
        ("alt[tie=fifo,]", "a setting name is missing", 14),
        ("alt[a b=1]", '"a b" is not a setting name', 5),
        ("alt[tie=fifo reopen=on]", "a setting has a second =", 20),
        ("alt[K=1, K=2]", "K is set twice", 9),
        ("alt[K=1,K=2|3]", "K is set twice", 9),
        ("alt[K=2|3|2]", "K has the value 2 twice", 11),
        ("alt[K=2|2.0]", "K has the value 2.0 twice", 9),
        ("alt,dijkstra,alt", "alt is repeated", 14),
        ("alt[a=1,b=2],alt[b=2,a=1]", "alt[b=2,a=1] is repeated", 14),
        ("alt-pool[K0=32|64],alt-pool", "alt-pool is repeated", 20),
    ],
)
def test_a_mistake_is_told_with_its_place(text, what, character):
    with pytest.raises(UsageError) as caught:
        parse_methods(text)
    assert str(caught.value) == f'Methods "{text}": {what} at character {character}.'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("64", 64),
        ("-3", -3),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("2E3", 2000.0),
        ("on", "on"),
        ("TRUE", "TRUE"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("1e999", "1e999"),
        ("9007199254740993", "9007199254740993"),
        ("٣", "٣"),
        ("0x10", "0x10"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_only_obvious_numbers_are_numbers(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.+:-]{0,5}", fullmatch=True)
plain = st.text(st.characters(exclude_characters="[],|=", exclude_categories=["Cs"]), min_size=1, max_size=6)
words = plain.map(str.strip).filter(lambda text: text != "" and value_of(text) is text)
nested = st.builds("{}[{}={}]".format, names, names, words)
settings = (
    st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | words
)
values = settings | nested
grids = st.lists(values, min_size=2, max_size=3, unique_by=lambda value: (isinstance(value, bool), value))


@st.composite
def choices(draw, with_grid=True):
    fixed = draw(st.dictionaries(names, values, max_size=3))
    open_ = draw(st.dictionaries(names.filter(lambda name: name not in fixed), grids, max_size=2)) if with_grid else {}
    grid = {key: tuple(options) for key, options in open_.items()}
    return MethodChoice(name=draw(names), settings=fixed, grid=grid)


def exactly(some):
    """Values with their types, as 1, 1.0 and True are equal."""
    return [(each.name, repr(each.settings), repr(each.grid)) for each in some]


@given(st.lists(choices(with_grid=False), min_size=1, max_size=3, unique_by=lambda each: each.name))
def test_labels_read_back(some):
    assert exactly(parse_methods(",".join(each.label for each in some))) == exactly(some)


@given(st.lists(choices(), min_size=1, max_size=3, unique_by=lambda each: each.name))
def test_spellings_read_back_with_their_grids(some):
    assert exactly(parse_methods(", ".join(map(spell, some)))) == exactly(some)


@given(st.text(alphabet="ab1.,|=[] \n", max_size=25))
def test_any_text_is_read_stably_or_refused_with_a_place_in_it(text):
    try:
        some = parse_methods(text)
    except UsageError as error:
        place = int(str(error).rpartition("character ")[2].rstrip("."))
        assert 1 <= place <= len(text) + 1
    else:
        assert exactly(parse_methods(",".join(map(spell, some)))) == exactly(some)


QUERY_FORMS = "a number such as 200, validation/test such as 100/100, or a .csv or .scen file"
STUDY = Study(
    protocol="mine",
    summary="a test",
    graphs=("p7",),
    methods=(
        choice("alt", tie="fifo"),
        choice("alt", tie="lifo"),
        choice("pool", {"K0": (32, 64), "m": (1, 2)}, tie="fifo", layout="rows"),
    ),
    budgets=(32.0,),
    seeds=(1,),
    queries=QueryPlan(train=7, validation=50, test=150, strict=True),
)


def test_nothing_said_changes_nothing():
    assert override(STUDY) == STUDY


def test_lists_and_names_replace_the_protocols():
    changed = override(
        STUDY,
        graphs="dimacs:NY, p7",
        budgets="32,64.5",
        seeds="1, 2",
        search="paper",
        convention="directionality-aware/1",
    )
    assert (changed.graphs, changed.budgets, changed.seeds) == (("dimacs:NY", "p7"), (32.0, 64.5), (1, 2))
    assert (changed.search, changed.convention) == ("paper", "directionality-aware/1")
    assert override(STUDY, graphs=["dimacs:NY", "p7"], budgets=(32, 64.5), seeds=[1, 2]) == override(
        STUDY, graphs="dimacs:NY,p7", budgets="32,64.5", seeds="1,2"
    )
    assert override(STUDY, search="modern,tie=fifo").search == "reopen=on,tie=fifo,bpmx=off"


@pytest.mark.parametrize(
    ("wanted", "validation", "test"),
    [("100/30", 100, 30), (" 0 / 5 ", 0, 5), ("200", 50, 150), (200, 50, 150), ("10", 2, 8), (1, 0, 1)],
)
def test_queries_are_a_split_or_a_number_in_the_protocols_proportion(wanted, validation, test):
    study = override(STUDY, methods="alt", queries=wanted)
    assert study.queries == QueryPlan(train=7, validation=validation, test=test, strict=True)


def test_two_hundred_queries_are_halves_for_valsplit_and_all_test_for_retrospective():
    assert override(read_protocol("valsplit"), queries="200").queries == QueryPlan(validation=100, test=100)
    assert override(read_protocol("retrospective"), queries="200").queries == QueryPlan(validation=0, test=200)


def test_a_whole_query_plan_replaces_the_protocols():
    plan = QueryPlan(mode="powerlaw", test=3)
    assert override(STUDY, queries=plan).queries == plan


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dijkstra", [choice("dijkstra")]),
        ("pool", [STUDY.methods[2]]),
        ("pool[K0=128]", [choice("pool", {"m": (1, 2)}, tie="fifo", layout="rows", K0=128)]),
        (
            "pool[tie=lifo|fifo]",
            [choice("pool", {"K0": (32, 64), "m": (1, 2), "tie": ("lifo", "fifo")}, layout="rows")],
        ),
        ("pool[K0=1|2,tie=x]", [choice("pool", {"K0": (1, 2), "m": (1, 2)}, tie="x", layout="rows")]),
        ("alt", STUDY.methods[:2]),
        ("alt[bpmx=on]", [choice("alt", tie="fifo", bpmx="on"), choice("alt", tie="lifo", bpmx="on")]),
        ("alt[tie=large-g]", [choice("alt", tie="large-g")]),
        ("dijkstra,alt[tie=fifo]", [choice("dijkstra"), choice("alt", tie="fifo")]),
    ],
)
def test_a_described_method_keeps_what_the_text_does_not_say(text, expected):
    assert override(STUDY, methods=text).methods == tuple(expected)


def test_methods_given_as_records_are_taken_as_they_are():
    assert override(STUDY, methods=[choice("pool")]).methods == (choice("pool"),)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"budgets": "32,x"}, '--budgets #2 must be a positive number of bytes per vertex, not "x".'),
        ({"budgets": "-1"}, "--budgets #1 must be a positive number of bytes per vertex, not -1."),
        ({"budgets": []}, "--budgets must be a list with at least one entry, not an empty list."),
        ({"seeds": "1,1"}, "--seeds #2 repeats --seeds #1; give each entry once."),
        ({"seeds": "1.5"}, "--seeds #1 must be a whole number between 0 and 4294967295, not 1.5."),
        ({"graphs": "p7,,p7"}, '--graphs #2 must be a text without blanks at its ends, not "".'),
        ({"methods": [choice("alt"), choice("alt")]}, "--methods #2 repeats --methods #1; give each entry once."),
        *(
            ({"queries": text}, f'--queries must be {QUERY_FORMS}, not "{text}".')
            for text in ("a/b", "true", -1, "1/2/3", "x.txt")
        ),
        ({"queries": "5/0"}, '--queries must be at least one test query, such as 100/100, not "5/0".'),
        (
            {"queries": "0/5"},
            'queries.validation must be at least 1 where selection is "mean-expansions": '
            "settings in the grid of pool are chosen on validation queries.",
        ),
    ],
)
def test_a_wrong_change_is_told_as_the_option_it_came_from(changes, sentence):
    with pytest.raises(UsageError) as caught:
        override(STUDY, **changes)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("option", "value"), [("search", "modren"), ("convention", "free/1")])
def test_an_unknown_policy_or_convention_is_told_as_the_option_it_came_from(option, value):
    with pytest.raises(UsageError, match=f"^--{option}: .*'{value}'"):
        override(STUDY, **{option: value})
