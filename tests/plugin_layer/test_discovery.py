"""Plugins are found where they are looked for, and their source has a digest."""

import hashlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from aacbench.plugins.manager import load_plugins
from aacbench.plugins.methods import BUILT_IN
from aacbench.util.source_file import folder_digest, read_source

ROOT = Path(__file__).parent.parent.parent
GOOD = ROOT / "tests" / "plugins" / "good.py"
PLUGIN = """
from aacbench.plugins import Method, ScalarHeuristic, hookimpl

@hookimpl
def aacbench_methods():
    yield Method("{name}", "h = 0", lambda budget, info, params: params, lambda context: ScalarHeuristic(max))
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution with one entry point where Python finds installed ones."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(distribution, entry, module, files):
        info = tmp_path / f"{distribution.replace('-', '_')}-2.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.5\n")
        (info / "entry_points.txt").write_text(f"[aacbench]\n{entry} = {module}\n")
        for path, content in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(content)
            monkeypatch.delitem(sys.modules, path.split("/")[0].removesuffix(".py"), raising=False)
        return tmp_path

    yield install
    for name in [name for name in sys.modules if name.startswith("tried_")]:
        del sys.modules[name]


def names(manager):
    return [plugin.origin.plugin for plugin in manager.plugins()]


def test_built_ins_are_ordinary_plugins_without_problems(monkeypatch):
    monkeypatch.setattr("aacbench.plugins.loader.BUILT_IN", BUILT_IN)
    manager = load_plugins((), {"AACBENCH_PLUGINS": ""})
    assert names(manager) == list(BUILT_IN)
    assert manager.problems() == []
    source = ROOT / "plugins" / "methods" / "dijkstra.py"
    assert manager.method("dijkstra").origin.digest == hashlib.sha256(source.read_bytes()).hexdigest()


def test_every_module_of_methods_is_listed():
    folder = ROOT / "plugins" / "methods"
    found = {path.stem for path in folder.iterdir() if not path.stem.startswith("_")}
    assert found == set(BUILT_IN)


def test_an_entry_point_is_found_with_its_distribution(install):
    files = {"tried_pack/__init__.py": "", "tried_pack/hooks.py": PLUGIN.format(name="tried")}
    folder = install("Tried-Pack", "tried", "tried_pack.hooks", files)
    manager = load_plugins((), {})
    assert manager.problems() == []
    origin = manager.method("tried").origin
    assert (origin.plugin, origin.kind, origin.where, origin.version) == ("tried", "distribution", "Tried-Pack", "2.5")
    assert origin.digest == folder_digest(folder / "tried_pack")


def test_a_broken_entry_point_is_named_with_its_distribution_and_stops_no_other(install):
    install("a-broken", "broken", "tried_broken", {"tried_broken.py": "import tried_no_such"})
    install("b-absent", "absent", "tried_absent", {})
    install("c-good", "good", "tried_good", {"tried_good.py": PLUGIN.format(name="tried")})
    manager = load_plugins((), {})
    assert "tried" in manager.methods()
    first, second = manager.problems()
    assert first.line.startswith("broken (a-broken): It cannot be imported: ModuleNotFoundError")
    assert second.line.startswith("absent (b-absent): It cannot be imported: ModuleNotFoundError")


def test_two_distributions_with_one_entry_point_name(install):
    install("a-first", "same", "tried_first", {"tried_first.py": PLUGIN.format(name="first")})
    install("b-second", "same", "tried_second", {"tried_second.py": PLUGIN.format(name="second")})
    manager = load_plugins((), {})
    assert list(manager.methods()) == ["dijkstra", "first"]
    (problem,) = manager.problems()
    assert problem.line.startswith("same (b-second): The plugin name 'same' is taken by 'same' (a-first)")


def test_the_variable_loads_exactly_a_named_set(install):
    for letter in "abc":
        source = {f"tried_{letter}.py": PLUGIN.format(name=f"tried-{letter}")}
        install(f"dist-{letter}", f"plugin-{letter}", f"tried_{letter}", source)
    everything = load_plugins((), {})
    by_name = load_plugins((), {"AACBENCH_PLUGINS": f" plugin-a , dist-c,{GOOD}"})
    nothing = load_plugins([GOOD], {"AACBENCH_PLUGINS": ""})
    assert names(everything) == ["dijkstra", "plugin-a", "plugin-b", "plugin-c"]
    assert names(by_name) == ["dijkstra", "plugin-a", "plugin-c", "good"]
    assert names(nothing) == ["dijkstra", "good"]


def test_a_named_plugin_that_is_not_there_is_a_problem(install):
    install("dist-a", "plugin-a", "tried_a", {"tried_a.py": PLUGIN.format(name="tried")})
    manager = load_plugins((), {"AACBENCH_PLUGINS": "plugin-aa,dijkstra"})
    (problem,) = manager.problems()
    assert problem.line.startswith(
        "plugin-aa ($AACBENCH_PLUGINS): No installed plugin has this name; did you mean 'plugin-a'"
    )


def test_a_file_given_twice_is_loaded_once():
    manager = load_plugins([GOOD, str(GOOD)], {"AACBENCH_PLUGINS": str(GOOD.parent / ".." / "plugins" / "good.py")})
    assert names(manager) == ["dijkstra", "good"]
    assert manager.problems() == []


def test_a_plugin_file_is_the_same_module_in_another_process():
    zero = read_source(GOOD).load().zero
    code = (
        "import pickle, sys\nfrom aacbench.util.source_file import read_source\n"
        "read_source(sys.argv[1]).load()\nprint(pickle.loads(bytes.fromhex(sys.argv[2]))(1, 2))"
    )
    relative = str(GOOD.relative_to(ROOT))
    done = subprocess.run(
        [sys.executable, "-c", code, relative, pickle.dumps(zero).hex()], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_module_is_named_by_the_file_and_its_bytes_wherever_it_lies(tmp_path):
    names = []
    for folder, text in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my plugin.py").write_text(text)
        names.append(read_source(tmp_path / folder / "my plugin.py").module)
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("aacbench_plugin_my_plugin_")


def test_a_file_with_the_longest_name_has_a_module_with_a_shorter_one(tmp_path):
    file = tmp_path / f"{'n' * 252}.py"
    file.write_text("")
    assert len(read_source(file).module) < 200


def test_a_changed_file_is_imported_again_and_its_digest_is_that_of_what_ran(tmp_path):
    file = tmp_path / "edited.py"
    file.write_text(PLUGIN.format(name="one"))
    first = load_plugins([file], {})
    before = read_source(file)
    assert before.load() is before.load()
    file.write_text(PLUGIN.format(name="two"))  # the same size, within the same second
    second = load_plugins([file], {})
    assert "one" in first.methods()
    assert list(second.methods()) == ["dijkstra", "two"]
    assert second.method("two").origin.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert [method.name for method in before.load().aacbench_methods()] == ["one"]  # what was read is what runs


def test_the_digest_of_a_package_follows_names_and_contents_but_not_byte_code(tmp_path):
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "__pycache__").mkdir()
    before = folder_digest(tmp_path)
    (tmp_path / "__pycache__" / "a.pyc").write_text("y")
    assert folder_digest(tmp_path) == before
    (tmp_path / "a.py").write_text("z")
    changed = folder_digest(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({before, changed, folder_digest(tmp_path)}) == 3
