"""The project's own shape: packages listed, imports one way, a quick command, documents that are true."""

import ast
import re
import subprocess
import sys

import pytest
from cli.command import run_line
from project import ROOT, configuration, roots

HARNESS = ROOT / "harness"

# What each part may import besides itself, `errors` and `version`.
BASE = {"util", "contract"}
CORE = BASE | {"graphs", "maps", "queries", "search", "labels", "bundle", "run", "processes", "stats"}
MAY_IMPORT = {
    "util": set(),
    "contract": {"util"},
    "processes": {"util"},
    "stats": {"util"},
    "graphs": BASE,
    "maps": BASE | {"graphs"},
    "queries": BASE | {"graphs"},
    "search": BASE | {"graphs"},
    "labels": BASE | {"graphs", "maps", "queries", "search"},
    "bundle": BASE | {"graphs", "queries", "search", "labels"},
    "run": CORE,
    "testing": CORE - {"stats"},
    "plugins": CORE - {"run", "stats"},
    "protocols": CORE,
    "prereg": CORE | {"protocols"},
    "reports": CORE | {"protocols"},
    "library": CORE | {"plugins", "protocols", "prereg", "reports"},
    "cli": CORE | {"testing", "plugins", "protocols", "prereg", "reports", "library"},
}
LOOSE = {"__init__.py", "__main__.py", "errors.py", "version.py"}


def parts():
    """Every part of the package by its name: the folders of the core, and those beside it."""
    inside = {path.name: path for path in HARNESS.iterdir() if (path / "__init__.py").exists()}
    beside = {name.partition(".")[2]: folder for name, folder in roots().items() if "." in name}
    return inside | beside


def imported(path):
    """What a file imports; of the contract, at run time: its annotations name records of the whole core."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.is_relative_to(HARNESS / "contract"):
        tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_imported(module):
    package, *inner = module.split(".")
    return inner[0] if package == "aacbench" and inner and inner[0] in parts() else None


def test_every_package_is_listed():
    found = {
        ".".join([name, *path.parent.relative_to(folder).parts])
        for name, folder in roots().items()
        for path in folder.rglob("__init__.py")
        if "__pycache__" not in path.parts
    }
    assert set(configuration()["options"]["packages"].split()) == found
    assert not (ROOT / "aacbench").exists()


def test_every_folder_of_code_is_mapped():
    at_root = {path.parent for path in ROOT.glob("*/__init__.py")}
    assert at_root == set(roots().values())


@pytest.mark.parametrize("part", sorted(parts()))
def test_imports_point_one_way(part):
    for path in parts()[part].rglob("*.py"):
        for module in imported(path):
            found = part_imported(module)
            assert found in {None, part, *MAY_IMPORT[part]}, f"{path.relative_to(ROOT)} imports {module}"


def test_no_other_module_stands_directly_in_the_harness():
    assert {path.name for path in HARNESS.glob("*.py")} == LOOSE
    for path in HARNESS.glob("*.py"):
        allowed = {None, {"__main__.py": "cli", "__init__.py": "library"}.get(path.name)}
        assert {part_imported(module) for module in imported(path)} <= allowed, path.name


def test_methods_never_import_each_other():
    folder = ROOT / "plugins" / "methods"
    names = {path.stem for path in folder.iterdir() if path.stem[0] != "_"}
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        for module in imported(path):
            pieces = module.split(".")
            if pieces[:3] == ["aacbench", "plugins", "methods"]:
                assert pieces[3] not in names - {own}, f"{path.relative_to(ROOT)} imports {module}"


HEAVY = ("torch", "numba", "scipy", "matplotlib", "numpy", "pandas", "statsmodels", "pingouin")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom aacbench.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "run" in done.stdout.split()


def test_the_examples_of_the_library_run(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    searching, deploying = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(searching, {})
    assert re.fullmatch(r"\d+ -> \d+ expansions\n", capsys.readouterr().out)
    monkeypatch.chdir(tmp_path)
    (commands,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    for line in commands.splitlines():
        assert run_line(line) == 0
    capsys.readouterr()
    done = subprocess.run([sys.executable, "-c", deploying], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "alt"


def test_continuous_integration_runs_the_readmes_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```sh\n(python3 .*?)\n```", readme)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "document", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: p.name
)
def test_links_lead_somewhere(document):
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", prose(document)):
        page = document.parent / target if target else document
        assert target.startswith("http") or page.exists(), target
        assert not anchor or anchor in anchors(page), f"{target}#{anchor}"


def test_pages_of_the_site_stay_inside_it_and_use_languages_that_it_colours():
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name != "README.md"]
    targets = [page.parent / target for page in pages for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", prose(page))]
    assert [target for target in targets if (ROOT / "docs") not in target.resolve().parents] == []
    languages = {word for page in pages for word in re.findall(r"^```(\S+)$", page.read_text(), flags=re.MULTILINE)}
    assert languages <= {"sh", "python", "text", "toml", "ini", "{toctree}"}


def prose(document):
    """A document without its blocks of code, where a hash is a comment and brackets are a list."""
    return re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(document):
    """The anchors of a document's headings, as code hosts and the site make them."""
    headings = re.findall(r"^#+ (.*)$", prose(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_navigation_of_the_site():
    docs = ROOT / "docs"
    blocks = re.findall(r"```{toctree}\n(.*?)```", (docs / "index.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    entries = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    listed = {path for entry in entries for path in docs.glob(f"{entry}.md")}
    assert listed == set(docs.rglob("*.md")) - {docs / "index.md", docs / "README.md"}
    assert not listed & {docs / "search.md", docs / "genindex.md"}  # the site has pages of its own by these names
    contents = prose(docs / "README.md")
    assert [path.name for path in listed if path.parent == docs and f"]({path.name})" not in contents] == []


def test_the_site_needs_the_same_packages_everywhere():
    wanted = configuration()["options.extras_require"]["docs"].split()
    deps = re.search(r"\[testenv:docs\].*?\ndeps =\n(.*?)\ncommands", (ROOT / "tox.ini").read_text(), flags=re.DOTALL)
    assert deps[1].split() == wanted


def test_every_count_is_documented():
    from aacbench.search.astar import COSTS, COUNTS

    text = (ROOT / "docs" / "searching.md").read_text(encoding="utf-8")
    assert [name for name in COSTS + COUNTS if f"`{name}`" not in text] == []


def test_the_clock_is_in_no_name_of_a_test():
    # pytest-xdist refuses to run where two workers collect other names; gzip writes the time unless told not to.
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                calls = [call for mark in node.decorator_list for call in ast.walk(mark) if isinstance(call, ast.Call)]
                packing = [call for call in calls if ast.unparse(call.func) == "gzip.compress"]
                assert all("mtime" in {word.arg for word in call.keywords} for call in packing), (path, node.name)


def test_every_command_is_documented():
    from aacbench.cli.main import COMMANDS

    text = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    block = next(part for part in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL) if "aacbench run" in part)
    assert [name for name in COMMANDS if not re.search(rf"\baacbench {name}\b", block)] == []


def test_the_map_of_the_code_names_what_there_is():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    hops = re.findall(r"^\d+\. `([\w./]+\.py)`: `(\w+)`", text, flags=re.MULTILINE)
    assert 10 <= len(hops) <= 15
    for file, name in hops:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, (file, name)
