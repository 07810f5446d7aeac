"""`aacbench graphs` lists what there is and shows what a graph is."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from aacbench.cli.graphs import describe, graphs
from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.catalogue import catalogue


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    def triangle(name):
        return from_arcs(4, [0, 1, 2], [1, 2, 0], [1, 2, 3]) if name == "triangle" else None

    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("aacbench.graphs.generators.generate", triangle, raising=False)
    monkeypatch.setattr("aacbench.graphs.generators.describe", lambda: [("triangle", "three arcs")], raising=False)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(graphs, arguments, catch_exceptions=False).output


def listed():
    return {row["name"]: row for row in json.loads(run("--json"))}


def test_the_table_has_every_graph():
    lines = run().splitlines()
    assert lines[0].split() == ["name", "vertices", "arcs", "where", "licence"]
    assert {line.split()[0] for line in lines[2:] if line} >= {*catalogue(), "triangle"}
    assert any("264,346" in line and "730,100" in line for line in lines)


def test_a_row_says_where_the_files_are(places):
    def place(folder, *files):
        for file in files:
            path = places / folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    place("own", "dimacs/rome99.gr", "dimacs/USA-road-d.NY.gr")
    place("cache/data", "dimacs/USA-road-d.NY.co.gz")
    where = {name: row["where"] for name, row in listed().items()}
    assert where["dimacs:rome99"] == "in $AACBENCH_DATA"
    assert where["dimacs:NY"] == "cached"
    assert where["dimacs:BAY"] == "to download"
    assert where["movingai:arena"] == "to be got by hand"
    assert where["triangle"] == "generated"


def test_the_json_has_what_the_table_has_and_the_summary():
    row = listed()["dimacs:NY"]
    assert (row["vertices"], row["arcs"]) == (264346, 730100)
    assert row["licence"].startswith("public domain")
    assert row["summary"].startswith("New York City")


def test_the_files_that_are_looked_for_are_listed(places):
    path = places / "own" / "dimacs" / "rome99.gr"
    path.parent.mkdir(parents=True)
    path.touch()
    lines = [" ".join(line.split()) for line in run("--files").splitlines()]
    assert "dimacs:rome99 dimacs/rome99.gr in $AACBENCH_DATA" in lines
    assert "dimacs:NY dimacs/USA-road-d.NY.co.gz to download" in lines
    wanted = {file.at for entry in catalogue().values() for file in entry.files.values()}
    assert {line.split()[1] for line in lines if ":" in line} == wanted
    assert "--files" in run()


def test_the_json_has_the_files_and_their_digests():
    rows = listed()
    assert rows["triangle"]["files"] == []
    for name, entry in catalogue().items():
        found = [(file["file"], tuple(file["sha256"]), file["address"]) for file in rows[name]["files"]]
        assert found == [(file.at, file.sha256, file.address) for file in entry.files.values()]


def test_show_tells_what_a_graph_is():
    facts = json.loads(run("show", "triangle", "--json"))
    assert len(facts.pop("digest")) == 64
    assert facts == {
        "name": "triangle",
        "vertices": 4,
        "arcs": 3,
        "weights": "integral",
        "symmetric": False,
        "declared directed": True,
        "coordinates": False,
        "names of vertices": False,
        "strong components": 2,
        "largest strong component": 3,
        "weak components": 2,
        "largest weak component": 3,
    }
    assert "symmetric                 no" in run("show", "triangle")


def test_show_of_an_unknown_name_is_a_usage_error():
    with pytest.raises(UsageError, match="triangle"):
        run("show", "triangel")


def test_importing_the_command_imports_no_numpy():
    code = "import sys, aacbench.cli.graphs; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_map_is_described_with_the_buckets_of_its_scenario(tmp_path):
    file = tmp_path / "own" / catalogue()["movingai:arena"].files["scenario"].at
    file.parent.mkdir(parents=True)
    file.write_text("version 1\n" + "".join(f"{bucket}\ta.map\t2\t1\t0\t0\t1\t0\t1\n" for bucket in (0, 0, 3)))
    facts = describe(from_arcs(2, [0], [1], [1], name="movingai:arena"))
    assert (facts["scenario problems"], facts["scenario buckets"]) == (3, 2)
    assert "scenario buckets" not in describe(from_arcs(2, [0], [1], [1], name="mine"))
