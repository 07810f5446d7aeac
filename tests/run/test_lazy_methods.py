"""Lazy and exact heuristics of third parties, from a plugin file to stored rows, and builds that cannot be finished."""

import math
from pathlib import Path

import numpy as np
import pytest
import small_studies as studies

from aacbench import load_bundle
from aacbench.errors import UsageError
from aacbench.run.driver import run_study
from aacbench.run.rebuild import restored
from aacbench.run.records import MethodChoice
from aacbench.run.replay import replay
from aacbench.run.store import read_cell
from aacbench.run.timing import time_study
from aacbench.search import dijkstra

PLUGINS = tuple(Path(__file__).parents[1] / "plugins" / name for name in ("late_methods.py", "lazy_hierarchy.py"))
LATE = ("late", "late-in-words", "late-without-reason", "late-half", "late-by-seed", "late-part")
STUDY = studies.study(
    "alt",
    "hierarchy",
    *LATE,
    MethodChoice(name="late-grid", grid={"K": (1, 2)}),
    graphs=("road-120",),
    budgets=(16, 256),
)


def config(root, **changes):
    return studies.config(root, plugins=PLUGINS, **changes)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lazy") / "study"
    run_study(STUDY, config(folder, rebuild=True))
    return folder


def cell_of(root, method, budget=256, role="single"):
    (found,) = [
        cell
        for cell in studies.cells(root).values()
        if (cell.key["method"], cell.key["budget"], cell.key["role"]) == (method, budget, role)
    ]
    return found


def test_a_contraction_hierarchy_is_exact_and_its_work_is_in_the_rows(root):
    rows = cell_of(root, "hierarchy").queries
    found = rows["outcome"] == "ok"
    apart = found & (rows["source"] != rows["target"])
    assert apart.sum() > 50
    assert (rows["h_source"][apart] == rows["reference_cost"][apart]).all()
    assert (rows["expanded"][apart] == rows["path_edges"][apart] + 1).all()
    assert (rows["h_work"][apart] > rows["expanded"][apart]).all()
    assert not cell_of(root, "alt").queries["h_work"].any()


def test_its_scratch_is_shown(root):
    held = cell_of(root, "hierarchy").record["bytes"]
    assert held["scratch"] == 8 * 120 * (3 * 2 + 2)
    assert held["total"] == sum(array["nbytes"] for array in held["arrays"])


def test_one_hierarchy_serves_both_budgets_and_both_are_charged(root):
    assert len(list((root / "artifacts").rglob("down_heads.npy"))) == 1 + 1  # the artifact, and the bundle
    small, large = (cell_of(root, "hierarchy", budget).record["build"]["seconds"] for budget in (16, 256))
    assert min(small, large) > 0


@pytest.mark.parametrize(
    ("method", "outcome", "reason"),
    [
        ("late", "unsupported", "It grew; it would need 100000 bytes (833.4 B/v), the budget is 256 B/v"),
        ("late-in-words", "unsupported", "the moon is full"),
        ("late-part", "unsupported", "late: It grew; this part would need 100000 bytes (833.4 B/v)"),
        ("late-without-reason", "error", "Unsupported needs a reason in words, not ' '"),
        ("late-half", "error", "The bytes_needed of Unsupported must be a whole number, not 0.5"),
    ],
)
def test_what_cannot_be_built_says_why(root, method, outcome, reason):
    cell = cell_of(root, method)
    assert (cell.outcome, cell.record["reason"]) == (outcome, reason)
    assert cell.record.get("bytes_needed") == (100_000 if method == "late" else None)
    assert dict(cell.files).keys() <= {"error.txt"}


def test_a_hierarchy_that_does_not_fit_says_how_much_it_needs(root):
    small, large = cell_of(root, "hierarchy", 16), cell_of(root, "hierarchy", 256)
    needed = large.record["bytes"]["total"]
    told = f"it would need {needed} bytes ({math.ceil(needed / 12) / 10:.1f} B/v), the budget is 16 B/v"
    assert (small.outcome, small.record["bytes_needed"]) == ("unsupported", needed)
    assert small.record["reason"] == f"the hierarchy does not fit; {told}"


def test_a_candidate_that_cannot_be_built_is_left_out_of_the_choice(root):
    chosen = cell_of(root, "late-grid", role="chosen")
    assert (chosen.outcome, chosen.key["params"]["K"]) == ("ok", 1)
    outcomes = [candidate["outcome"] for candidate in chosen.record["chosen_from"]["candidates"]]
    assert sorted(outcomes) == ["ok", "unsupported"]


def test_one_that_cannot_be_built_again_is_wrong(root):
    found = {cell_of(root, "late-by-seed", budget).record["reason"] for budget in (16, 256)}
    assert "not reproducible: built again with the seed 2, it is unsupported: a bad seed" in found


def test_it_is_replayed_and_what_was_never_built_is_not(root):
    lines = replay(config(root), cell_of(root, "hierarchy"))
    assert all(line.agrees for line in lines)
    with pytest.raises(
        UsageError, match="is unsupported, so there is nothing to replay: It grew; it would need 100000"
    ):
        replay(config(root), cell_of(root, "late"))
    with pytest.raises(UsageError, match="It has no bundle, because its outcome is unsupported: It grew; it would"):
        restored(config(root), cell_of(root, "late"))


def test_it_is_timed_and_deployed_from_its_bundle(root):
    cell = cell_of(root, "hierarchy")
    assert time_study(config(root), [cell.cell_id], repetitions=1) == [cell.cell_id]
    assert "timings.csv" in read_cell(root, cell.cell_id).files
    bundle = load_bundle(restored(config(root), cell).folder)
    vertices = np.arange(120)
    ends = vertices, vertices[::-1]
    found = bundle.search(*ends, threads=2)
    assert found.cost.tolist() == dijkstra(bundle.network, *ends).cost.tolist()
    assert bundle.bound(3, 99) == bundle.route(3, 99).cost


def test_what_was_answered_is_not_asked_again(root):
    told = []
    before = studies.cells(root)
    run_study(STUDY, config(root, existing="retry-failed", notify=lambda event, facts: told.append((event, facts))))
    again = {facts["plan"].method for event, facts in told if event == "cell"}
    assert again == {cell.key["method"] for cell in before.values() if cell.outcome in ("error", "wrong")}
    assert again == {"late-without-reason", "late-half", "late-by-seed"}
