"""A plugin file that is edited during a run, or moved after it: what counts are the bytes that the command read."""

import hashlib
import shutil
from pathlib import Path

import small_studies as studies
from cli.command import command

from aacbench.run.driver import run_study
from aacbench.run.rows import read_queries

PLUGIN = """
import numpy as np
from numba import njit
from aacbench.plugins import BatchHeuristic, LabelHeuristic, Method, hookimpl


@njit
def compiled(labels, u, t):
    return {bound} if u != t else 0


def batch(arrays, us, t):
    return np.where(us != t, {bound}, 0)


def build_compiled(context):
    return LabelHeuristic({{"x": np.zeros(1)}}, compiled)


def build_batch(context):
    return BatchHeuristic({{"x": np.zeros(1)}}, batch)


@hookimpl
def aacbench_methods():
    for name, build in (("edited-compiled", build_compiled), ("edited-batch", build_batch)):
        yield Method(name, "a bound that is edited", lambda budget, info, params: params, build)
"""


def test_a_file_edited_during_a_run_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    file.write_text(PLUGIN.format(bound=1))
    study = studies.study("edited-compiled", "edited-batch", budgets=(8, 16))
    edited = []

    def edit(event, facts):
        if event == "planned" or event == "cell":  # before the first worker imports it, and again and again
            edited.append(event)
            file.write_text(PLUGIN.format(bound=0) + "#" * len(edited))

    run_study(study, studies.config(tmp_path / "study", plugins=(file,), notify=edit))
    cells = [cell for cell in studies.cells(tmp_path / "study").values() if cell.key["method"] != "dijkstra"]
    assert len(cells) == 4
    assert "cell" in edited
    for cell in cells:
        rows = read_queries(cell.files["queries.csv"])
        assert (cell.outcome, set(rows["h_source"])) == ("ok", {1})
        assert cell.key["plugin_digest"] == hashlib.sha256(PLUGIN.format(bound=1).encode()).hexdigest()


def test_a_file_that_was_moved_builds_the_same(tmp_path: Path, capsys) -> None:
    file, moved, root = tmp_path / "one.py", tmp_path / "moved" / "one.py", tmp_path / "study"
    file.write_text(PLUGIN.format(bound=1))
    sizes = ("--graphs", "p7", "--budgets", "8", "--queries", "5/5", "--workers", "1")
    run = ("run", "--methods", "edited-compiled,edited-batch", *sizes, "--out", root)
    assert command(*run, "--plugin", file) == 0
    moved.parent.mkdir()
    file.rename(moved)
    assert command(*run, "--plugin", moved, "--rebuild") == 0
    cells = [cell for cell in studies.cells(root).values() if cell.key["method"] != "dijkstra"]
    assert [cell.outcome for cell in cells] == ["ok", "ok"]
    for cell in cells:
        assert command("replay", cell.cell_id, "--study", root, "--plugin", moved) == 0
        assert "stored and recomputed agree" in capsys.readouterr().out
        shutil.rmtree(root / "artifacts")  # else nothing is built for the export
        out = tmp_path / cell.cell_id
        assert command("export", cell.cell_id, out, "--study", root, "--plugin", moved) == 0
