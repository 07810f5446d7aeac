"""The tutorial: its files are made from the document, its commands run, its tables compared."""

import configparser
import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli.command import run_line

from aacbench.plugins import Budget, GraphInfo, Unsupported

TEXT = (Path(__file__).parents[2] / "docs" / "writing-a-method.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)```", TEXT, flags=re.DOTALL | re.MULTILINE))
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL) for line in block.splitlines()]
RUNS = [command for command in COMMANDS if command.startswith("aacbench run --plugin")]
CHECKS = [command for command in COMMANDS if command.startswith("aacbench check")]
METHODS = {name: file for file, text in FILES.items() for name in re.findall(r'\bMethod\("([\w-]+)"', text)}
# The runs of the page search with every method and load its bundles; these checks need no search to be compiled.
QUICK = "parameters,builds,numbers,unreachable,admissible,consistent,directed,within-budget,more-budget,same-seed"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory, and no plugins chosen by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AACBENCH_PLUGINS", raising=False)
    return tmp_path


@pytest.fixture
def aacbench(folder, capfd):
    """Run a command of the document in this process; returns exit code, output and errors."""

    def run(line):
        code = run_line(line)
        return code, *capfd.readouterr()

    return run


def tables(text):
    """Every results table in a text, each a list of rows by column name."""
    found, lines = [], text.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("| graph"):
            header = cells(line)
            block = lines[at + 2 : next(k for k in range(at, len(lines) + 1) if not "".join(lines[k : k + 1]))]
            found.append([dict(zip(header, cells(row), strict=True)) for row in block])
    return found


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def write_files(folder, *names):
    for name in names:
        (folder / name).write_text(FILES[name], encoding="utf-8")


def test_the_first_file_is_about_thirty_lines():
    assert CHECKS
    assert set(METHODS) == {"compass", "crow", "lend", "tree", "three-to-one"}
    assert set(FILES) == {
        *("compass.py", "crow.py", "lend.py", "tree.py", "three.py"),
        *("setup.cfg", "pyproject.toml"),
    }
    assert len(FILES["compass.py"].splitlines()) <= 35


@pytest.mark.parametrize(
    ("line", "shown"), list(zip(RUNS, tables(TEXT), strict=True)), ids=["compass", "crow", "lend", "tree"]
)
def test_commands_give_the_tables_shown(folder, aacbench, line, shown):
    write_files(folder, "compass.py", "crow.py", "lend.py", "tree.py")
    code, out, err = aacbench(line)
    assert code == 0, err
    (printed,) = tables(out)
    common = set(shown[0]) & set(printed[0])
    assert common >= {"graph", "method", "validation", "test", "measured B/v"}
    assert [{name: row[name] for name in common} for row in printed] == [
        {name: row[name] for name in common} for row in shown
    ]
    assert ("outcome" in printed[0]) == ("outcome" in shown[0])  # only where something is not ok
    refused = re.findall(r"```text\n- [0-9a-f]{8}: (unsupported: .*)\n```", TEXT) if "outcome" in printed[0] else []
    assert re.findall("^- [0-9a-f]{8}: (.*)", out, flags=re.MULTILINE) == refused


@pytest.mark.parametrize("line", CHECKS)
def test_every_check_shown_passes(folder, aacbench, line):
    write_files(folder, *(name for name in FILES if name in line))
    code, out, _ = aacbench(line)
    assert code == 0, out


@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_its_claims(folder, aacbench, name):
    write_files(folder, METHODS[name])
    code, out, _ = aacbench(f"aacbench check {name} --plugin {METHODS[name]} --budgets 8,64 --only {QUICK}")
    assert code == 0, out


@pytest.mark.parametrize("name", ["compass", "crow"])
def test_a_method_of_a_map_refuses_a_graph_without_coordinates(folder, name):
    write_files(folder, METHODS[name])
    fit = runpy.run_path(METHODS[name])["fit"]
    info = GraphInfo("bare", 9, 20, integral=True, symmetric=True, declared_directed=False, label_bytes=4)
    assert "no coordinates" in fit(Budget(32), info, {}).reason
    assert not isinstance(fit(Budget(32), replace(info, coordinates=True), {}), Unsupported)


def test_the_package_is_found_by_its_entry_point(folder):
    """An installed distribution, written as an installer would write it from these files, without a network."""
    site = folder / "site"
    config = configparser.ConfigParser()
    config.read_string(FILES["setup.cfg"])
    name, version = config["metadata"]["name"], config["metadata"]["version"]
    information = site / f"{name.replace('-', '_')}-{version}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = config["options.entry_points"].items()
    (information / "entry_points.txt").write_text("".join(f"[{group}]{lines}\n" for group, lines in groups))
    write_files(site, *(f"{module}.py" for module in config["options"]["py_modules"].split()))
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    first, second, third = COMMANDS[-3:]
    assert first == "pip install -e ."
    listed = installed(second, path)
    (line,) = [line for line in listed.splitlines() if line.startswith("compass")]
    assert line.split() == ["compass", version, name, "compass"]
    (printed,) = tables(installed(third, path))
    assert [row["method"] for row in printed] == ["dijkstra", "alt", "compass"]
    assert "outcome" not in printed[0]


def installed(line, path):
    """Run a command in a process that finds packages in `path`, and return its output."""
    words = [sys.executable, "-m", *shlex.split(line)]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


CROW = FILES["crow.py"]
KERNEL = CROW[CROW.index("@njit") : CROW.index("@hookimpl")].rstrip() + "\n"
INDENTED = "".join(f"    {line}\n" for line in KERNEL.splitlines())
NESTED = CROW.replace(KERNEL + "\n\n", "").replace("    return LabelH", INDENTED + "\n    return LabelH")
MISTAKES = {
    "hasty": CROW.replace(".min()", ".mean()"),
    "wide": CROW.replace("xy = graph.coords.astype(np.float32)", "xy = graph.coords.astype(np.float64)"),
    "around": NESTED.replace("labels.pace", "pace"),
    "nested": NESTED,
}


def test_mistakes_are_reported_in_the_words_of_the_document(folder, aacbench):
    for name, source in MISTAKES.items():
        assert source != CROW
        (folder / f"{name}.py").write_text(source.replace('"crow"', f'"{name}"'), encoding="utf-8")
    plugins = " ".join(f"--plugin {name}.py" for name in MISTAKES)
    code, out, _ = aacbench(f"aacbench run {plugins} --methods {','.join(MISTAKES)} --graphs grid-8 --budgets 4,8")
    assert code == 3
    reasons = [re.sub("^- [0-9a-f, ]+: ", "- ", line) for line in out[out.index("\n- ") :].splitlines()]
    (wrong,) = re.findall(r"```text\n- [0-9a-f]{8}: (wrong: .*)\n```", TEXT)
    assert f"- {wrong}" in reasons
    (cell,) = re.findall(f"^- ([0-9a-f]+): {re.escape(wrong)}$", out, flags=re.MULTILINE)
    (replay,) = re.findall(r"`(aacbench replay [^`]+ --plugin hasty.py)`", TEXT)
    code, again, _ = aacbench(re.sub(r"\b[0-9a-f]{8}\b", cell, replay))
    assert (code, again.splitlines()[-1]) == (0, "stored and recomputed agree")
    sentences = re.findall(r"^\| `([^`]+)` \|", TEXT[TEXT.index("When something goes wrong") :], flags=re.MULTILINE)
    beginnings = ["unsupported: wide", "error: around", "error: nested"]
    for beginning, sentence in zip(beginnings, sentences[1:4], strict=True):
        assert any(line.startswith(f"- {beginning} on grid-8 at 8 B/v") and sentence in line for line in reasons)
    outcome, _, reason = sentences[4].partition(": ")
    assert any(line.startswith(f"- {outcome}: ") and line.endswith(reason) for line in reasons)


def test_a_method_made_of_others_gets_its_shares(folder, aacbench):
    write_files(folder, "three.py")
    code, out, err = aacbench(
        "aacbench run --plugin three.py --methods three-to-one --graphs grid-8 --budgets 16 --seeds 1 --queries 3/5"
    )
    assert code == 0, err
    row = tables(out)[0][1]
    assert row["settings"] == "alt[K=3 labels=exact] random-subset[K=1 K0=32 labels=exact]"


def test_a_misspelt_method_gets_a_suggestion(folder, aacbench):
    write_files(folder, "compass.py")
    code, _, err = aacbench(RUNS[0].replace(",compass", ",compas"))
    assert code == 2
    assert "Unknown method 'compas'; did you mean 'compass'?" in err
    assert "Unknown method 'compas'; did you mean 'compass'?" in TEXT
