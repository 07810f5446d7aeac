"""Graphs of plugins: usable wherever a graph is named, and one that misbehaves spoils nothing but itself."""

import json
import re
import shutil
from pathlib import Path

import pytest
from cli.command import command

from aacbench.errors import DataError
from aacbench.plugins.manager import load_plugins
from aacbench.run.rows import read_queries
from aacbench.run.store import scan

GRAPHS = Path(__file__).parent / "plugins" / "graphs.py"
DOCUMENT = Path(__file__).parents[2] / "docs" / "plugins.md"
SIZES = ("--budgets", "8", "--seeds", "1", "--queries", "3/5")


def run(root, graphs, *more, methods="alt"):
    return command("run", "--methods", methods, "--graphs", graphs, *SIZES, "--plugin", GRAPHS, "--out", root, *more)


def cells(root):
    return {(cell.key["graph"], cell.key["label"]): cell for _, cell in scan(root)}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("graphs") / "study"
    assert run(root, "own:ring,p7", "--workers", "2", "--time", "--repetitions", "2") == 0
    return root


def test_it_is_run_timed_and_reported_like_any_other(study, capfd):
    found = cells(study)
    assert set(found) == {(graph, method) for graph in ("own:ring", "p7") for method in ("dijkstra", "alt")}
    assert {cell.outcome for cell in found.values()} == {"ok"}
    ring = load_plugins([GRAPHS]).graph("own:ring")
    alt = found["own:ring", "alt"]
    assert (ring.name, alt.key["graph_digest"]) == ("own:ring", ring.digest)
    assert "timings.csv" in alt.files
    rows = read_queries(alt.files["queries.csv"])
    around = abs(rows["source"] - rows["target"])
    assert rows["cost"].tolist() == [3 * min(steps, 12 - steps) for steps in around.tolist()]
    assert command("report", study) == 0
    assert "own:ring" in capfd.readouterr().out


def test_its_cells_are_replayed_with_the_plugin_alone(study, capfd):
    name = cells(study)["own:ring", "alt"].cell_id
    assert command("replay", name, "--study", study, "--plugin", GRAPHS) == 0
    assert "stored and recomputed agree" in capfd.readouterr().out
    assert command("replay", name, "--study", study) == 2
    assert "Unknown graph 'own:ring'" in capfd.readouterr().err


def test_replayed_on_another_graph_of_that_name_it_is_refused(study, tmp_path, capfd):
    changed = tmp_path / "graphs.py"
    changed.write_text(GRAPHS.read_text().replace("weight=3)", "weight=4)"))
    name = cells(study)["own:ring", "alt"].cell_id
    assert command("replay", name, "--study", study, "--plugin", changed) == 2
    assert "The graph own:ring or its queries are not those that this run was planned on" in capfd.readouterr().err


def test_a_build_that_hangs_is_not_replayed_for_ever(tmp_path, monkeypatch, capfd):
    root = tmp_path / "study"
    assert run(root, "own:ring", "--workers", "1", methods="zero") == 0
    monkeypatch.setenv("HANG", "own:ring")
    name = cells(root)["own:ring", "zero"].cell_id
    assert command("replay", name, "--study", root, "--plugin", GRAPHS, "--time-limit", "3") == 2
    said = "aacbench: The cell cannot be replayed: It took longer than 3 seconds."
    assert capfd.readouterr().err.splitlines()[-1] == said


def test_it_is_listed_with_its_origin_and_shown(capfd):
    assert command("graphs", "--plugin", GRAPHS, "--json") == 0
    rows = {row["name"]: row for row in json.loads(capfd.readouterr().out)}
    assert rows["own:ring"]["where"] == f"plugin {GRAPHS}"
    assert rows["own:ring"]["summary"] == "twelve vertices in a ring"
    assert command("graphs", "show", "own:ring", "--plugin", GRAPHS, "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["name"], told["vertices"], told["arcs"]) == ("own:ring", 12, 24)
    assert told["digest"] == load_plugins([GRAPHS]).graph("own:ring").digest


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (
            "own:leaving",
            "The graph 'own:leaving' of a plugin cannot be loaded: The worker process died (exit code 3).",
        ),
        ("own:hanging", "The graph 'own:hanging' of a plugin cannot be loaded: It took longer than 3 seconds."),
    ],
    ids=["leaving", "hanging"],
)
def test_a_loader_that_never_comes_back_is_one_sentence(graph, sentence, tmp_path, capfd):
    root = tmp_path / "study"
    assert run(root, graph, "--time-limit", "3", "--workers", "1") == 2
    assert capfd.readouterr().err.splitlines()[-1] == f"aacbench: {sentence}"
    assert not list(scan(root))


def test_a_loader_that_fails_is_one_sentence(capfd):
    assert command("graphs", "show", "own:failing", "--plugin", GRAPHS) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    said = (
        r"aacbench: the graph 'own:failing' of .*graphs.py cannot be loaded: ValueError: no map today \(graphs.py, .*"
    )
    assert re.fullmatch(said, last), last


def test_a_graph_that_forges_its_digest_gets_its_own():
    plugins = load_plugins([GRAPHS])
    assert plugins.graph("own:forged").digest == plugins.graph("own:ring").digest
    with pytest.raises(DataError, match="load\\(\\) returns a Graph"):
        plugins.graph("own:junk")


def test_a_graph_that_is_another_each_time_gives_no_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTER", str(tmp_path / "counter"))
    root = tmp_path / "study"
    assert run(root, "own:changing", "--workers", "1") == 1
    assert len(cells(root)) == 2
    for cell in cells(root).values():
        assert cell.outcome == "error"
        assert "The graph own:changing or its queries are not those" in cell.record["reason"]
        assert "queries.csv" not in cell.files


def test_names_that_come_with_aacbench_are_taken(tmp_path):
    for name in ("grid-9", "p7", "dimacs:NY", "road-5000-s3"):
        file = tmp_path / f"{name.replace(':', '_')}.py"
        file.write_text(GRAPHS.read_text().replace("own:ring", name))
        manager = load_plugins([file])
        (problem,) = manager.problems()
        assert problem.reason == f"the name {name!r} among its graphs is taken by one that comes with aacbench."
        assert name not in manager.graphs()


def test_the_documented_example_runs(tmp_path, monkeypatch, capfd):
    section = DOCUMENT.read_text(encoding="utf-8").split("### `aacbench_graphs()`")[1].split("### ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    (line,) = re.findall(r"```sh\naacbench (.*?)\n```", section)
    monkeypatch.chdir(tmp_path)
    Path("city.py").write_text(code)
    assert command(*line.split(), "--out", "study") == 0
    assert {cell.key["graph"] for _, cell in scan(Path("study"))} == {"my:ladder"}
    shutil.rmtree("study")
