"""`aacbench studies` lists what folders hold, and `aacbench delete` removes a study or a part of it."""

import io
import json
import shutil
from contextlib import nullcontext

import pytest
from cli.command import command
from made_studies import made_cell, made_study

from aacbench.run.events import new_log
from aacbench.run.layout import ARTIFACTS, CELL_FILE, REGISTRATION, cell_folder
from aacbench.util.file_lock import file_lock

PLAN = {
    "protocol": "quick",
    "graphs": ["p7"],
    "methods": [{"name": "alt", "settings": {"tie": "fifo"}, "grid": {"K": [1, 2]}}],
    "budgets": [32.0],
    "seeds": [1],
}


@pytest.fixture
def cells():
    return [made_cell("dijkstra", [9]), made_cell("alt", [5]), made_cell("bad", [1], outcome="error", reason="no")]


@pytest.fixture
def study(tmp_path, cells):
    root = made_study(tmp_path / "studies" / "one", cells, **PLAN)
    (root / ARTIFACTS).mkdir()
    (root / ARTIFACTS / "pool.npy").write_bytes(b"x")
    return root


def listed(folder, capsys):
    capsys.readouterr()
    assert command("studies", folder, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_studies_says_what_each_folder_holds(study, cells, tmp_path, monkeypatch, capsys):
    shutil.rmtree(cell_folder(study, cells[0][0]))
    damaged = made_study(tmp_path / "studies" / "two", [])
    (damaged / "plan.json").write_text("{}")
    one, two = listed(tmp_path / "studies", capsys)
    assert (one["protocol"], one["methods"]) == ("quick", ["alt[K=1|2,tie=fifo]"])
    assert (one["planned"], one["outcomes"], one["missing"]) == (3, {"ok": 1, "error": 1}, 1)
    assert one["size"] > 0
    assert "damaged" in two["problem"]
    monkeypatch.chdir(tmp_path)
    assert command("studies") == 0
    said = capsys.readouterr().out
    assert "cells     3 planned: 1 ok, 1 error, 1 missing" in said
    assert "last run  never run" in said


def test_studies_reads_no_rows(study, cells, capsys):
    for path in study.glob("cells/*/*/queries.csv"):
        path.unlink()
    assert listed(study, capsys)[0]["outcomes"] == {"ok": 2, "error": 1}
    (cell_folder(study, cells[1][0]) / CELL_FILE).write_bytes(b"[")
    assert listed(study, capsys)[0]["outcomes"] == {"ok": 1, "error": 1, "damaged": 1}


def test_no_study_and_no_folder_are_told_apart(tmp_path, capsys):
    assert command("studies", tmp_path) == 0
    assert "No study in" in capsys.readouterr().out
    assert command("studies", tmp_path / "nowhere") == 2
    assert "No folder" in capsys.readouterr().err


def test_a_study_is_deleted_and_other_files_stay(study, tmp_path, capsys):
    mine = study / "notes.txt"
    mine.write_text("mine")
    assert command("delete", study, "--yes") == 0
    assert "; notes.txt stayed, which is not part of it" in capsys.readouterr().out
    assert list(study.iterdir()) == [mine]
    assert command("delete", study, "--yes") == 2
    assert "is not a study" in capsys.readouterr().err
    other = made_study(tmp_path / "studies" / "other", [made_cell("alt", [5])])
    assert command("delete", other, "--yes") == 0
    assert not other.exists()


def test_it_asks_first_and_no_is_no(study, cells, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n" * 2))
    before = sorted(study.rglob("*"))
    assert command("delete", study) == 1
    assert command("delete", study, "--cell", cells[0][0]) == 1
    assert f"Delete cell {cells[0][0][:8]} in" in capsys.readouterr().out
    assert command("delete", study) == 2
    assert "Add --yes" in capsys.readouterr().err
    assert sorted(study.rglob("*")) == before


def test_a_cell_is_deleted_even_if_damaged_and_is_missing_then(study, cells, capsys):
    name = cells[1][0]
    (cell_folder(study, name) / CELL_FILE).write_bytes(b"[")
    assert command("delete", study, "--cell", name[:8], "--yes") == 0
    assert not cell_folder(study, name).exists()
    assert listed(study, capsys)[0]["missing"] == 1
    assert command("delete", study, "--cell", name[:8], "--yes") == 2
    assert "--cells` lists all" in capsys.readouterr().err


def test_artifacts_are_deleted_alone(study, capsys):
    assert command("delete", study, "--artifacts", "--yes") == 0
    assert not (study / ARTIFACTS).exists()
    assert listed(study, capsys)[0]["missing"] == 0
    assert command("delete", study, "--artifacts", "--cell", "3f", "--yes") == 2


def test_what_a_run_works_on_is_refused(study, cells, capsys):
    before = sorted(study.rglob("*.json"))
    with file_lock(study, cells[0][0]):
        for words in ((), ("--artifacts",), ("--cell", cells[0][0], "--cell", cells[1][0])):
            assert command("delete", study, *words, "--yes") == 2
            assert "A run works on" in capsys.readouterr().err
    assert sorted(study.rglob("*.json")) == before
    (study / "locks").mkdir(exist_ok=True)
    (study / "locks" / cells[0][0]).touch()  # left by a killed run
    assert command("delete", study, "--yes") == 0


def test_a_run_that_goes_on_is_told_from_one_that_was_stopped(study, cells, capsys):
    new_log(study, {}).begin()
    for text in ("running now", "stopped before its end"):
        with file_lock(study, cells[0][0]) if text == "running now" else nullcontext():
            assert command("status", study) == 0
            assert text in capsys.readouterr().out


def test_deleting_from_a_registered_study_warns(study, cells, capsys):
    (study / REGISTRATION).write_text("{}")
    assert command("delete", study, "--cell", cells[0][0], "--yes") == 0
    assert "`aacbench prereg verify` will name what is missing" in capsys.readouterr().err
