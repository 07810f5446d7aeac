"""Methods that remember outside their arrays, answer as they please or leave things behind: none misleads a reader."""

from pathlib import Path

import pytest
import small_studies as studies
from cli.command import command

from aacbench.contract import composite as parts
from aacbench.run.rows import read_queries

SLY = Path(__file__).parents[1] / "plugins" / "sly_methods.py"
REASONS = {
    "remember": "in the process that built it, but 0 from the bundle",
    "now-and-then": "a heuristic must be deterministic",
    "after-many": "returned 1, then 0; a heuristic must be deterministic",
    "truth": "must be a number, not a bool",
    "least": "h(",
    "by-constant": "reads TABLE, an array of",
}
HIDDEN = ("by-number",)  # from the pairs that are compared, too
SIZES = ("--graphs", "grid-32", "--budgets", "16", "--queries", "20/20", "--seeds", "1", "--workers", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("sly") / "study"
    methods = ",".join([*REASONS, *HIDDEN, "a-fork", "b-one", "c-shallow", "d-deep"])
    assert command("run", "--methods", methods, "--plugin", SLY, *SIZES, "--out", root) == 1
    return root


@pytest.mark.parametrize("method", REASONS)
def test_what_a_method_may_not_do_is_an_error(folder: Path, method: str) -> None:
    cell = studies.by_method(folder)[method]
    assert cell.outcome == "error"
    assert REASONS[method] in cell.record["reason"]


@pytest.mark.parametrize("method", HIDDEN)
def test_what_is_hidden_outside_the_arrays_is_not_there_when_it_is_measured(folder: Path, method: str) -> None:
    cells = studies.by_method(folder)
    rows = {name: read_queries(cells[name].files["queries.csv"]) for name in (method, "dijkstra")}
    assert cells[method].outcome == "ok"
    assert set(rows[method]["h_source"]) == {0}
    assert (rows[method]["expanded"] == rows["dijkstra"]["expanded"]).all()


def test_a_method_that_forks_gets_its_own_rows_and_leaves_those_of_others(folder: Path) -> None:
    cells = studies.by_method(folder)
    bounds = {name: read_queries(cells[name].files["queries.csv"])["h_source"] for name in ("a-fork", "b-one")}
    assert set(bounds["a-fork"]) == {0}
    assert set(bounds["b-one"]) == {1}


def test_what_a_method_leaves_in_its_worker_meets_no_other_method(folder: Path) -> None:
    cells = studies.by_method(folder)
    assert (cells["c-shallow"].outcome, cells["d-deep"].outcome) == ("error", "ok")


def test_parts_that_are_never_named_are_one_sentence(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(parts, "MADE_OF_SECONDS", 0.1)
    assert command("run", "--methods", "endless-parts", "--plugin", SLY, *SIZES, "--out", tmp_path / "study") == 2
    assert (
        "made_of of endless-parts failed with TimeoutError: it took longer than 0.1 seconds" in capsys.readouterr().err
    )
