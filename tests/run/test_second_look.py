"""A plugin that changes the harness in its own worker does not get what is wrong past the command."""

from pathlib import Path

import pytest
import small_studies as studies
from cli.command import command

FORGING = Path(__file__).parents[1] / "plugins" / "forging_methods.py"
FORGED = {
    "forge-audit": ("wrong", "not admissible: h("),
    "forge-reference": ("error", "the column reference_cost of queries.csv is not that of the study's queries"),
    "forge-answers": ("error", "it expanded fewer vertices than its paths have"),
    "forge-rows": ("error", "the column query of queries.csv is not that of the study's queries"),
    "forge-budget": ("error", "the heuristic deploys 2048 bytes, but 16 bytes a vertex allow 1024"),
    "forge-bytes": ("error", "its bytes are not those of the arrays it kept"),
    "forge-halves": ("error", "when searched with the heuristic rebuilt from its arrays alone"),
    "forge-claims": ("error", "the method's claims are other ones in its worker than in the command"),
    "forge-result": ("error", "its worker sent something that is no result"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("forged") / "study"
    sizes = ("--graphs", "grid-8", "--budgets", "16", "--queries", "20/20", "--seeds", "1", "--workers", "1")
    methods = ",".join(["alt", *FORGED, "honest"])
    assert command("run", "--methods", methods, "--plugin", FORGING, *sizes, "--out", root) == 3
    return root


@pytest.mark.parametrize("method", FORGED)
def test_what_is_forged_is_found(folder: Path, method: str) -> None:
    cell = studies.by_method(folder)[method]
    outcome, reason = FORGED[method]
    assert cell.outcome == outcome
    assert reason in cell.record["reason"]


@pytest.mark.parametrize("method", ["alt", "dijkstra", "honest"])
def test_what_is_honest_is_ok(folder: Path, method: str) -> None:
    assert studies.by_method(folder)[method].outcome == "ok"


def test_what_a_plugin_had_computed_is_read_by_its_own_workers_alone(folder: Path) -> None:
    shared = {path.name for path in (folder / "artifacts").glob("??/*")}
    own = {path.name for path in (folder / "artifacts").glob("plugin-*/??/*")}
    assert shared & own  # the references of both, by the same keys and in two places
