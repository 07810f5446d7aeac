"""`aacbench plugins` lists plugins, their methods and their problems, and works whatever they do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from aacbench.cli.plugins import plugins

FOLDER = Path(__file__).parent.parent / "plugins"
GOOD, BROKEN = FOLDER / "good.py", FOLDER / "broken_in_hook.py"


@pytest.fixture(autouse=True)
def only_built_ins(monkeypatch):
    monkeypatch.setenv("AACBENCH_PLUGINS", "")


@pytest.fixture(autouse=True)
def one_built_in(monkeypatch):
    monkeypatch.setattr("aacbench.plugins.loader.BUILT_IN", ("dijkstra",))
    monkeypatch.setattr("aacbench.plugins.loader.ENCODERS", ())


def run(*arguments):
    return CliRunner().invoke(plugins, [str(argument) for argument in arguments], catch_exceptions=False)


def test_the_table_has_name_version_origin_methods_and_problems():
    done = run("--plugin", GOOD, "--plugin", BROKEN)
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    kinds = ["methods", "graphs", "protocols", "encoders", "maps", "reports"]
    assert lines[0].split() == ["name", "version", "origin", *kinds, "problems"]
    assert lines[2].split() == ["dijkstra", "0.1.0", "built-in", "dijkstra"]
    declared = ["own:pair", "own-protocol", "own-flat", "own:maps", "row-count"]
    assert lines[3].split() == ["good", "1.2", str(GOOD), "flat,", "flat-twin", *declared]
    assert lines[4].split() == ["broken_in_hook", str(BROKEN), "1"]
    reason = "aacbench_methods failed: ValueError: two lines (broken_in_hook.py, line 17)."
    assert lines[5:] == ["", f"broken_in_hook ({BROKEN}): {reason}"]


def test_the_json_has_all_a_plugin_offers():
    rows = {row["name"]: row for row in json.loads(run("--plugin", GOOD, "--plugin", BROKEN, "--json").stdout)}
    assert list(rows) == ["dijkstra", "good", "broken_in_hook"]
    good = rows["good"]
    assert (good["kind"], len(good["digest"])) == ("file", 64)
    assert (good["graphs"], good["protocols"], good["reports"]) == (["own:pair"], ["own-protocol"], ["row-count"])
    assert (good["encoders"], good["maps"]) == (["own-flat"], ["own:maps"])
    assert good["problems"] == []
    assert rows["broken_in_hook"]["methods"] == []
    assert len(rows["broken_in_hook"]["problems"]) == 1


def test_a_plugin_that_prints_does_not_spoil_the_json(tmp_path):
    (tmp_path / "loud.py").write_text("print('good day')\n")
    assert len(json.loads(run("--plugin", tmp_path / "loud.py", "--json").stdout)) == 2


def test_listing_imports_nothing_heavy():
    code = (
        "import sys\nfrom aacbench.cli import main\n"
        "try:\n    main(['plugins', '--plugin', sys.argv[1]])\nexcept SystemExit as end:\n    assert not end.code\n"
        "print([name for name in ('torch', 'numba', 'scipy', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(GOOD)], capture_output=True, text=True)
    assert done.stderr == ""
    assert "flat-twin" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
