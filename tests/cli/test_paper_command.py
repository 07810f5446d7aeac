"""`aacbench paper run`: which studies it runs, what it says of missing data, and rows replayed from a user's files."""

import gzip
from types import SimpleNamespace

import networkx as nx
import pytest
from cli.command import command
from made_studies import made_cell, made_study

from aacbench.cli.paper_runs import given_graphs, run_all, wanted_studies
from aacbench.errors import UsageError
from aacbench.protocols.paper import read_paper
from aacbench.reports.paper.comparison import compare
from aacbench.reports.paper.studies import Shelf
from aacbench.reports.paper.text import other_rows

PAPER = read_paper()
SIDE = 9


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def small_city():
    """A square of streets, both ways, under the ids and with the attributes of an OSMnx extract."""
    city = nx.MultiDiGraph()
    for x, y in nx.grid_2d_graph(SIDE, SIDE):
        city.add_node(1000 + SIDE * x + y, x=str(x), y=str(y))
    for (a, b), (c, d) in nx.grid_2d_graph(SIDE, SIDE).edges:
        one, other = 1000 + SIDE * a + b, 1000 + SIDE * c + d
        city.add_edge(one, other, length=str(1.5 + (one * other) % 7))
        city.add_edge(other, one, length=str(2.5 + (one + other) % 5))
    return city


def write_dimacs(path):
    arcs = [(one - 999, other - 999, 1 + (one + other) % 9) for one, other, _ in small_city().edges]
    lines = [f"p sp {SIDE * SIDE} {len(arcs)}", *(f"a {one} {other} {weight}" for one, other, weight in arcs)]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def replay_on(graph, label, run, root, graphs):
    """Run the study of one run and graph of an exhibit, and compare the exhibit with print."""
    found = wanted_studies(PAPER, [label], root, graphs)
    (study,) = [one for one in found if one.replay.graph == graph and one.replay.run.name == run]
    assert study.missing == ""
    code = run_all([study], {"workers": 1})
    return code, [one for one in compare(Shelf(PAPER, root), PAPER.exhibit(label)) if one.printed.row["graph"] == graph]


@pytest.mark.parametrize("name", ["ny.gr", "USA-road-d.NY.gr.gz"])
def test_a_dimacs_file_of_the_users_replays_its_rows(tmp_path, monkeypatch, name):
    write_dimacs(tmp_path / name)
    graphs = given_graphs([f"dimacs:NY=file:{tmp_path / name}"], PAPER)
    code, rows = replay_on("dimacs:NY", "tab:same-pool-firstm", "same-pool", tmp_path / "paper", graphs)
    assert code == 0
    replayed = {(row.printed.row.get("method"), row.printed.row.get("budget_bytes")): row.replayed for row in rows}
    for budget in (32, 64, 128):
        assert replayed["alt", budget].value == replayed["alt-pool", budget].value > 0
    assert (tmp_path / "paper" / "same-pool" / "dimacs-NY.toml").is_file()
    told = other_rows(Shelf(PAPER, tmp_path / "paper").studies("tab:same-pool-firstm"), [], PAPER.graphs)
    assert told == [
        f"dimacs:NY was replayed on file:{tmp_path / name}. It has {SIDE * SIDE} vertices, the paper's 264K."
    ]
    assert "replayed on file:" in rows[-1].why
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path / "empty"))
    shelf, exhibit = Shelf(PAPER, tmp_path / "paper"), PAPER.exhibit("tab:same-pool-firstm")
    assert "dimacs:NY" not in shelf.missing(exhibit)
    assert "osmnx:modena" in shelf.missing(exhibit)


@pytest.mark.filterwarnings("ignore::aacbench.graphs.fetch.UnverifiedDataWarning")
def test_an_osmnx_extract_in_the_data_folder_replays_its_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path))
    (tmp_path / "osmnx").mkdir()
    nx.write_graphml(small_city(), tmp_path / "osmnx" / "modena.graphml")
    code, rows = replay_on("osmnx:modena", "tab:osmnx", "alt", tmp_path / "paper", {})
    assert code == 0
    alt = [row for row in rows if row.printed.row["method"] == "alt"]
    assert {row.printed.column: row.replayed.value for row in alt}["nodes"] == SIDE * SIDE
    assert [row.replayed is not None for row in alt] == [True] * len(alt)
    aac = [row for row in rows if row.printed.row["method"] == "aac" and row.printed.column == "reduction_percent"]
    assert {row.why for row in aac} == {"not replayed yet"}
    (told,) = other_rows(Shelf(PAPER, tmp_path / "paper").studies("tab:osmnx"), [], PAPER.graphs)
    assert (
        told == f"osmnx:modena is a file of yours that is not checked. It has {SIDE * SIDE} vertices, the paper's 30K."
    )


def test_cells_that_failed_are_named_and_run_again(tmp_path, capfd):
    write_dimacs(tmp_path / "ny.gr")
    root, label = tmp_path / "paper", "tab:same-pool-firstm"
    file = f"file:{tmp_path / 'ny.gr'}"
    graphs = [word for name in ("dimacs:NY", "sbm-10k", "ba-10k") for word in ("--graph", f"{name}={file}")]
    words = ("paper", "run", label, "--here", *graphs, "--studies", root, "--workers", "1")
    assert command(*words, "--time-limit", "1e-6") == 1
    out, err = capfd.readouterr()
    assert "cells without a result: 7 timeout." in err
    assert "compares them with print" not in out
    rows = [one for one in compare(Shelf(PAPER, root), PAPER.exhibit(label)) if one.printed.row["graph"] == "dimacs:NY"]
    assert {one.why for one in rows if one.printed.column == "reduction_percent"} == {"no result: timeout"}
    assert command("paper", "report", "--studies", root) == 0
    assert "dimacs-NY: cells without a result: 7 timeout; run it again." in capfd.readouterr().out
    assert command(*words, "--existing", "keep") == 1
    err = capfd.readouterr().err
    studies = int(err.partition("[1/")[2].partition("]")[0])  # one more where Manhattan's files are here
    assert err.count(": kept: timeout") == studies * 7
    assert command(*words) == 0
    out, err = capfd.readouterr()
    assert "kept" not in err
    assert out.splitlines()[-1] == f"`aacbench paper report {label} --studies {root}` compares them with print."


def test_wrong_cells_alone_are_kept(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("aacbench.cli.paper_runs.prepare_run", asked.append)
    monkeypatch.setattr("aacbench.cli.paper_runs.carry_out", lambda _: SimpleNamespace(exit_code=0))
    monkeypatch.setattr("aacbench.cli.paper_runs.protocol_digest", lambda _: "p")
    (study,) = wanted_studies(PAPER, ["tab:training-drift"], tmp_path, {"sbm-10k": "p7"})
    wrong = made_cell("cdh", [1], outcome="wrong")
    made_study(study.folder, [wrong], graphs=["p7"])
    assert run_all([study], {}) == 0
    made_study(study.folder, [wrong, made_cell("alt", [1], outcome="error")], graphs=["p7"])
    assert run_all([study], {}) == 0
    assert run_all([study], {"existing": "replace"}) == 0
    assert [one.existing for one in asked] == ["keep", "retry-failed", "replace"]


def test_a_study_of_another_graph_is_left_alone(tmp_path, capsys):
    (study,) = wanted_studies(PAPER, ["tab:training-drift"], tmp_path, {"sbm-10k": "p7"})
    made_study(study.folder, [made_cell("alt", [1])], graphs=["sbm-10k"])
    assert run_all([study], {"workers": 1}) == 2
    assert f"{study.folder}: It was made with another graph or an earlier protocol" in capsys.readouterr().err
    assert not study.folder.with_name("sbm-10k.toml").exists()


def test_missing_data_is_named_and_the_rest_is_listed(no_data, capsys):
    assert command("paper", "run", "tab:matched-hybrid", "--dry-run") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "studies/paper/nonroad/sbm-10k: not run",
        "studies/paper/nonroad/ba-10k: not run",
    ]
    assert f"put it at {no_data / 'data' / 'ogb/arxiv/edge.csv.gz'}" in err
    assert command("paper", "run", "tab:matched-hybrid", "--dry-run", "--here") == 0
    assert capsys.readouterr().err == ""
    assert not (no_data / "studies").exists()


def test_exhibits_without_their_data_or_without_runs_run_nothing(no_data, capsys):
    assert command("paper", "run", "tab:latency") == 1
    assert "dimacs:FLA is not here" in capsys.readouterr().err
    assert command("paper", "run", "tab:latency", "--here") == 0
    assert command("paper", "run", "fig:toy-p7") == 0
    assert "nothing to run (closed form; seven vertices)" in capsys.readouterr().err


def test_a_study_that_serves_several_exhibits_is_run_once(tmp_path):
    labels = ["tab:valsplit", "tab:main-matched-memory", "tab:cdh-reference"]
    folders = [study.folder for study in wanted_studies(PAPER, labels, tmp_path, {})]
    assert len(folders) == len(set(folders))
    assert folders.count(tmp_path / "valsplit" / "dimacs-NY") == 1


def test_stand_ins_are_run_only_when_asked_for(tmp_path):
    found = [
        {study.replay.graph for study in wanted_studies(PAPER, ["tab:matched-hybrid"], tmp_path, {}, stand_ins=asked)}
        for asked in (False, True)
    ]
    assert found[1] - found[0] == {"snap:cit-HepTh"}


@pytest.mark.parametrize("text", ["dimacs:COL", "dimacs:COL=", "dimacs:XX=file:x.gr"])
def test_a_graph_that_is_not_given_as_name_and_graph_is_refused(text):
    with pytest.raises(UsageError, match="such as dimacs:COL=file:"):
        given_graphs([text], PAPER)


def test_a_graph_whose_file_is_missing_or_that_no_study_uses_is_refused(no_data, capsys):
    words = ("paper", "run", "tab:training-drift", "--dry-run", "--graph")
    assert command(*words, "sbm-10k=file:nope.gr") == 2
    assert capsys.readouterr().err == f"aacbench: file:nope.gr: file {no_data / 'nope.gr'} does not exist.\n"
    assert command(*words, "ba-10k=p7") == 2
    assert "no study of these exhibits is on ba-10k; their graphs are sbm-10k." in capsys.readouterr().err
    assert command(*words, "sbm-10k=p7") == 0


def test_the_list_is_printed_by_the_group_and_by_its_command(no_data, capsys):
    assert command("paper") == 0
    alone = capsys.readouterr().out
    assert command("paper", "list") == 0
    assert capsys.readouterr().out == alone


@pytest.mark.parametrize("words", [[], ["--all", "tab:valsplit"], ["tab:nothing"]])
def test_exhibits_are_named_or_all_asked_for(words, capsys):
    assert command("paper", "run", *words) == 2
    assert capsys.readouterr().err.count("\n") == 1
