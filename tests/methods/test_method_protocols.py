"""The protocols about methods: soundness covers every claim, and heldout has graphs of its own."""

from pathlib import Path

from method_builds import method, plugins

from aacbench.contract.landmarks import PACKED, ROUNDED
from aacbench.plugins.manager import load_plugins
from aacbench.protocols import read_protocol

HELD_OUT_GRAPHS = Path(__file__).parents[2] / "docs" / "methods" / "heldout_graphs.py"
SEEN_IN_DESIGN = {"rome99", "road-20000", "sbm-10k", "ba-10k", "grid-32"}  # used while aac-tuned was designed
SHORTER_NAMES = {"hybrid"}
ON_MAPS = {"hops", "cells"}  # need maps; every study on maps audits them


def test_soundness_has_every_method_that_claims_admissible_bounds():
    claiming = {name for name, loaded in plugins().methods().items() if loaded.method.claims.admissible}
    study = read_protocol("soundness")
    others = {"dijkstra", *ON_MAPS}  # the first comes with every study
    assert {choice.name for choice in study.methods} == claiming - SHORTER_NAMES - others
    assert study.budgets == (32, 64, 128)
    assert "audit" in study.measure


def test_soundness_has_every_kind_of_pool_and_the_epochs_of_early_stopping():
    grids = {choice.name: choice.grid for choice in read_protocol("soundness").methods}
    assert set(grids["alt"]["pool"]) == set(method("alt").parameters["pool"].choices)
    assert grids["aac"]["epochs"] == (0, 1, 5, 10, 50, 200)
    for name, key in (("cdh", "assign"), ("cdh-paper", "arm")):
        assert set(grids[name][key]) == set(method(name).parameters[key].choices)


def test_soundness_has_every_store_of_labels_and_of_a_hierarchy():
    grids = {choice.name: choice.grid for choice in read_protocol("soundness").methods}
    assert set(grids["greedy-train"]["labels"]) == {"auto", *PACKED, *ROUNDED}
    assert {"auto", *grids["ch"]["pack"]} == set(method("ch").parameters["pack"].choices)


def test_heldout_has_graphs_and_queries_of_its_own():
    study = read_protocol("heldout")
    assert not SEEN_IN_DESIGN & set(study.graphs)
    assert study.queries.seed != read_protocol("valsplit").queries.seed
    assert len(study.seeds) == 5


def test_the_held_out_random_graphs_can_be_loaded():
    found = load_plugins([HELD_OUT_GRAPHS], environment={"AACBENCH_PLUGINS": ""})
    assert found.problems() == []
    assert [name for name in found.graphs() if name.startswith("heldout:")] == ["heldout:sbm-12k", "heldout:ba-15k"]
    graph = found.graphs()["heldout:ba-15k"].source.load()
    assert (graph.vertices, graph.symmetric, graph.integral) == (15_000, True, False)
