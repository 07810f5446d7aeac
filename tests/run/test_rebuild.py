"""A method that builds other bytes for the same seed is noticed: where a choice is made, and where it is asked for."""

import shutil
from pathlib import Path

import pytest
import small_studies as studies
from stored_cells import read_events

from aacbench.run.driver import run_study
from aacbench.run.layout import cell_folder
from aacbench.run.records import MethodChoice

ANOTHER = "not reproducible: built again with the seed 2, the array 'noise' is different"
REBUILT = {
    "clocked": ("wrong", ANOTHER),
    "seeded": ("wrong", ANOTHER),
    "seeded-and-says-so": ("ok", ""),
    "alt": ("ok", ""),
    "slow": ("ok", ""),  # has no arrays
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("again") / "study"
    study = studies.study(*REBUILT, MethodChoice(name="clocked-grid", grid={"K": (1, 2)}))
    run_study(study, studies.config(root))
    assert {cell.outcome for cell in studies.cells(root).values() if cell.key["method"] != "clocked-grid"} == {"ok"}
    run_study(study, studies.config(root, rebuild=True))
    return root


def test_what_was_built_again_is_in_the_log(folder: Path) -> None:
    (events,) = [
        found for run in folder.glob("runs/*") if (found := [e for e in read_events(run) if e["event"] == "rebuilt"])
    ]
    methods = {studies.cells(folder)[event["cell"]].key["label"]: event["outcome"] for event in events}
    assert (methods.pop("clocked-grid"), methods.pop("dijkstra")) == ("wrong", "ok")
    assert methods == {method: outcome for method, (outcome, _) in REBUILT.items() if method != "slow"}


@pytest.mark.parametrize("method", REBUILT)
def test_a_cell_that_comes_out_otherwise_is_wrong(folder: Path, method: str) -> None:
    (cell,) = [cell for cell in studies.cells(folder).values() if cell.key["label"] == method]
    assert (cell.outcome, cell.record["reason"]) == REBUILT[method]


def test_what_is_chosen_is_what_was_measured_on_validation(folder: Path) -> None:
    found = {cell.key["role"]: cell for cell in studies.cells(folder).values() if cell.key["method"] == "clocked-grid"}
    candidates = [cell for cell in studies.cells(folder).values() if cell.key["role"] == "candidate"]
    assert found["chosen"].outcome == "ok"
    assert found["chosen"].record["bundle"] in {cell.record["bundle"] for cell in candidates}


def test_a_pruned_bundle_is_built_again_and_another_one_is_wrong(tmp_path: Path) -> None:
    study = studies.study(
        MethodChoice(name="clocked-grid", grid={"K": (1, 2)}), MethodChoice(name="alt", grid={"K": (1, 2)})
    )
    names = [name for cell, name in run_study(study, studies.config(tmp_path)) if cell.role == "chosen"]
    shutil.rmtree(tmp_path / "artifacts" / "bundles")
    for name in names:
        shutil.rmtree(cell_folder(tmp_path, name))
    run_study(study, studies.config(tmp_path))
    outcomes = {cell.key["method"]: cell.outcome for cell in map(studies.cells(tmp_path).get, names)}
    assert outcomes == {"clocked-grid": "wrong", "alt": "ok"}
