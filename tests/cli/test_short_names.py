"""A file graph with a short name: the name is shown everywhere instead of the path, and the file is found by it."""

import json
from pathlib import Path

import pytest
import small_studies as studies
from cli.command import command
from cli.test_plugin_graphs import GRAPHS

import aacbench
from aacbench.errors import UsageError
from aacbench.graphs.load import load
from aacbench.prereg.schema import parse_registration
from aacbench.prereg.template import new_registration
from aacbench.protocols import override, read_protocol
from aacbench.run.study import read_plan

TEXT = "town=file:folder/edges.txt?directed=no"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/edges.txt").write_text("0 1 3\n1 2 4\n2 3 5\n3 0 6\n")


def run(*more):
    sizes = ("--budgets", "16", "--seeds", "1", "--queries", "2/4", "--workers", "1")
    return command("run", "--methods", "alt,random-subset", *sizes, *more)


def test_the_graph_has_the_short_name():
    assert load(TEXT).name == "town"
    assert load(TEXT).digest == load("file:folder/edges.txt?directed=no").digest


def test_every_command_shows_the_name_and_the_path_once(capfd):
    assert run("--graphs", TEXT, "--out", "study") == 0
    text = capfd.readouterr().out
    assert "| town " in text
    assert text.count("edges.txt") == text.count("\ntown: folder/edges.txt?directed=no\n") == 1
    alt = studies.by_method(Path("study"))["alt"]
    assert (alt.key["graph"], alt.key["graph_file"]) == ("town", "file:folder/edges.txt?directed=no")
    assert read_plan(Path("study"))["study"]["graphs"] == [TEXT]
    for words in (["report", "study"], ["compare", "alt", "random-subset"], ["stats", "study"]):
        assert command(*words, *(["--study", "study"] if words[0] == "compare" else [])) == 0
        text = capfd.readouterr().out
        assert "| town " in text
        assert text.count("edges.txt") == 1
    assert command("report", "study", "--json") == 0
    assert {row["graph"] for row in json.loads(capfd.readouterr().out)["results"]} == {"town"}
    assert run("--graphs", TEXT, "--out", "study", "--existing", "verify") == 0
    assert command("replay", alt.cell_id, "--study", "study") == 0
    assert command("export", alt.cell_id, "out", "--study", "study") == 0
    assert capfd.readouterr().out.count(" on town at 16 B/v") == 2
    info = json.loads(Path("out/bundle.json").read_bytes())["info"]
    assert (info["graph"], info["graph_file"]) == ("town", "file:folder/edges.txt?directed=no")
    assert aacbench.load_bundle("out").network.graph.name == "town"


def test_studies_of_one_name_are_compared_though_their_paths_differ(capfd):
    Path("edges.txt").write_bytes(Path("folder/edges.txt").read_bytes())
    assert run("--graphs", TEXT, "--out", "one") == 0
    assert run("--graphs", "town=file:edges.txt?directed=no", "--out", "two") == 0
    capfd.readouterr()
    assert command("compare", "one", "two", "--method", "alt") == 0
    assert "100.0" in next(line for line in capfd.readouterr().out.splitlines() if line.startswith("| town "))


@pytest.mark.parametrize(
    ("graphs", "sentence"),
    [
        ("p7=file:folder/edges.txt", "p7=file:folder/edges.txt: 'p7' is a graph that comes with aacbench"),
        ("road-77=file:folder/edges.txt", "'road-77' is a graph that comes with aacbench"),
        ("a b=file:folder/edges.txt", "must be letters, digits, hyphens, underscores and dots"),
        ("own:ring=file:folder/edges.txt", "must be letters, digits, hyphens, underscores and dots"),
        (f"{TEXT},town=file:other.txt", "--graphs #2 has the name 'town' of --graphs #1; name each graph differently."),
    ],
)
def test_a_name_that_is_taken_or_has_other_signs_is_refused(graphs, sentence):
    with pytest.raises(UsageError) as caught:
        override(read_protocol("quick"), graphs=graphs)
    assert sentence in str(caught.value)


def test_the_name_of_a_plugins_graph_is_taken(tmp_path, capfd):
    plugin = tmp_path / "named.py"
    plugin.write_text(GRAPHS.read_text().replace('"own:ring"', '"ring"'))
    assert run("--graphs", "ring=file:folder/edges.txt", "--plugin", plugin, "--dry-run") == 2
    said = "aacbench: ring=file:folder/edges.txt: 'ring' is a graph of a plugin; choose another name."
    assert capfd.readouterr().err.splitlines()[-1] == said


def test_a_prediction_is_about_the_short_name():
    study = override(read_protocol("quick"), graphs=TEXT, methods="alt,random-subset", budgets="16")
    text = new_registration(study, "mine", "a title")
    assert 'graph = "town"' in text
    found = parse_registration(text)
    assert found.study.graphs == (TEXT,)
    assert {one.cell.graph for one in found.predictions if one.cell} == {"town"}
