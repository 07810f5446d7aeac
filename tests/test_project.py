"""The project's own shape: packages listed, imports one way, a quick command, documents that are true."""

import ast
import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HARNESS = ROOT / "harness"

# What each part of the core may import, besides itself and the files at the top of the package.
MAY_IMPORT = {
    "graphs": set(),
    "queries": {"graphs"},
    "search": {"graphs"},
    "labels": {"graphs", "search"},
    "cli": {"graphs", "queries", "search", "labels"},
}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_every_package_is_listed():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {
        ".".join(["aacbench", *path.parent.relative_to(HARNESS).parts])
        for path in HARNESS.rglob("__init__.py")
        if "__pycache__" not in path.parts
    }
    assert listed == found
    assert not (ROOT / "aacbench").exists()


@pytest.mark.parametrize("part", sorted(path.name for path in HARNESS.iterdir() if (path / "__init__.py").exists()))
def test_imports_point_one_way(part):
    inside = {path.name for path in HARNESS.iterdir() if path.is_dir()}
    for path in (HARNESS / part).rglob("*.py"):
        for module in imported(path):
            pieces = module.split(".")
            if pieces[0] == "aacbench" and len(pieces) > 1 and pieces[1] in inside - {part}:
                assert pieces[1] in MAY_IMPORT[part], f"{path.relative_to(ROOT)} imports {module}"


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom aacbench.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('torch', 'numba', 'scipy', 'matplotlib', 'numpy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "demo" in done.stdout


def test_the_readme_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"\d+ -> \d+ expansions\n", done.stdout)


def test_continuous_integration_runs_the_readmes_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```sh\n(python3 .*?)\n```", readme)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "document", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name
)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        assert target.startswith("http") or (document.parent / target).exists(), target


def test_every_count_is_documented():
    from aacbench.search.astar import COSTS, COUNTS

    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    assert [name for name in COSTS + COUNTS if f"`{name}`" not in text] == []


def test_the_clock_is_in_no_name_of_a_test():
    # pytest-xdist refuses to run where two workers collect other names; gzip writes the time unless told not to.
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                calls = [call for mark in node.decorator_list for call in ast.walk(mark) if isinstance(call, ast.Call)]
                packing = [call for call in calls if ast.unparse(call.func) == "gzip.compress"]
                assert all("mtime" in {word.arg for word in call.keywords} for call in packing), (path, node.name)
