"""`aacbench run`: exit codes, observers, the plan, timing, and a document that says what is true."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from cli.command import command, run_line, run_study

from aacbench.cli.run import run
from aacbench.library.options import MOST_WORKERS, default_workers
from aacbench.run.rows import read_timings
from aacbench.run.store import commit, scan
from aacbench.util.cleanup import UNFINISHED, this_host

PLUGINS = Path(__file__).parents[1] / "plugins"
QUERIES = "cells/*/*/queries.csv"
DOCUMENT = Path(__file__).parents[2] / "docs" / "running.md"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study that went well, timed, with what its observer noted."""
    root = tmp_path_factory.mktemp("run") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOTES", str(root.parent / "notes"))
        assert run_study(root, "alt,random-subset,plain", "--time", "--repetitions", "2") == 0
    return root


def damage(root):
    file = min(root.glob(QUERIES))
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)
    return file


def test_observers_are_told_and_cannot_spoil_anything(study):
    lines = (study.parent / "notes").read_text().splitlines()
    cells = {path.name for path in study.glob("cells/*/*")}
    assert {line.split()[1] for line in lines[:-1]} == cells
    assert lines[-1] == f"run {len(cells)} 0"


def test_a_failing_observer_is_named(tmp_path, capsys):
    run_study(tmp_path, "plain")
    assert "observers may fail" in capsys.readouterr().err


def test_the_tables_are_written_beside_the_cells(study, capsys):
    command("report", study)
    printed = capsys.readouterr().out
    assert (study / "derived" / "results.md").read_text() == printed
    command("report", study, "--csv")
    assert (study / "derived" / "results.csv").read_text() == capsys.readouterr().out
    assert "A/A spread" in printed


def test_compiled_methods_are_timed_and_others_are_not(study):
    timed = {}
    for file in study.glob("cells/*/*/cell.json"):
        timed[json.loads(file.read_bytes())["key"]["label"]] = (file.parent / "timings.csv").exists()
    assert timed == {"dijkstra": True, "alt": True, "random-subset": True, "plain": False}
    rows = read_timings(next(study.glob("cells/*/*/control.csv")).read_bytes())
    assert sorted(zip(rows["repetition"], rows["query"], strict=True)) == [(r, q) for r in range(2) for q in range(5)]


def test_the_same_command_again_changes_nothing(study):
    before = {path: path.read_bytes() for path in study.glob("cells/*/*/*")}
    assert run_study(study, "alt,random-subset,plain", "--time", "--repetitions", "2") == 0
    assert {path: path.read_bytes() for path in study.glob("cells/*/*/*")} == before


def test_a_dry_run_says_what_is_there_and_writes_nothing(study, tmp_path, capsys):
    assert run_study(tmp_path / "none", "alt,plain,refusing", "--dry-run") == 0
    out = capsys.readouterr().out
    assert not (tmp_path / "none").exists()
    assert "4 cells" in out
    assert "0 are there already" in out
    assert "not run: refusing on p7: it never fits" in out
    assert "K=2" in out  # 8 bytes, 4 a label, one table on a symmetric graph
    assert run_study(study, "alt,random-subset,plain", "--dry-run") == 0
    assert "5 cells" in (again := capsys.readouterr().out)
    assert "5 are there already" in again


def test_exit_code_1_when_some_failed(tmp_path, capsys):
    assert run_study(tmp_path, "plain,failing") == 1
    assert ": error: failing on p7 at 8 B/v: ValueError: no labels today" in capsys.readouterr().out


def test_exit_code_1_when_the_baseline_failed_and_retrying_it_mends_the_table(tmp_path, capsys):
    assert run_study(tmp_path, "plain") == 0
    (base,) = [cell for _, cell in scan(tmp_path) if cell.key["label"] == "dijkstra"]
    commit(tmp_path, base.cell_id, {**base.record, "outcome": "timeout", "reason": "too slow"}, {}, replace=True)
    said = "No reductions on p7: its dijkstra cell is timeout, "
    assert run_study(tmp_path, "plain") == 1
    assert said in capsys.readouterr().out
    assert said in (tmp_path / "derived" / "results.md").read_text()
    assert run_study(tmp_path, "plain", "--existing", "retry-failed") == 0
    assert "No reductions" not in capsys.readouterr().out


def test_exit_code_2_names_the_method_that_was_meant(tmp_path, capsys):
    assert run_study(tmp_path, "allt") == 2
    assert "did you mean 'alt'?" in capsys.readouterr().err


@pytest.mark.parametrize(("missing", "reason"), [("gone.py", "No such file or directory"), (".", "Is a directory")])
def test_exit_code_2_when_a_plugin_file_is_not_there(tmp_path, capsys, missing, reason):
    for words in (("run", "--dry-run"), ("plugins",), ("graphs",), ("check", "alt"), ("protocols",)):
        assert command(*words, "--plugin", tmp_path / missing) == 2
        said = capsys.readouterr()
        assert said == ("", f"aacbench: Plugin file {tmp_path / missing} cannot be read ({reason}).\n")


def test_a_plugin_that_would_end_the_command_is_told_and_the_others_run(tmp_path, capsys):
    fatal = PLUGINS / "broken_os_exit.py"
    assert run_study(tmp_path / "a", "plain", "--plugin", fatal) == 0
    assert f"broken_os_exit ({fatal}): It ends the process that loads it (exit code 0)." in capsys.readouterr().err
    assert run_study(tmp_path / "b", "its-method", "--plugin", fatal) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("aacbench: Unknown method 'its-method'. ")
    assert said.endswith("could not be loaded and may define it: broken_os_exit.")


def test_exit_code_3_when_some_are_wrong(tmp_path):
    assert run_study(tmp_path, "too-high,failing") == 3


def test_exit_code_4_when_verify_finds_damage_which_keep_repairs(tmp_path, capsys):
    assert run_study(tmp_path, "plain") == 0
    file = damage(tmp_path)
    assert run_study(tmp_path, "plain", "--existing", "verify") == 4
    assert str(file.parent) in capsys.readouterr().err
    assert run_study(tmp_path, "plain") == 0


def changes(root):
    """When each file and folder of a study was last changed; a file that came and went changes its folder."""
    return {path: path.stat().st_mtime_ns for path in (root, *root.rglob("*"))}


def test_verify_writes_nothing_unless_a_cell_is_missing(study, tmp_path):
    copy = shutil.copytree(study, tmp_path / "copy")
    (
        copy / "derived" / f"{UNFINISHED}~{this_host()}~999999999~0"
    ).touch()  # of a killed run, which the next one removes
    words = ("alt,random-subset,plain", "--existing", "verify")
    before = changes(copy)
    assert run_study(copy, *words, "--time", "--repetitions", "9") == 0
    damage(copy)
    assert run_study(copy, *words) == 4
    assert changes(copy).keys() == before.keys()
    assert {path for path, when in changes(copy).items() if when != before[path]} == {min(copy.glob(QUERIES))}
    shutil.rmtree(min(copy.glob(QUERIES)).parent)
    assert run_study(copy, *words) == 0
    assert len({*copy.glob("runs/*")} - before.keys()) == 1


@pytest.mark.parametrize("integrity", ["kept", "gone"])
def test_a_cell_of_a_newer_format_is_refused_and_left_alone(study, tmp_path, capsys, integrity):
    copy = shutil.copytree(study, tmp_path / "copy")
    file = min(copy.glob("cells/*/*/cell.json"))
    record = json.loads(file.read_bytes()) | {"format": "aacbench.cell.json/2", "version": "3.1"}
    file.write_text(json.dumps({name: record[name] for name in record if integrity == "kept" or name != "integrity"}))
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    runs = [("run", "--existing", existing) for existing in ("keep", "retry-failed", "verify", "replace")]
    for name, *words in (*runs, ("run", "--dry-run"), ("status",), ("report",), ("replay", file.parent.name)):
        if name == "run":
            code = run_study(copy, "alt,random-subset,plain", *words)
        else:
            code = command(name, *words, *(["--study"] if words else []), copy)
        assert code == 2
        assert capsys.readouterr().err.splitlines()[-1] == (
            f"aacbench: Cell {file.parent.name} in {file.parent} was written in a newer format "
            "(aacbench.cell.json/2, by aacbench 3.1); use that version or newer."
        )
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_exit_code_5_when_nothing_ran(tmp_path, capsys):
    assert run_study(tmp_path, "refusing") == 5
    said = capsys.readouterr()
    assert said.err.endswith(
        "\naacbench: Nothing ran: no method could be run at any budget; the reasons are below the table.\n"
    )
    assert "Next:" not in said.out


def test_what_may_be_done_next_can_be_pasted(tmp_path, capsys):
    root = tmp_path / "my study"
    assert run_study(root, "alt,refusing,random-subset[K0=6]") == 0
    lines = capsys.readouterr().out.splitlines()
    report, status, compare = lines[lines.index("Next:") + 1 :]
    assert shlex.split(report, comments=True) == ["aacbench", "report", str(root), "--open"]
    assert run_line(status) == run_line(compare) == 0
    assert shlex.split(compare)[2:4] == ["alt", "random-subset[K0=6]"]


@pytest.mark.parametrize("limit", ["--time-limit=-1", "--time-limit=nan", "--memory-limit=0", "--memory-limit=nan"])
def test_limits_that_no_cell_could_meet_are_refused(tmp_path, capsys, limit):
    assert run_study(tmp_path / "none", "plain", limit) == 2
    assert limit.partition("=")[0] in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("plan", ["", '{"protocol_digest": "x", "cells": []}', '{"pro', "[]"])
@pytest.mark.parametrize("words", [("status",), ("report",), ("replay", "CELL", "--study")])
def test_a_plan_that_is_cut_short_or_of_another_version_is_one_sentence(study, tmp_path, capsys, plan, words):
    copy = shutil.copytree(study, tmp_path / "copy")
    (copy / "plan.json").write_text(plan)
    cell = next(copy.glob("cells/*/*")).name
    code = command(*(cell if word == "CELL" else word for word in words), copy)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert code == 4
    assert said.startswith("aacbench: ")
    assert said.count("\n") == 1


def test_a_run_that_is_refused_leaves_the_study_as_it_was(study, capsys):
    before = sorted(path for path in study.rglob("*"))
    assert run_study(study, "alt", "--budgets", "8") == 2
    assert "contains another study; choose another folder with --out" in capsys.readouterr().err
    assert sorted(path for path in study.rglob("*")) == before


def test_files_that_do_not_belong_there_and_logs_cut_short_are_told_or_passed_over(study, tmp_path, capsys):
    copy = shutil.copytree(study, tmp_path / "copy")
    for log in (*copy.glob("runs/*/events.jsonl"), *copy.glob("runs/*/run.json")):
        log.write_text('{"ev')
    (copy / "cells" / "README").write_text("mine")
    assert run_study(copy, "alt,random-subset,plain") == 0
    (copy / "cells" / "aa" / "backup").mkdir(parents=True)
    assert run_study(copy, "alt,random-subset,plain") == 4
    assert f"{copy / 'cells' / 'aa' / 'backup'} is not a cell" in capsys.readouterr().err
    assert command("status", copy) == 4


@pytest.mark.parametrize("part", ["runs", "locks", "derived", "artifacts", "cells", "plan.json/x", "."])
def test_a_file_where_a_folder_must_be_is_one_sentence(tmp_path, capsys, part):
    root = tmp_path / "study"
    if part == ".":
        root.write_text("mine")
    else:
        (root / part).parent.mkdir(parents=True)
        (root / part).write_text("mine")
    assert run_study(root, "dijkstra") == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("aacbench: ")]
    assert len([line for line in said if str(root) in line]) == 1


def test_workers_by_default():
    assert 1 <= default_workers() <= MOST_WORKERS


def test_the_document_has_every_option_and_exit_code():
    from aacbench.run import exit_codes as codes

    text = DOCUMENT.read_text(encoding="utf-8")
    options = {name for parameter in run.params for name in parameter.opts if name.startswith("--")}
    assert set(re.findall(r"^\| `(--[a-z-]+)", text, flags=re.MULTILINE)) == options
    numbers = [codes.ALL_OK, codes.SOME_FAILED, codes.USAGE, codes.SOME_WRONG, codes.MISMATCH]
    assert re.findall(r"^\| (\d) \|", text, flags=re.MULTILINE) == [str(n) for n in [*numbers, codes.NOTHING_RAN]]


def test_the_document_says_what_happens_to_existing_cells():
    from aacbench.run.store import decide

    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| (\w+) \| (\w+) \|", DOCUMENT.read_text("utf-8"), flags=re.MULTILINE)
    assert [row[0] for row in rows] == ["keep", "retry-failed", "verify", "replace"]
    for existing, *decisions in rows:
        assert decisions == [decide(existing, state) for state in ("ok", "failed", "damaged")]
