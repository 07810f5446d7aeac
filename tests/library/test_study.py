"""Studies from Python: run by the command's path, and read as pandas tables."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cli.command import JUDGED, command

import aacbench
from aacbench.errors import UsageError
from aacbench.library.study import CellRow
from aacbench.plugins import Method
from aacbench.reports.tables import csv_text, rows_of
from aacbench.run.rows import QUERIES

RING = nx.relabel_nodes(nx.cycle_graph(9), "n{}".format)
HIGH = """
import numpy as np

from aacbench.plugins import BatchHeuristic, Method, hookimpl


def many(arrays, us, t):
    return np.where(us == t, 0, 1000)


@hookimpl
def aacbench_methods():
    yield Method("high", "inadmissible", lambda budget, info, params: params, lambda context: BatchHeuristic({}, many))
"""
OPTIONS = {"seeds": 1, "queries": "3/5", "workers": 1}


def run(folder, **more):
    ring = aacbench.as_graph(RING, weight=None)
    wanted = {"methods": ["alt", "failing", "refusing", "high"], "graphs": {"ring": ring}, "budgets": [8, 16], **more}
    return aacbench.run_study(**wanted, plugins=[JUDGED, folder / "high.py"], out=folder / "study", **OPTIONS)


@pytest.fixture(scope="module")
def folder(once):
    def fill(folder):
        folder.mkdir()
        (folder / "high.py").write_text(HIGH)
        run(folder)

    return once("python-study", fill)


@pytest.fixture(scope="module")
def study(folder):
    return aacbench.open_study(folder / "study")


def test_cells_have_a_row_each_with_outcome_and_reason(study):
    cells = study.cells.set_index(["method", "budget"])
    assert list(study.cells) == list(CellRow.__slots__)
    assert cells.outcome.to_dict() == {
        ("dijkstra", 8): "ok",
        ("alt", 8): "ok",
        ("alt", 16): "ok",
        ("failing", 8): "error",
        ("failing", 16): "error",
        ("refusing", 8): "unsupported",
        ("refusing", 16): "unsupported",
        ("high", 8): "wrong",
        ("high", 16): "wrong",
    }
    assert "no labels today" in cells.reason["failing", 8]
    assert cells.measured["alt", 8] >= 8
    assert np.isnan(cells.test["high", 8])
    test = cells.test
    assert cells.reduction["alt", 16] == 100 * (1 - test["alt", 16] / test["dijkstra", 8])


def test_queries_have_a_row_for_each_cell_and_query(study):
    queries = study.queries
    assert list(queries) == ["cell", "graph", "method", "variant", "budget", "seed", *QUERIES]
    assert len(queries) == 8 * queries.cell.nunique() == 8 * 5  # those with an answer: ok or wrong
    means = queries.query("split == 'test'").groupby("cell").expanded.mean()
    answered = study.cells.query("outcome == 'ok'").set_index("cell")
    assert answered.test.to_dict() == means[answered.index].to_dict()


def test_the_table_is_that_of_the_report(study):
    table = study.table()
    assert list(table) == csv_text(rows_of(study.contents.planned_cells())).splitlines()[0].split(",")
    assert table.method.tolist() == ["dijkstra", *2 * ["alt", "failing", "refusing", "high"]]


def test_a_study_draws_its_figures(study):
    (shown,) = study.figure("pareto", graph="ring").axes[0].containers
    rows = study.table().query("method == 'alt'")
    assert shown.lines[0].get_xydata().tolist() == rows[["measured", "test"]].to_numpy().tolist()
    with pytest.raises(UsageError, match="Unknown figure"):
        study.figure("pie")


def test_a_study_says_what_it_holds_and_what_failed(study):
    first, *failures = repr(study).splitlines()
    assert first == f"Study {study.path}: 9 cells (3 ok, 2 unsupported, 2 error, 2 wrong)"
    assert len(failures) == 4
    assert any(line.startswith("  wrong: high on ring at 8 B/v, seed 1 (cell ") for line in failures)
    assert "<table" in study._repr_html_()


def test_a_cell_gives_back_its_heuristic_and_its_counterexample(study):
    cells = study.cells.set_index(["method", "budget"]).cell
    alt, high = study.heuristic(cells["alt", 8]), study.heuristic(cells["high", 8][:10])
    assert alt.graph.names.tolist() == list(RING)
    assert study.counterexample(cells["alt", 8]) is None
    case = study.counterexample(cells["high", 8])
    assert (case.claim, case.graph.name, case.bound) == ("admissible", "ring", 1000)
    assert high(case.u, case.target) == case.bound > case.limit
    assert str(case.u) in case.sentence
    with pytest.raises(UsageError, match="cells begin with ''"):
        study.heuristic("")


def test_the_command_goes_on_with_the_study_and_python_with_the_commands(folder, tmp_path, capfd):
    copy = shutil.copytree(folder, tmp_path / "copy")
    before = {path: path.read_bytes() for path in copy.glob("study/cells/*/*/*")}
    graph = f"ring=file:{next(folder.glob('graphs/ring-*.npz'))}"
    sizes = ("--budgets", "8,16", "--seeds", "1", "--queries", "3/5", "--plugin", JUDGED, "--plugin", copy / "high.py")
    code = command("run", "--methods", "alt,failing,refusing,high", "--graphs", graph, *sizes, "--out", copy / "study")
    assert code == 3
    assert {path: path.read_bytes() for path in copy.glob("study/cells/*/*/*")} == before
    assert capfd.readouterr().err.count(": kept") == 9


def test_failures_are_told_at_the_end_and_do_not_raise(folder, capfd):
    again = run(folder)
    said = capfd.readouterr().err
    assert said.endswith(f"{again!r}\n")
    assert again.cells.equals(aacbench.open_study(folder / "study").cells)


def test_a_damaged_cell_is_named(folder, tmp_path):
    copy = shutil.copytree(folder / "study", tmp_path / "study")
    file = min(copy.glob("cells/*/*/queries.csv"))
    file.write_bytes(file.read_bytes()[:-2])
    shutil.rmtree(next(path.parent for path in copy.glob("cells/*/*/error.txt")))
    damaged = aacbench.open_study(copy)
    assert list(damaged.damaged) == [file.parent.name]
    assert (len(damaged.missing), len(damaged.cells)) == (1, 7)
    assert "1 missing, 1 damaged" in repr(damaged)


def test_a_folder_without_a_study_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"is not a study: it has no plan.json"):
        aacbench.open_study(tmp_path)


OWN = Method("own", "made here", lambda budget, info, params: params, lambda context: None)


def test_a_built_heuristic_is_no_method(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built = aacbench.build("alt[K=1]", "p7", 8)
    for methods in (built, ["alt", built]):
        with pytest.raises(UsageError, match=re.escape("not a built heuristic; give 'alt[K=1]', and the file of")):
            aacbench.run_study(methods=methods)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"plugins": [OWN]},
            "The method 'own' has no source file, which worker processes need; write it to a file, in a",
        ),
        ({"methods": ["alt", OWN]}, "%%writefile my_method.py, and give plugins=['my_method.py']."),
        ({"plugins": "nowhere.py"}, "Plugin file nowhere.py cannot be read (No such file or directory)."),
        ({"methods": "atl"}, "Unknown method 'atl'; did you mean 'alt'?"),
        ({"graphs": {"p7": RING}}, "has no attribute 'weight'"),
        ({"graphs": {"a/b": ([0], [1], [1])}}, "must be letters, digits, hyphens, underscores and dots"),
        ({"workers": 0}, "workers must be between 1 and 1024, not 0."),
        ({"memory_limit": 0.1}, "memory_limit must be between 0.5 and 1048576, not 0.1."),
        ({"time_limit": -1}, "time_limit must be a positive number of seconds, not -1."),
        ({"existing": "all"}, "existing must be one of keep, retry-failed, verify, replace, not 'all'."),
        ({"budgets": []}, "budgets"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(tmp_path, monkeypatch, wrong, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(aacbench.errors.AacbenchError) as caught:
        aacbench.run_study(**wrong)
    assert sentence in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_package_is_imported_without_anything_heavy():
    code = "import sys, aacbench; print([name for name in ('numpy', 'click', 'pandas') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_document_lists_the_names_and_the_columns():
    text = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
    first, columns = text.split("| column of `cells` |")
    listed = [line.split("`")[1] for line in first.splitlines() if line.startswith("| `aacbench.")]
    assert sorted(name.partition("(")[0].removeprefix("aacbench.") for name in listed) == sorted(aacbench.__all__)
    rows = [line.split("`")[1] for line in columns.partition("\n##")[0].splitlines() if line.startswith("| `")]
    assert rows == list(CellRow.__slots__)
