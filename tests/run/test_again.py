"""A method that builds other bytes for the same seed is noticed: where a choice is made, and where it is asked for."""

from pathlib import Path

import pytest
import small_studies as studies

from aacbench.run.driver import run_study
from aacbench.run.records import MethodChoice

ANOTHER = "not reproducible: built again {}, its array 'noise' is another"
REBUILT = {
    "clocked": ("wrong", ANOTHER.format("with the seed 2")),
    "seeded": ("wrong", ANOTHER.format("with the seed 2")),
    "seeded-and-says-so": ("ok", ""),
    "alt": ("ok", ""),
    "slow": ("ok", ""),  # has no arrays
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("again") / "study"
    study = studies.study(*REBUILT, MethodChoice(name="clocked-grid", grid={"K": (1, 2)}))
    run_study(study, studies.setup(root, study))
    assert {cell.outcome for cell in studies.cells(root).values() if cell.key["method"] != "clocked-grid"} == {"ok"}
    run_study(study, studies.setup(root, study, rebuild=True))
    return root


@pytest.mark.parametrize("method", REBUILT)
def test_a_cell_that_comes_out_otherwise_is_wrong(folder: Path, method: str) -> None:
    (cell,) = [cell for cell in studies.cells(folder).values() if cell.key["label"] == method]
    assert (cell.outcome, cell.record["reason"]) == REBUILT[method]


def test_the_chosen_one_is_built_as_its_candidate_was(folder: Path) -> None:
    found = {cell.key["role"]: cell for cell in studies.cells(folder).values() if cell.key["method"] == "clocked-grid"}
    assert found["chosen"].record["reason"] == ANOTHER.format("as the one that was chosen")
    assert found["chosen"].outcome == "wrong"
