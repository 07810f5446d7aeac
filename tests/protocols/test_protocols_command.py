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


def test_an_unknown_protocol_is_a_usage_error():
    with pytest.raises(UsageError, match="did you mean quick"):
        run("show", "quik")


def test_importing_the_command_imports_no_numpy():
    code = "import sys, aacbench.cli.protocols; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_key_is_documented_and_no_other():
    section = DOCUMENT.partition("## Keys")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([a-z.]+)` \|", section, flags=re.MULTILINE)) == sorted(KEYS)
    assert [word for word in SELECTIONS + MEASURES if f"`{word}`" not in section] == []


def test_documented_defaults_are_the_records():
    study = parse_protocol(DOCUMENT.partition("```toml\n")[2].partition("```")[0])
    for key, default in re.findall(r"^\| `([a-z.]+)` \| ([^|]+) \|", DOCUMENT, flags=re.MULTILINE):
        owner, _, name = key.rpartition(".")
        if owner == "methods" or default in ("needed", "see below"):
            continue
        value = getattr(study.queries if owner else study, name)
        written = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        assert default.replace("`", "") == (written.lower() if isinstance(value, bool) else written), key


def test_every_shipped_protocol_is_documented():
    section = DOCUMENT.partition("## Shipped")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^- `([^`]+)`: \w+", section, flags=re.MULTILINE)) == sorted(known_protocols())
