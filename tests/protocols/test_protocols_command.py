"""`aacbench protocols` lists protocols and shows one as TOML that reads back; the documentation has all of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from aacbench.cli.main import group
from aacbench.errors import UsageError
from aacbench.protocols import known_protocols, protocol_digest, read_protocol
from aacbench.protocols.reader import KEYS, MEASURES, SELECTIONS, parse_protocol

DOCUMENT = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text(encoding="utf-8")
KEY_TABLE = DOCUMENT.partition("## Keys")[2].partition("\n## ")[0]


def run(*arguments):
    result = CliRunner().invoke(group, ["protocols", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_table_has_every_protocol():
    lines = run().splitlines()
    assert lines[0].split() == ["name", "summary", "graphs", "methods", "budgets"]
    starts = {line.split()[0] for line in lines[2:] if line and not line.startswith(" ")}
    assert starts >= set(known_protocols())
    assert any("alt-pool[K0=32|64|128]" in line and "32, 64, 128" in line for line in lines)


@pytest.mark.parametrize("name", known_protocols())
def test_show_prints_a_protocol_that_reads_back(name, tmp_path):
    path = tmp_path / "copy.toml"
    path.write_text(run("show", name), encoding="utf-8")
    study = read_protocol(name)
    assert read_protocol(path) == study
    assert run("show", str(path)) == run("show", name)
    assert protocol_digest(study) in run("show", name)


def test_the_json_has_the_same():
    record = json.loads(json.dumps(read_protocol("quick").record()))
    assert json.loads(run("--json"))["quick"] == record
    assert json.loads(run("show", "quick", "--json")) == {
        "digest": protocol_digest(read_protocol("quick")),
        **record,
    }


@pytest.fixture
def plugin(tmp_path):
    """A plugin with a protocol of its own, one that cannot be read, and one whose name is taken."""
    file = tmp_path / "with_protocols.py"
    file.write_text(
        "from pathlib import Path\n"
        "from aacbench.plugins import ProtocolFile, hookimpl\n"
        "@hookimpl\n"
        "def aacbench_protocols():\n"
        "    for name in ('tiny', 'torn', 'quick'):\n"
        "        yield ProtocolFile(name, Path(__file__).parent / f'{name}.toml')\n"
    )
    small = run("show", "quick").replace('"quick"', '"tiny"').replace('"road-5000", "ba-10k", "grid-64"', '"p7"')
    for name, text in (("tiny", small), ("quick", small), ("torn", "summary = 1")):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return str(file)


def test_protocols_of_plugins_are_listed_and_shown(plugin, tmp_path):
    listed = json.loads(CliRunner().invoke(group, ["protocols", "--plugin", plugin, "--json"]).stdout)
    assert sorted(set(listed) - set(known_protocols())) == ["tiny"]
    assert listed["quick"]["protocol"] == "quick"
    said = run("--plugin", plugin)
    assert "torn.toml: " in said
    assert "a protocol named 'quick' comes with aacbench" in said
    for words in (("--plugin", plugin, "show", "tiny"), ("show", "tiny", "--plugin", plugin)):
        assert 'graphs = ["p7"]' in run(*words)


def test_a_protocol_of_a_plugin_is_run_by_name(plugin, tmp_path):
    words = ["run", "--protocol", "tiny", "--plugin", plugin, "--out", str(tmp_path / "study"), "--dry-run"]
    result = CliRunner().invoke(group, words, catch_exceptions=False)
    assert result.exit_code == 0
    assert "p7" in result.output


def test_an_unknown_protocol_is_a_usage_error():
    with pytest.raises(UsageError, match="did you mean quick"):
        run("show", "quik")


def test_importing_the_command_imports_no_numpy():
    code = "import sys, aacbench.cli.protocols; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_key_is_documented_and_no_other():
    assert sorted(re.findall(r"^\| `([a-z.]+)` \|", KEY_TABLE, flags=re.MULTILINE)) == sorted(KEYS)
    assert [word for word in SELECTIONS + MEASURES if f"`{word}`" not in KEY_TABLE] == []


def test_documented_defaults_are_the_records():
    study = parse_protocol(DOCUMENT.partition("```toml\n")[2].partition("```")[0])
    for key, default in re.findall(r"^\| `([a-z.]+)` \| ([^|]+) \|", KEY_TABLE, flags=re.MULTILINE):
        owner, _, name = key.rpartition(".")
        if owner in ("methods", "variants") or default in ("needed", "see below"):
            continue
        value = getattr(getattr(study, owner) if owner else study, name)
        written = ", ".join(map(str, value)) if isinstance(value, tuple) else str("" if value is None else value)
        written = written or "none"
        assert default.replace("`", "") == (written.lower() if isinstance(value, bool) else written), key


def test_every_shipped_protocol_is_documented():
    section = DOCUMENT.partition("## Shipped")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^- `([^`]+)`: \w+", section, flags=re.MULTILINE)) == sorted(known_protocols())
