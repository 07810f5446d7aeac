"""Methods made of others, and the hybrids: their parts, claims, memory and reports."""

from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import small_studies as studies

from aacbench.bundle import store
from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import PAPER, Budget, GraphInfo
from aacbench.contract.composite import assemble, nominal_bytes, part_names, read_part, resolve_parts
from aacbench.contract.method import Claims, Part, Unsupported
from aacbench.errors import UsageError
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.reports.tables import markdown, rows_of
from aacbench.run.driver import prepare, run_study
from aacbench.run.rebuild import difference, rebuild, stored_bundle, stored_job
from aacbench.run.records import MethodChoice
from aacbench.run.rows import read_queries
from aacbench.run.run_config import named
from aacbench.run.study import planned_cells
from aacbench.search import search

COMPOSITES = Path(__file__).parent.parent / "plugins" / "composite_methods.py"
INFO = GraphInfo("g", 100, 400, True, True, True, 4)


@cache
def plugins():
    return load_plugins((COMPOSITES,), environment={"AACBENCH_PLUGINS": ""})


def method_of(name):
    return plugins().method(name).method


def assembled(name, **settings):
    """A method with its parts, and its parameters."""
    method = method_of(name)
    params = resolve_parts(method, resolve(method, settings), method_of, resolve)
    return assemble(method, params, method_of), params


def fitted(name, budget, **settings):
    method, params = assembled(name, **settings)
    return method.fit(budget, INFO, params)


def part_params(params):
    return [(part["method"], part["params"]["K"]) for part in params["parts"]]


def test_a_hybrid_is_searched_as_its_parts_prefer():
    cdh, params = assembled("hybrid-half", a="alt", b="cdh")
    assert cdh.search(params) == {"bpmx": True}
    alt, params = assembled("hybrid-half", a="alt", b="alt-pool")
    assert alt.search(params) == {}


# Parts as they are named


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("alt", Part("alt")),
        (" alt-pool[K0=64, K=4] ", Part("alt-pool", {"K0": "64", "K": "4"})),
        ("hybrid[a=alt-pool[K0=8,K=2],b=alt]", Part("hybrid", {"a": "alt-pool[K0=8,K=2]", "b": "alt"})),
        ("alt[]", Part("alt")),
    ],
)
def test_a_part_is_read_with_its_settings(text, part):
    assert read_part(text) == part


@pytest.mark.parametrize("text", ["alt[K=4", "alt[K]", "alt[K=]", "alt[K=1|2]", "alt[K=1,K=2]"])
def test_a_part_that_says_nothing_definite_is_refused(text):
    with pytest.raises(UsageError, match=r"no closing bracket|is not one setting"):
        read_part(text)


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("hybrid", {"a": "altt"}, "Unknown method 'altt'; did you mean 'alt'?"),
        ("hybrid", {"a": "alt[K9=4]"}, "has no parameter 'K9'"),
        ("hybrid", {"a": "alt[K=four]"}, "takes a whole number"),
        ("greedy", {}, "more than its budget"),
        ("circle", {}, "more than 4 deep"),
        ("empty", {}, "must return Part"),
        ("failing", {}, "failed with ZeroDivisionError"),
    ],
)
def test_parts_that_cannot_be_are_refused_before_anything_is_built(name, settings, reason):
    with pytest.raises(UsageError, match=reason):
        assembled(name, **settings)


# What fits


@pytest.mark.parametrize(("name", "share"), [("hybrid-half", 1), ("hybrid", 1), ("hybrid-double", 2)])
def test_each_part_is_fitted_to_its_share(name, share):
    params = fitted(name, Budget(32), a="alt", b="alt-pool[K0=16]")
    assert part_params(params) == [("alt", 4 * share), ("alt-pool", 4 * share)]
    assert params["parts"][1]["params"]["K0"] == 16
    assert nominal_bytes(params, 32) == 32 * share
    # The paper's convention believes that the graph is directed: half as many landmarks.
    assert part_params(fitted(name, Budget(32, PAPER), a="alt", b="alt")) == [("alt", 2 * share)] * 2


def test_hybrids_of_hybrids_are_fitted_all_the_way_down():
    params = fitted("hybrid", Budget(64), a="alt", b="hybrid-half[a=alt,b=alt-pool]")
    inner = params["parts"][1]["params"]
    assert part_params(inner) == [("alt", 4), ("alt-pool", 4)]
    assert sorted(part_names(params)) == ["alt", "alt", "alt-pool", "hybrid-half"]
    assert nominal_bytes(params, 64) == 64


def test_a_part_that_does_not_fit_is_the_reason():
    found = fitted("hybrid", Budget(32), a="alt", b="alt[K=5]")
    assert found == Unsupported("alt at 16 B/v: 5 landmarks do not fit 16 bytes per vertex; 4 do")


# What is claimed


@pytest.mark.parametrize(
    ("name", "b", "claims"),
    [
        ("hybrid", "alt-pool", Claims()),
        ("hybrid", "random-subset", Claims(deterministic=False)),
        ("hybrid", "peeker", Claims(oracle=True)),
        ("hybrid", "shaky", Claims(consistent=False)),
        ("hybrid-double", "alt", Claims(matched=False)),
        ("hybrid", "hybrid-double[a=alt,b=peeker]", Claims(oracle=True, matched=False)),
    ],
)
def test_what_is_claimed_for_the_whole_holds_for_each_part(name, b, claims):
    assert asdict(assembled(name, a="alt", b=b)[0].claims) == asdict(claims)


# In a run


def choice(name, **settings):
    return MethodChoice(name=name, settings=settings)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    root = tmp_path_factory.mktemp("hybrids")
    study = studies.study(
        choice("hybrid-half", a="alt", b="random-subset"),
        choice("hybrid-half", a="alt", b="alt-pool"),
        choice("hybrid-double", a="alt", b="alt-pool"),
        choice("hybrid", a="peeker", b="blind"),
        choice("alt", K=2),
        "alt",
        seeds=(1, 2),
    )
    cells = run_study(study, studies.config(root, plugins=(COMPOSITES,)))
    return root, cells


def rows(root, label):
    (found,) = [cell for cell in studies.cells(root).values() if cell.key["label"] == label]
    return read_queries(found.files["queries.csv"])


def test_deterministic_parts_run_with_the_first_seed_only(ran):
    seeds = {}
    for cell, _ in ran[1]:
        seeds.setdefault(cell.label, []).append(cell.seed)
    assert seeds["hybrid-half[a=alt,b=alt-pool]"] == [1]
    assert seeds["hybrid-half[a=alt,b=random-subset]"] == [1, 2]


def test_halves_of_the_same_labels_are_those_labels(ran):
    root, _ = ran
    assert {cell.outcome for cell in studies.cells(root).values()} == {"ok"}
    half, double = rows(root, "hybrid-half[a=alt,b=alt-pool]"), rows(root, "hybrid-double[a=alt,b=alt-pool]")
    assert np.array_equal(half["expanded"], rows(root, "alt[K=2]")["expanded"])
    assert np.array_equal(double["expanded"], rows(root, "alt")["expanded"])


def test_cells_record_their_parts_and_what_they_deploy(ran):
    cells = {cell.key["label"]: cell for cell in studies.cells(ran[0]).values()}
    half, double = cells["hybrid-half[a=alt,b=alt-pool]"], cells["hybrid-double[a=alt,b=alt-pool]"]
    assert part_params(half.key["params"]) == [("alt", 2), ("alt-pool", 2)]
    assert half.key["part_digests"].keys() == {"alt", "alt-pool"}
    assert "part_digests" not in cells["alt"].key
    assert [array["name"] for array in half.record["bytes"]["arrays"]] == ["a.rows", "b.rows"]
    assert [cell.record["bytes"]["nominal_per_vertex"] for cell in (half, double)] == [16, 32]
    assert double.record["bytes"]["measured_per_vertex"] > 32
    assert [cell.record["claims"]["matched"] for cell in (half, double)] == [True, False]
    assert len(half.record["bundle"]) == 64


def test_only_the_part_that_is_an_oracle_sees_the_test_queries(ran):
    (cell,) = [cell for cell in studies.cells(ran[0]).values() if cell.key["method"] == "hybrid"]
    assert cell.record["bytes"]["total"] == 3 * 64  # a tenth of 30 test queries for one part, none for the other


def test_what_is_over_its_budget_is_marked_in_the_table(ran):
    table = rows_of(planned_cells(ran[0]))
    assert {row.method for row in table if not row.matched} == {"hybrid-double[a=alt,b=alt-pool]"}
    text = markdown(table)
    assert "| hybrid-double[a=alt,b=alt-pool] (over budget) |" in text
    assert "(over budget): deploys more bytes than its budget, by design" in text
    assert "| alt[K=2 labels=exact] alt-pool[K=2 labels=exact] " in text


def test_a_hybrid_is_built_again_as_it_was(ran):
    root, _ = ran
    (cell,) = [found for found in studies.cells(root).values() if found.key["method"] == "hybrid-double"]
    config = studies.config(root, plugins=(COMPOSITES,))
    job = stored_job(config, cell)
    assert difference(cell, rebuild(config, [job])[cell.cell_id]) == ""
    net, queries = job.loaded().net, job.loaded().part("test")
    deployed = deploy(store.load(stored_bundle(root, cell)), net)
    found = search(net, deployed.searched, queries.sources, queries.targets)
    stored = read_queries(cell.files["queries.csv"])
    assert np.array_equal(found.expanded, stored["expanded"][stored["split"] == "test"])


def test_a_change_in_a_part_changes_the_cell(tmp_path):
    study = studies.study(choice("hybrid", a="alt", b="blind"), "alt")
    before = studies.config(tmp_path, plugins=(COMPOSITES,))
    edited = replace(before.methods["blind"], digest="edited")
    after = replace(before, methods={**before.methods, "blind": edited})
    ids = []
    for each in (before, after):
        planned, facts = prepare(study, each)
        ids.append([name for _, name in named(study, each, facts, planned.cells)])
    assert [one == other for one, other in zip(*ids, strict=True)] == [True, False, True]


def test_a_closed_set_for_an_inconsistent_part_must_be_asked_for_by_name(tmp_path):
    for asked, policy in (({}, "reopen=on,tie=fifo,bpmx=off"), ({"reopen": False}, "paper")):
        study = studies.study(choice("hybrid", a="alt", b="shaky", **asked), search="paper")
        planned, _ = prepare(study, studies.config(tmp_path, plugins=(COMPOSITES,)))
        assert planned.cells[-1].policy == policy


def test_a_grid_over_parts_is_chosen_from_as_any_other(tmp_path):
    mixed = MethodChoice(name="hybrid", settings={"a": "alt"}, grid={"b": ("alt-pool", "random-subset")})
    study = studies.study(
        mixed, MethodChoice(name="hybrid-half", settings={"a": "alt"}, grid={"b": ("alt", "dijkstra")})
    )
    planned, _ = prepare(replace(study, seeds=(1, 2)), studies.config(tmp_path, plugins=(COMPOSITES,)))
    assert [len(group) for group in planned.groups().values()] == [2, 2, 2]  # the second is deterministic as a whole


def test_a_part_that_there_is_not_is_told_before_graphs_are_loaded(tmp_path):
    study = studies.study(choice("hybrid", a="alt", b="altt"), graphs=("no-such-graph",))
    with pytest.raises(UsageError, match=r"Unknown method 'altt' in hybrid.*'alt'"):
        prepare(study, studies.config(tmp_path, plugins=(COMPOSITES,)))
