"""`status`, `report`, `compare` and `replay` on a study with something right and something wrong."""

import csv
import json
import os
import shutil
import subprocess
import sys

import pytest
from cli.command import JUDGED, command, run_study
from made_studies import made_cell, made_study

from aacbench.run import rows, store
from aacbench.run.layout import cell_folder, short_ids


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("status") / "studies" / "one"
    assert run_study(root, "alt,too-high") == 3
    return root


def cell_of(root, method):
    for file in sorted(root.glob("cells/*/*/cell.json")):
        record = json.loads(file.read_bytes())
        if record["key"]["method"] == method:
            return record
    raise LookupError(method)


def test_status_counts_against_the_plan(study, capsys):
    assert command("status", study, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["planned"], facts["done"], facts["missing"]) == (3, 3, [])
    assert facts["outcomes"] == {"ok": 2, "wrong": 1}
    assert facts["last_run"]["started"] < facts["last_run"]["finished"]
    assert command("status", study) == 0
    assert "3 of 3 planned cells" in capsys.readouterr().out


def test_cells_are_listed_with_short_ids_that_commands_take(study, capsys):
    assert command("status", study, "--cells", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["cells"]
    assert [(cell["method"], cell["outcome"]) for cell in listed] == [
        ("dijkstra", "ok"),
        ("alt", "ok"),
        ("too-high", "wrong"),
    ]
    assert command("status", study, "--cells") == 0
    header, _, *rows = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert header.split() == ["cell", "graph", "method", "settings", "budget", "seed", "outcome"]
    assert [row.split()[0] for row in rows] == [cell["id"][:8] for cell in listed]
    assert command("replay", rows[1].split()[0], "--study", study) == 0
    assert command("report", study) == 0
    assert f"- {listed[2]['id'][:8]}: wrong: too-high on p7" in capsys.readouterr().out


def test_scripts_get_the_ids_of_the_cells_that_a_row_is_made_from(study, capsys):
    ids = [cell_of(study, name)["cell_id"] for name in ("dijkstra", "alt", "too-high")]
    assert command("report", study, "--json") == 0
    assert [row["ids"] for row in json.loads(capsys.readouterr().out)["results"]] == [[name] for name in ids]
    assert command("report", study, "--csv") == 0
    assert [row["ids"] for row in csv.DictReader(capsys.readouterr().out.splitlines())] == ids
    assert command("report", study, "--csv", "--latex") == 2
    assert command("report", study, "--latex") == 0
    assert r"\begin{tabular}" in capsys.readouterr().out


def test_short_ids_are_as_long_as_needed_to_tell_them_apart():
    names = ["a" * 24, "a" * 10 + "b" * 14, "c" * 24]
    assert short_ids(names) == {name: name[:11] for name in names}
    assert short_ids(names[1:]) == {name: name[:8] for name in names[1:]}


def test_the_only_study_need_not_be_named(study, capsys, monkeypatch):
    monkeypatch.chdir(study.parents[1])
    assert command("report", "--json") == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [row["method"] for row in results] == ["dijkstra", "alt", "too-high"]


READING = {
    "status": (),
    "report": (),
    "stats": ("--a", "alt", "--b", "dijkstra"),
    "compare": ("alt", "dijkstra", "--study"),
}


@pytest.fixture
def made(tmp_path):
    """A study that nothing ran for, with times and a method that does not claim shortest paths."""
    loose = made_cell("loose", [5, 7], claims={"admissible": False}, costs=[(3, 2), (4, 4)])
    cells = [made_cell("dijkstra", [9, 9]), made_cell("alt", [5, 6], times=[[10, 20]]), loose]
    return made_study(tmp_path / "made", cells)


@pytest.mark.parametrize("name", READING)
def test_every_cell_is_read_once_and_its_rows_parsed_in_full_only_where_needed(made, name, monkeypatch, capsys):
    read, parsed = [], []
    read_cell, read_queries = store.read_cell, rows.read_queries
    monkeypatch.setattr(store, "read_cell", lambda root, cell, *more: read.append(cell) or read_cell(root, cell, *more))
    monkeypatch.setattr(rows, "read_queries", lambda data: parsed.append(data) or read_queries(data))
    assert command(name, *READING[name], made) == 0
    assert (len(read), len(set(read))) == (3, 3)
    assert len(parsed) == {"report": 1, "compare": 2}.get(name, 0)  # costs in a report; else expansions alone
    assert len(set(parsed)) == len(parsed)


def test_report_tells_that_planned_cells_are_missing(made, capsys):
    assert command("report", made) == 0
    (written,) = capsys.readouterr().err.splitlines(keepends=True)
    assert written.startswith("Also in ")
    for method, cells in (("dijkstra", "1 planned cell is"), ("loose", "2 planned cells are")):
        shutil.rmtree(cell_folder(made, cell_of(made, method)["cell_id"]))
        assert command("report", made) == 0
        said = capsys.readouterr()
        assert said.err == f"aacbench: {cells} missing; run the study again.\n{written}"
        assert "No reductions on p7: its dijkstra cell is missing or damaged; run the study again." in said.out


COUNT_IMPORTS = """
import sys
from pathlib import Path
from aacbench.cli import main
for words in (line.split() for line in sys.argv[1:]):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code, words
    heavy = [name for name in ("numba", "torch", "aacbench.plugins.manager") if name in sys.modules]
    print("after", words[0], heavy, Path("loaded").exists())
"""


def heavy_imports(folder, plugins, lines):
    done = subprocess.run(
        [sys.executable, "-c", COUNT_IMPORTS, *lines],
        cwd=folder,
        env={**os.environ, "AACBENCH_PLUGINS": str(plugins)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if line.startswith("after")]


def test_reading_a_study_imports_no_compiler_and_runs_no_plugin(made, tmp_path):
    plugin = tmp_path / "noisy.py"
    plugin.write_text("from pathlib import Path\nPath('loaded').touch()\n")
    words = {**READING, "report": ("--csv",)}
    lines = [" ".join([name, *more, str(made)]) for name, more in words.items()]
    after = heavy_imports(tmp_path, plugin, [*lines, f"report {made}"])
    assert after[:-1] == [f"after {name} [] False" for name in READING]
    assert after[-1].endswith("True")  # a page may have a report of the plugin
    (tmp_path / "loaded").unlink()
    assert heavy_imports(tmp_path, "", [f"report {made}"]) == ["after report [] False"]


def test_without_a_study_or_with_several_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("status") == 2
    assert "No study in ./studies" in capsys.readouterr().err
    for name in ("one", "two"):
        (tmp_path / "studies" / name).mkdir(parents=True)
        (tmp_path / "studies" / name / "plan.json").write_text("{}")
    assert command("report") == 2
    assert "studies/one, studies/two" in capsys.readouterr().err
    assert command("status", tmp_path) == 2


def test_compare_within_a_study_and_between_two(study, capsys):
    assert command("compare", "alt", "dijkstra", "--study", study, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert row["queries"] == 5
    assert row["mean_a"] <= row["mean_b"]
    assert command("compare", study, study, "--method", "alt") == 0
    assert "100.0" in capsys.readouterr().out.splitlines()[-1]  # all tied


def test_what_cannot_be_compared_is_null_in_json(study, capsys):
    assert command("compare", "alt", "too-high", "--study", study, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (row["queries"], row["left_out"], row["mean_a"]) == (0, 5, None)


def test_replay_recomputes_the_counterexample(study, capsys):
    record = cell_of(study, "too-high")
    assert command("replay", record["cell_id"][:8], "--study", study, "--plugin", JUDGED) == 0
    out = capsys.readouterr().out
    case = next(case for case in record["audit"]["counterexamples"] if case["claim"] == "admissible")
    (line,) = [line for line in out.splitlines() if line.startswith(f"distance {case['u']} to {case['target']}")]
    assert line.split()[-2:] == [f"{case['limit']:g}"] * 2
    assert "agree" in out


def test_replay_writes_nothing_into_the_study(study, tmp_path, capsys):
    copied = shutil.copytree(study, tmp_path / "copied")
    shutil.rmtree(copied / "artifacts")
    before = sorted(copied.rglob("*"))
    assert command("replay", cell_of(copied, "alt")["cell_id"], "--study", copied) == 0
    assert sorted(copied.rglob("*")) == before
    assert "agree" in capsys.readouterr().out


def test_replay_with_another_source_says_that_numbers_differ(study, tmp_path, capsys):
    changed = tmp_path / "judged.py"
    changed.write_text(JUDGED.read_text().replace("1000000", "2000000"))
    assert command("replay", cell_of(study, "too-high")["cell_id"], "--study", study, "--plugin", changed) == 4
    out = capsys.readouterr().out
    assert "source has changed" in out
    assert "differs" in out


def test_replay_of_a_sound_cell_repeats_its_audit(study, capsys):
    assert command("replay", cell_of(study, "alt")["cell_id"], "--study", study) == 0
    assert "consistent" in capsys.readouterr().out


def test_replay_wants_one_cell(study, capsys):
    assert command("replay", "", "--study", study) == 2
    assert "Give the id of a cell" in capsys.readouterr().err
    assert command("replay", "zz", "--study", study) == 2
    assert f"No cell zz in {study}. `aacbench status {study} --cells` lists all." in capsys.readouterr().err


def test_a_damaged_log_is_told_and_is_not_the_cells(study, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    (log,) = copy.glob("runs/*/run.json")
    log.write_bytes(log.read_bytes()[:20])
    assert command("status", copy) == 0
    said = capsys.readouterr().out
    assert "3 of 3 planned cells" in said
    assert f"the log of the last run, {log.parent.name}, cannot be read" in said


def test_damage_is_told_and_is_the_exit_code(study, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    file = copy / "cells" / cell_of(copy, "alt")["cell_id"][:2] / cell_of(copy, "alt")["cell_id"] / "queries.csv"
    file.write_bytes(file.read_bytes() + b"x")
    assert command("compare", "dijkstra", "too-high", "--study", copy) == 4
    assert file.parent.name in capsys.readouterr().err
    assert command("replay", file.parent.name[:12], "--study", copy) == 4
    assert "queries.csv" in capsys.readouterr().err
    for words in (("report",), ("report", "--csv"), ("report", "--json"), ("status",), ("status", "--json")):
        assert command(words[0], copy, *words[1:]) == 4
        said = capsys.readouterr()
        assert file.parent.name in said.out + said.err
    before = {path: path.read_bytes() for path in (copy / "plan.json", copy / "derived" / "results.md")}
    assert run_study(copy, "alt,too-high", "--existing", "verify") == 4
    assert {path: path.read_bytes() for path in before} == before  # who only looks changes nothing
    (copy / "plan.json").write_text("{}")
    assert command("status", copy) == 4
