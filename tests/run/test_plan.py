"""Plans: two stages of a grid, what is chosen on which rows, and what is refused before it is run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import small_studies as studies

from aacbench.errors import UsageError
from aacbench.graphs.load import load
from aacbench.labels.graph_info import graph_info
from aacbench.plugins.settings import resolve
from aacbench.run.driver import prepare, run_study
from aacbench.run.plan import plan
from aacbench.run.records import MethodChoice, QueryPlan
from aacbench.run.rows import read_queries
from aacbench.search import network

GRID = MethodChoice(name="alt", grid={"K": (1, 2, 4)})


@pytest.fixture(scope="module")
def chosen(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("chosen")
    study = studies.study(GRID)
    run_study(study, studies.config(root))
    return root


def with_role(root: Path, role: str) -> list:
    return [cell for cell in studies.cells(root).values() if cell.key["role"] == role and cell.key["method"] == "alt"]


def splits_of(cell) -> set[str]:
    return set(read_queries(cell.files["queries.csv"])["split"])


def test_the_choice_never_sees_a_test_row(chosen: Path) -> None:
    candidates = with_role(chosen, "candidate")
    assert [splits_of(cell) for cell in candidates] == [{"validation"}] * 3
    (final,) = with_role(chosen, "chosen")
    assert splits_of(final) == {"test"}


def test_the_chosen_cell_names_the_rows_it_was_chosen_from(chosen: Path) -> None:
    (final,) = with_role(chosen, "chosen")
    note = final.record["chosen_from"]
    assert (note["split"], note["retrospective"]) == ("validation", False)
    used = {entry["cell"]: entry["queries_sha256"] for entry in note["candidates"]}
    assert used == {cell.cell_id: cell.record["files"]["queries.csv"] for cell in with_role(chosen, "candidate")}


def test_the_fewest_expansions_are_chosen(chosen: Path) -> None:
    means = {
        cell.key["params"]["K"]: np.mean(read_queries(cell.files["queries.csv"])["expanded"])
        for cell in with_role(chosen, "candidate")
    }
    (final,) = with_role(chosen, "chosen")
    assert final.key["params"]["K"] == min(means, key=means.get)


def test_the_choice_is_the_same_when_the_run_is_repeated(chosen: Path) -> None:
    before = studies.rows(chosen)
    study = studies.study(GRID)
    ran = []
    run_study(study, studies.config(chosen, notify=lambda event, facts: ran.append(event)))
    assert "cell" not in ran
    assert studies.rows(chosen) == before


def test_with_no_selection_every_setting_is_reported(tmp_path: Path) -> None:
    study = studies.study(GRID, selection="none")
    cells = run_study(study, studies.config(tmp_path))
    assert [cell.label for cell, _ in cells] == ["dijkstra", "alt[K=1]", "alt[K=2]", "alt[K=4]"]
    for cell in with_role(tmp_path, "single"):
        assert splits_of(cell) == {"validation", "test"}


def test_a_retrospective_choice_is_marked(tmp_path: Path) -> None:
    study = studies.study(GRID, selection="retrospective", queries=QueryPlan(validation=0, test=30))
    run_study(study, studies.config(tmp_path))
    assert {cell.outcome for cell in studies.cells(tmp_path).values()} == {"ok"}
    (final,) = with_role(tmp_path, "chosen")
    assert final.record["chosen_from"]["retrospective"] is True
    assert final.record["chosen_from"]["split"] == "test"
    assert len(with_role(tmp_path, "candidate")) == 3


def planned(study, root=Path("unused")):
    methods = {name: source.method for name, source in studies.config(root).methods.items()}
    infos = {name: graph_info(network(load(name))) for name in study.graphs}
    return plan(study, methods, infos, resolve).cells


def test_settings_that_come_to_the_same_are_one_cell() -> None:
    study = studies.study(MethodChoice(name="alt", grid={"labels": ("auto", "exact")}), graphs=("p7",))
    assert [cell.method for cell in planned(study)] == ["dijkstra", "alt"]


def test_settings_that_do_not_fit_are_cells_of_their_own() -> None:
    study = studies.study(MethodChoice(name="alt", grid={"K": (100, 200)}))
    refused = [cell for cell in planned(study) if cell.unsupported]
    assert [cell.params["K"] for cell in refused] == [100, 200]


@pytest.mark.parametrize(
    ("search", "switches", "inconsistent", "consistent"),
    [
        ("modern", {}, "modern", "modern"),
        ("modern", {"reopen": "off"}, "reopen=off,tie=large-g,bpmx=off", "reopen=off,tie=large-g,bpmx=off"),
        ("modern", {"bpmx": "on"}, "reopen=on,tie=large-g,bpmx=on", "reopen=on,tie=large-g,bpmx=on"),
        ("paper", {}, "reopen=on,tie=fifo,bpmx=off", "paper"),
        ("paper", {"reopen": False}, "paper", "paper"),
        ("modern,bpmx=on", {"reopen": "off", "bpmx": False}, "reopen=off,tie=large-g,bpmx=off", None),
        ("reopen=off", {"tie": "lifo"}, "reopen=on,tie=lifo,bpmx=off", "reopen=off,tie=lifo,bpmx=off"),
    ],
)
def test_an_inconsistent_method_gets_a_closed_set_only_by_name(search, switches, inconsistent, consistent) -> None:
    for name, policy in (("jagged-and-says-so", inconsistent), ("alt", consistent or inconsistent)):
        cell = planned(studies.study(MethodChoice(name=name, settings=switches), search=search))[-1]
        assert (cell.method, cell.policy, cell.unsupported, cell.failed) == (name, policy, "", "")


def preferring(search, switches, preference):
    """The policy of a method that prefers these switches."""
    study = studies.study(MethodChoice(name="alt", settings=switches), search=search)
    methods = {name: source.method for name, source in studies.config(Path("unused")).methods.items()}
    methods["alt"] = replace(methods["alt"], search=preference)
    infos = {name: graph_info(network(load(name))) for name in study.graphs}
    return plan(study, methods, infos, resolve).cells[-1]


def test_a_method_may_prefer_switches_and_a_user_has_the_last_word() -> None:
    def wanted(params):
        return {"reopen": True, "bpmx": params["K"] == 0}

    assert preferring("paper", {}, wanted).policy == "reopen=on,tie=fifo,bpmx=on"
    assert preferring("paper", {"K": 2}, wanted).policy == "reopen=on,tie=fifo,bpmx=off"
    assert preferring("modern", {"bpmx": "off"}, wanted).policy == "modern"
    assert preferring("modern", {"tie": "fifo", "reopen": "off"}, wanted).policy == "paper"
    with pytest.raises(UsageError, match="reopen=on"):
        preferring("modern", {"reopen": "off", "bpmx": "on"}, wanted)


@pytest.mark.parametrize("preference", [{"speed": "high"}, {"tie": "best"}, None, 1 / 3])
def test_a_preference_that_makes_no_sense_is_a_failed_cell(preference) -> None:
    assert "search failed" in preferring("modern", {}, lambda params: preference).failed


def test_switches_of_the_search_may_be_chosen_from_too() -> None:
    choice = MethodChoice(name="alt", grid={"tie": ("fifo", "lifo"), "K": (1, 2)})
    study = studies.study(choice)
    planned, _ = prepare(study, studies.config(Path("unused")))
    found = [(cell.policy, cell.params["K"], cell.role) for cell in planned.cells if cell.method == "alt"]
    policies = [f"reopen=on,tie={tie},bpmx=off" for tie in ("fifo", "lifo")]
    assert found == [(policy, count, "candidate") for policy in policies for count in (1, 2)]
    assert len({cell.group for cell in planned.cells if cell.group}) == 1
