"""Whatever a plugin does wrong, the tool works on, nothing of it is offered, and one line says why."""

import re
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from aacbench.plugins.manager import load_plugins
from aacbench.processes import trial
from aacbench.util.source_file import read_source

ALONE = {"AACBENCH_PLUGINS": ""}  # nothing that happens to be installed here
PLUGINS = Path(__file__).parent.parent / "plugins"

REASONS = {
    "broken_import": r"cannot be imported: ModuleNotFoundError: .*no_such_package.* \(broken_import.py, line 3\)",
    "broken_syntax": r"cannot be imported: SyntaxError: .*outside function \(broken_syntax.py, line 3\)",
    "broken_at_import": r"cannot be imported: MuteError: its message cannot be read \(.*line 9\)",
    "broken_exit_at_import": r"cannot be imported: SystemExit: .*\(.*line 5\)",
    "broken_in_hook": r"aacbench_methods failed: ValueError: two lines \(broken_in_hook.py, line 17\)",
    "broken_exit_in_hook": r"aacbench_methods failed: SystemExit: .*\(.*line 10\)",
    "broken_os_exit": r"It ends the process that loads it \(exit code 0\)",
    "broken_os_exit_in_hook": r"It ends the process that loads it \(exit code 3\)",
    "broken_signal": r"It ends the process that loads it \(signal 9\)",
    "broken_child": r"It ends the process that loads it \(exit code 5\)",
    "broken_closed_stream": r"It closes the streams that the command prints to",
    "broken_closed_descriptor": r"It closes the streams that the command prints to",
    "broken_misspelt": r"function aacbench_method is no known hook; did you mean 'aacbench_methods'\?",
    "broken_unmarked": r"aacbench_methods is not marked as a hook; write @hookimpl",
    "broken_foreign_hook": r"function methods is no known hook; did you mean 'aacbench_methods'\?",
    "broken_signature": r"aacbench_methods must take \(\), but takes \(graph\)",
    "broken_observer_signature": r"aacbench_cell_finished must take \(cell\), but takes \(cell, \*, store\)",
    "broken_junk": r"aacbench_methods must yield Method records, but yields dict",
    "broken_nothing": r"must yield Method records or return a list of them, not nothing",
    "broken_single": r"must yield Method records or return a list of them, not Method",
    "broken_endless": r"yields more than \d+ records",
    "broken_name": r"name of a method must be letters, digits and hyphens, not 'my method'",
    "broken_not_callable": r"`build` of method 'stiff' must be a function of \(context\), not 3",
    "broken_build_signature": r"`build` of method 'double' must take \(context\), but takes \(graph, budget\)",
    "broken_claims": r"claims of method 'wordy' must be Claims",
    "broken_parameter": r"Parameter 'tie-break' of method 'choosy' takes one of a, b, but itself declares 'c'",
    "broken_parameter_type": r"Parameter 'K0' of method 'bare' must be Parameter\(...\), not 64",
    "broken_switch": r"Parameter 'tie' of method 'switchy' has the name of a search switch",
    "broken_twice": r"two methods named 'twice'",
    "broken_built_in": r"'dijkstra' among its methods is taken by the built-in 'dijkstra'",
    "broken_taken": r"'flat' among its methods is taken by 'good' \(.*good.py\)",
    "broken_half": r"`load` of graph 'worse-half' must be a function of \(\), not None",
    "broken_protocol": r"path of protocol 'lost' must be the Path of an existing .toml file, not .*lost.toml",
}
# Loaded without complaint, or not at all: each has a test of its own below or beside this file.
APART = {"broken_interrupt", "broken_observer", "broken_hang"}


def test_every_broken_plugin_has_a_reason():
    assert {path.stem for path in PLUGINS.glob("broken_*.py")} == set(REASONS) | APART


@pytest.mark.parametrize("name", REASONS)
def test_a_broken_plugin_is_left_out_with_a_reason(name):
    broken = PLUGINS / f"{name}.py"
    manager = load_plugins([PLUGINS / "good.py", broken], ALONE)
    (problem,) = manager.problems()
    assert [plugin.origin.plugin for plugin in manager.plugins()] == ["dijkstra", "good"]
    assert list(manager.methods()) == ["dijkstra", "flat", "flat-twin"]
    assert list(manager.graphs()) == ["own:pair"]
    assert (problem.origin.plugin, problem.origin.where) == (name, str(broken))
    assert problem.line.startswith(f"{name} ({broken}): ")
    assert "\n" not in problem.line
    assert problem.line.endswith(".")
    assert re.search(REASONS[name], problem.reason), problem.reason


@pytest.mark.parametrize("name", ["broken_import", "broken_exit_at_import"])
def test_a_failed_import_leaves_no_half_made_module(name):
    load_plugins([PLUGINS / f"{name}.py"], ALONE)
    assert read_source(PLUGINS / f"{name}.py").module not in sys.modules


def test_all_broken_plugins_at_once_leave_the_good_one():
    files = [PLUGINS / "good.py", *(PLUGINS / f"{name}.py" for name in REASONS)]
    manager = load_plugins(files, ALONE)
    assert len(manager.problems()) == len(REASONS)
    assert list(manager.methods()) == ["dijkstra", "flat", "flat-twin"]


def test_one_that_hangs_is_left_out_and_those_before_and_after_it_are_not(monkeypatch, tmp_path):
    monkeypatch.setattr(trial, "SECONDS", 5.0)
    (tmp_path / "after.py").write_text("")
    files = [PLUGINS / "good.py", PLUGINS / "broken_hang.py", tmp_path / "after.py"]
    manager = load_plugins(files, ALONE)
    (problem,) = manager.problems()
    assert problem.line == f"broken_hang ({files[1]}): It was not loaded after 5 seconds."
    assert [plugin.origin.plugin for plugin in manager.plugins()] == ["dijkstra", "good", "after"]


def test_what_a_plugin_starts_when_it_is_tried_out_ends_with_that(tmp_path, monkeypatch):
    monkeypatch.setenv("FAULT_CHILD", str(tmp_path / "child"))
    load_plugins([PLUGINS / "broken_child.py"], ALONE)
    child = int((tmp_path / "child").read_text())
    with suppress(psutil.NoSuchProcess):
        psutil.Process(child).wait(60)


def test_ctrl_c_passes_through():
    with pytest.raises(KeyboardInterrupt):
        load_plugins([PLUGINS / "broken_interrupt.py"], ALONE)


def test_of_two_plugins_of_one_name_the_first_stays():
    manager = load_plugins([PLUGINS / "good.py", PLUGINS / "again" / "good.py"], ALONE)
    (problem,) = manager.problems()
    assert problem.origin.where.endswith("again/good.py")
    assert "plugin name 'good' is taken by 'good'" in problem.reason
    assert "other" not in manager.methods()


def test_the_name_of_a_broken_plugin_is_free_for_a_whole_one(tmp_path):
    (tmp_path / "good.py").write_text("raise ValueError\n")
    manager = load_plugins([tmp_path / "good.py", PLUGINS / "good.py"], ALONE)
    assert "flat" in manager.methods()
    assert [problem.origin.where for problem in manager.problems()] == [str(tmp_path / "good.py")]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x = 1\0", b"def f(:\n"])
def test_a_file_that_is_no_python_is_a_problem(tmp_path, content):
    (tmp_path / "odd.py").write_bytes(content)
    (problem,) = load_plugins([tmp_path / "odd.py"], ALONE).problems()
    assert problem.reason.startswith("It cannot be imported: ")


def test_an_error_of_aacbench_itself_ends_with_one_full_stop(tmp_path):
    (tmp_path / "odd.py").write_text("from aacbench.errors import UsageError\nraise UsageError('Not today.')\n")
    (problem,) = load_plugins([tmp_path / "odd.py"], ALONE).problems()
    assert problem.reason == "It cannot be imported: Not today."


def test_a_missing_file_and_a_folder_are_problems(tmp_path):
    manager = load_plugins([tmp_path / "gone.py", tmp_path], ALONE)
    assert [problem.reason.split(":")[1].strip() for problem in manager.problems()] == [
        "FileNotFoundError",
        "ImportError",
    ]


def test_a_plugin_that_goes_to_another_folder_does_not_take_the_command_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "restless.py").write_text("import os\nos.chdir('/')\n")
    assert load_plugins(["restless.py"], ALONE).problems() == []
    assert Path.cwd() == tmp_path


def test_what_a_plugin_prints_stays_out_of_the_output(tmp_path, capsys):
    (tmp_path / "loud.py").write_text("print('hello')\n")
    assert load_plugins([tmp_path / "loud.py"], ALONE).problems() == []
    assert capsys.readouterr() == ("", "hello\n")
