"""Each hook, by a real plugin that uses it; and that each hook is documented and tested."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aacbench.plugins import hookspecs
from aacbench.plugins.hookspecs import HOOKS
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.methods import BUILT_IN
from aacbench.util.source_file import read_source

ROOT = Path(__file__).parent.parent.parent
ALONE = {"AACBENCH_PLUGINS": ""}  # nothing that happens to be installed here
PLUGINS = ROOT / "tests" / "plugins"
DOCUMENT = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


@pytest.fixture
def manager():
    read_source(PLUGINS / "good.py").load().SEEN.clear()
    return load_plugins([PLUGINS / "good.py"], ALONE)


def seen():
    return read_source(PLUGINS / "good.py").load().SEEN


def test_hook_methods(manager):
    loaded = manager.methods()["flat"]
    assert loaded.method.summary == "h = 0"
    assert not loaded.method.claims.directed
    assert (loaded.origin.plugin, loaded.origin.kind, loaded.origin.version) == ("good", "file", "1.2")


def test_hook_graphs(manager):
    assert manager.graphs()["own:pair"].source.load().arcs == 1


def test_hook_protocols(manager):
    assert "comes with a plugin" in manager.protocols()["own-protocol"].path.read_text()


def test_hook_encoders(manager):
    loaded = manager.encoder("own-flat")
    assert loaded.encoder.sees({}) == "nothing"
    assert loaded.origin.plugin == "good"


def test_hook_maps(manager):
    assert manager.maps("own:maps").name == "own:maps"
    assert manager.maps("own:maps", {"train": 1, "validation": 1, "calibration": 1, "test": 1}).counts()["train"] == 1


def test_hook_reports(manager):
    (loaded,) = manager.reports()
    assert (loaded.report.name, loaded.report.title) == ("row-count", "Rows of the study")
    assert loaded.origin.plugin == "good"


def test_hook_cell_finished_sees_a_copy(manager):
    cell = {"cell_id": "a1", "outcome": "wrong", "key": {"budget": 64}}
    assert manager.cell_finished(cell) is None
    assert cell == {"cell_id": "a1", "outcome": "wrong", "key": {"budget": 64}}
    assert seen() == [("cell", "a1")]


def test_hook_run_finished_sees_a_copy(manager):
    summary = {"cells": ("a1", "b2")}
    assert manager.run_finished(summary) is None
    assert summary == {"cells": ("a1", "b2")}
    assert seen() == [("run", "b2")]


def test_each_observer_gets_its_own_copy(tmp_path):
    observer = (
        "from aacbench.plugins import hookimpl\nSEEN = []\n"
        "@hookimpl\ndef aacbench_cell_finished(cell):\n    SEEN.append(cell['outcome'])\n    cell['outcome'] = 'ok'\n"
    )
    files = [tmp_path / name for name in ("a.py", "b.py")]
    for file in files:
        file.write_text(observer)
    load_plugins(files, ALONE).cell_finished({"outcome": "wrong"})
    assert [read_source(file).load().SEEN for file in files] == [["wrong"], ["wrong"]]


def test_a_failing_observer_is_noted_once_and_stops_nobody():
    manager = load_plugins([PLUGINS / "broken_observer.py", PLUGINS / "good.py"], ALONE)
    seen().clear()
    assert manager.problems() == []
    for cell_id in ("a1", "b2"):
        manager.cell_finished({"cell_id": cell_id, "key": {}})
    manager.run_finished({"cells": ["b2"]})
    assert seen() == [("cell", "a1"), ("cell", "b2"), ("run", "b2")]
    assert [problem.reason for problem in manager.problems()] == [
        "aacbench_cell_finished failed: ValueError: a1 (broken_observer.py, line 10).",
        "aacbench_run_finished failed: SystemExit: 3 (broken_observer.py, line 15).",
    ]


def test_ctrl_c_in_an_observer_passes_through(tmp_path):
    (tmp_path / "stop.py").write_text(
        "from aacbench.plugins import hookimpl\n"
        "@hookimpl\ndef aacbench_run_finished(summary):\n    raise KeyboardInterrupt\n"
    )
    with pytest.raises(KeyboardInterrupt):
        load_plugins([tmp_path / "stop.py"], ALONE).run_finished({})


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_in_the_words_of_its_specification(hook):
    (sentence,) = getattr(hookspecs, hook).__doc__.splitlines()
    arguments = ", ".join(HOOKS[hook])
    assert f"### `{hook}({arguments})`\n\n{sentence}" in DOCUMENT


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_test_and_is_used_by_the_good_plugin(hook):
    tests = [node.name for node in ast.parse(Path(__file__).read_text()).body if isinstance(node, ast.FunctionDef)]
    wanted = hook.replace("aacbench_", "test_hook_")
    assert [name for name in tests if name.startswith(wanted)]
    assert f"def {hook}(" in (PLUGINS / "good.py").read_text()


def test_the_hooks_are_the_functions_of_the_specification():
    source = ast.parse(Path(hookspecs.__file__).read_text())
    functions = {node.name for node in source.body if isinstance(node, ast.FunctionDef)}
    assert set(HOOKS) == functions
    assert len(HOOKS) == 8


def test_the_first_plugin_of_the_document_works_and_is_ten_lines(tmp_path):
    example = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)[0]
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    file = tmp_path / "mine.py"
    file.write_text(example)
    manager = load_plugins([file], ALONE)
    assert manager.problems() == []
    (name,) = set(manager.methods()) - set(BUILT_IN)
    method = manager.method(name).method
    assert method.fit(None, None, {}) == {}
    assert method.build(None).h(0, 1) == 0


def test_loading_plugins_imports_nothing_heavy():
    code = (
        "import sys\nfrom aacbench.plugins.manager import load_plugins\n"
        "manager = load_plugins([sys.argv[1]], {'AACBENCH_PLUGINS': ''})\n"
        "assert manager.problems() == [] and 'flat' in manager.methods()\n"
        "print([name for name in ('torch', 'numba', 'scipy', 'numpy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(PLUGINS / "good.py")], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
