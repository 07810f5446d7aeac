"""A plugin that changes the harness where it is built changes nothing: it is measured in another process."""

from pathlib import Path

import pytest
import small_studies as studies
from cli.command import command

FORGING = Path(__file__).parents[1] / "plugins" / "forging_methods.py"
BROKEN = {
    "forge-audit": ("wrong", "not admissible: h("),
    "forge-reference": ("wrong", "not admissible: h("),
    "forge-claims": ("wrong", "not admissible: h("),
    "forge-budget": ("unsupported", "deploys 2048 bytes, but 16 bytes a vertex allow 1024"),
    "forge-bytes": ("unsupported", "deploys 2048 bytes, but 16 bytes a vertex allow 1024"),
    "forge-result": ("error", "The worker sent a SimpleNamespace instead of a result"),
}
HARMLESS = ("forge-answers", "forge-rows", "forge-halves")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("forged") / "study"
    sizes = ("--graphs", "grid-8", "--budgets", "16", "--queries", "20/20", "--seeds", "1", "--workers", "2")
    methods = ",".join(["alt", *BROKEN, *HARMLESS, "honest"])
    assert command("run", "--methods", methods, "--plugin", FORGING, *sizes, "--out", root) == 3
    return root


@pytest.mark.parametrize("method", BROKEN)
def test_what_is_wrong_is_found(folder: Path, method: str) -> None:
    cell = studies.by_method(folder)[method]
    outcome, reason = BROKEN[method]
    assert cell.outcome == outcome
    assert reason in cell.record["reason"]


@pytest.mark.parametrize("method", HARMLESS)
def test_rows_are_those_of_the_honest_method(folder: Path, method: str) -> None:
    cells = studies.by_method(folder)
    assert cells[method].outcome == "ok"
    assert cells[method].files["queries.csv"] == cells["honest"].files["queries.csv"]


@pytest.mark.parametrize("method", ["alt", "dijkstra", "honest"])
def test_what_is_honest_is_ok(folder: Path, method: str) -> None:
    assert studies.by_method(folder)[method].outcome == "ok"


def test_what_a_plugin_had_computed_is_read_by_its_own_workers_alone(folder: Path) -> None:
    shared = {path.name for path in (folder / "artifacts").glob("??/*")}
    own = {path.name for path in (folder / "artifacts").glob("plugin-*/??/*")}
    assert shared & own  # the references of both, by the same keys and in two places
