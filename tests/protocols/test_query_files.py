"""Queries by rank, of a scenario and of a CSV file: from the protocol or the command line to the rows of a study."""

import json

import pytest
from cli.command import command

from aacbench.errors import DataError, UsageError
from aacbench.prereg.schema import parse_registration
from aacbench.prereg.template import new_registration
from aacbench.protocols import override, read_protocol, to_toml
from aacbench.protocols.reader import parse_protocol
from aacbench.run.loaded_graph import forget, loaded_graph
from aacbench.run.records import QueryPlan
from aacbench.run.rows import read_queries
from aacbench.run.study import read_plan

MAP = "type octile\nheight 4\nwidth 5\nmap\n.....\n.@@..\n.....\n.....\n"
# Bucket, start, goal and optimum; each optimum is cut as scenario files cut it.
PROBLEMS = [(0, 0, 0, 1, 0, 1), (0, 4, 0, 4, 1, 1), (1, 0, 0, 4, 3, 6.41421), (1, 0, 1, 3, 1, 5)]
PROTOCOL = """
protocol = "mine"
summary = "queries of a file"
graphs = ["p7"]
budgets = [32]
seeds = [1]
[queries]
{queries}
[[methods]]
name = "alt"
"""


@pytest.fixture
def places(tmp_path):
    """A map with its scenario, and a CSV file of queries."""
    (tmp_path / "small.map").write_text(MAP, encoding="utf-8")
    rows = [f"{b}\tsmall.map\t5\t4\t{a}\t{c}\t{d}\t{e}\t{f}" for b, a, c, d, e, f in PROBLEMS]
    (tmp_path / "small.scen").write_text("\n".join(["version 1", *rows, ""]), encoding="utf-8")
    (tmp_path / "mine.csv").write_text("source,target,optimum\n0,6,6\n6,1,5\n0,6,6\n3,4,1\n", encoding="utf-8")
    return tmp_path


def study(**queries):
    """A small study with these keys in its queries table."""
    return parse_protocol(PROTOCOL.format(queries="".join(f"{key} = {json.dumps(queries[key])}\n" for key in queries)))


def run(places, queries, *more):
    words = ("--graphs", f"file:{places / 'small.map'}", "--budgets", "16", "--seeds", "1", "--methods", "alt")
    return command("run", *words, "--queries", queries, "--workers", "1", "--out", places / "study", *more)


def cells(root):
    return [json.loads(path.read_bytes()) | {"folder": path.parent} for path in root.glob("cells/*/*/cell.json")]


@pytest.mark.parametrize(
    "queries",
    [
        {"mode": "strata", "validation": 1, "test": 2},
        {"mode": "scenario"},
        {"mode": "scenario", "file": "a/b.scen"},
        {"mode": "file", "file": "b.csv", "shuffle": True, "seed": 3},
    ],
)
def test_a_protocol_may_name_each_mode_and_is_written_back(queries):
    found = study(**queries)
    assert found.queries == QueryPlan(**queries)
    assert parse_protocol(to_toml(found)) == found


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        ({"mode": "file"}, 'queries.file is missing; with mode = "file"'),
        ({"file": "x.csv"}, 'queries.file needs mode = "file" or mode = "scenario", not "uniform"'),
        ({"mode": "strata", "file": "x.csv"}, 'not "strata"'),
        ({"mode": "scenario", "shuffle": True}, 'queries.shuffle needs mode = "file", not "scenario"'),
        ({"mode": "file", "file": ""}, "queries.file must be"),
        ({"mode": "scenarios"}, "did you mean scenario?"),
    ],
)
def test_keys_that_do_not_belong_together_are_refused(queries, words):
    with pytest.raises(UsageError) as caught:
        study(**queries)
    assert words in str(caught.value)


def test_new_keys_are_recorded_only_where_they_are_set():
    old = {"mode", "seed", "train", "validation", "test", "strict"}
    assert set(read_protocol("valsplit").record()["queries"]) == old
    assert set(study(mode="file", file="x.csv").record()["queries"]) == {*old, "file"}


def test_a_relative_path_is_relative_to_the_protocols_file(places, monkeypatch):
    folder = places / "protocols"
    folder.mkdir()
    (folder / "mine.toml").write_text(PROTOCOL.format(queries='mode = "file"\nfile = "../mine.csv"'), encoding="utf-8")
    monkeypatch.chdir(places)
    assert read_protocol("protocols/mine.toml").queries.file == "protocols/../mine.csv"
    assert read_protocol(folder / "mine.toml").queries.file == str(folder / "../mine.csv")
    absolute = PROTOCOL.format(queries=f'mode = "file"\nfile = "{places}/mine.csv"')
    (folder / "mine.toml").write_text(absolute, encoding="utf-8")
    assert read_protocol("protocols/mine.toml").queries.file == str(places / "mine.csv")


def test_a_file_on_the_command_line_is_used_whole_in_the_protocols_proportion(places):
    csv, scenario = str(places / "mine.csv"), str(places / "small.scen")
    plain = study(validation=10, test=30)
    assert override(plain, queries=csv).queries == QueryPlan(mode="file", file=csv, validation=1, test=3)
    assert override(plain, queries=scenario).queries == QueryPlan(mode="scenario", file=scenario, validation=1, test=3)
    strict = study(validation=10, test=30, strict=True)
    assert override(strict, queries=csv).queries == QueryPlan(mode="file", file=csv, validation=0, test=3, strict=True)
    shuffled = study(mode="file", file="x.csv", shuffle=True, validation=0, train=1)
    assert override(shuffled, queries=csv).queries == QueryPlan(mode="file", file=csv, validation=0, test=3, train=1)
    assert override(shuffled, queries="1/2").queries == QueryPlan(
        mode="file", file="x.csv", shuffle=True, validation=1, test=2, train=1
    )


def test_a_registration_keeps_the_file_and_draws_no_queries_from_its_lock():
    text = new_registration(study(mode="file", file="x.csv", validation=0, test=4), "mine", "a title")
    assert parse_registration(text).study.queries == QueryPlan(mode="file", file="x.csv", validation=0, test=4)
    with pytest.raises(UsageError, match=r'seed_source = "lock" draws queries, but protocol\.queries reads them'):
        parse_registration(text.replace('seed_source = "fixed"', 'seed_source = "lock"'))


def test_a_file_that_cannot_be_used_is_one_sentence(places):
    with pytest.raises(DataError, match=r"File none\.csv does not exist"):
        override(study(), queries="none.csv")
    with pytest.raises(UsageError, match=r"mine\.csv has too few queries: the protocol trains on 4"):
        override(study(train=4), queries=str(places / "mine.csv"))


def test_a_changed_file_changes_the_digests_in_every_key(places):
    plan = QueryPlan(mode="file", file=str(places / "mine.csv"), validation=1, test=3)
    before = loaded_graph("p7", plan).digests()
    text = (places / "mine.csv").read_text(encoding="utf-8")
    (places / "mine.csv").write_text(text.replace("3,4,1", "4,3,1"), encoding="utf-8")
    forget()
    after = loaded_graph("p7", plan).digests()
    assert (before["validation"], before["train"]) == (after["validation"], after["train"])
    assert before["test"] != after["test"]


def test_a_scenario_is_run_and_timed_against_its_published_optima(places):
    assert run(places, places / "small.scen", "--time", "--repetitions", "1") == 0
    plan = read_plan(places / "study")["study"]["queries"]
    assert (plan["mode"], plan["file"]) == ("scenario", str(places / "small.scen"))
    assert len(cells(places / "study")) == 2
    for cell in cells(places / "study"):
        rows = read_queries((cell["folder"] / "queries.csv").read_bytes())
        assert list(rows["split"]) == ["validation"] * 2 + ["test"] * 2
        assert sorted(rows["cost"]) == pytest.approx([1, 1, 5, 6.41421], abs=1e-5)
        assert cell["buckets"] == {"validation": [0, 1], "test": [0, 1]}


def test_results_are_reported_by_bucket(places, capsys):
    assert run(places, places / "small.scen", "--seeds", "1,2", "--methods", "random-subset") == 0
    capsys.readouterr()
    assert command("report", places / "study", "--by", "bucket", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["buckets"]
    assert [(row["method"], row["bucket"], row["queries"]) for row in rows] == [
        (method, bucket, 1) for method in ("dijkstra", "random-subset") for bucket in (0, 1)
    ]
    found = [cell for cell in cells(places / "study") if cell["key"]["method"] == "random-subset"]
    expanded = [read_queries((cell["folder"] / "queries.csv").read_bytes())["expanded"][3] for cell in found]
    assert len(expanded) == 2
    assert rows[3]["expanded"] == sum(expanded) / 2
    assert command("report", places / "study", "--by", "bucket") == 0
    text = capsys.readouterr().out
    assert f"|        1 |         1 | {rows[1]['expanded']:10.2f} | {rows[3]['expanded']:15.2f} |" in text
    assert "each bucket of the scenario" in text
    assert command("report", places / "study", "--by", "bucket", "--csv") == 0
    assert capsys.readouterr().out.startswith("graph,budget,method,oracle,matched,bucket,queries,expanded\n")


def test_results_are_reported_by_rank_and_without_buckets_there_is_a_sentence(places, capsys):
    protocol = places / "ranks.toml"
    protocol.write_text(PROTOCOL.format(queries='mode = "strata"\nvalidation = 1\ntest = 2'), encoding="utf-8")
    assert command("run", "--protocol", protocol, "--workers", "1", "--out", places / "study") == 0
    capsys.readouterr()
    assert command("report", places / "study", "--by", "bucket") == 0
    text = capsys.readouterr().out
    assert "bucket k has the Dijkstra ranks from 2^k to 2^(k+1) - 1" in text
    assert [line.split("|")[3].strip() for line in text.splitlines() if line.startswith("| p7")] == ["1", "2"]
    protocol.write_text(PROTOCOL.format(queries="validation = 1\ntest = 2"), encoding="utf-8")
    assert command("run", "--protocol", protocol, "--workers", "1", "--out", places / "plain") == 0
    assert all("buckets" not in cell for cell in cells(places / "plain"))
    assert command("report", places / "plain", "--by", "bucket") == 2
    assert "has no test queries in buckets; set queries.mode" in capsys.readouterr().err


def test_queries_of_a_file_name_vertices_as_the_graph_does(places, monkeypatch):
    monkeypatch.chdir(places)
    (places / "roads.csv").write_text("source,target,weight\nLinz,Graz,5\nGraz,Wien,7\nWien,Linz,4\n", encoding="utf-8")
    (places / "trips.csv").write_text("source,target,optimum\nGraz,Linz,11\nWien,Graz,9\n", encoding="utf-8")
    assert override(study(), queries="trips.csv").queries.test == 1
    plan = QueryPlan(mode="file", file="trips.csv", validation=1, test=1)
    splits = loaded_graph("roads=file:roads.csv", plan).splits
    assert (splits.validation.sources[0], splits.validation.targets[0]) == (1, 0)
    (places / "trips.csv").write_text("source,target\nGraz,Linz\nGraz,1\n", encoding="utf-8")
    forget()
    with pytest.raises(
        DataError, match=r"^trips\.csv, line 3: '1' is not a vertex of the graph 'roads'; .* as 'Linz'\.$"
    ):
        loaded_graph("roads=file:roads.csv", plan)


def test_a_wrong_optimum_is_an_error_of_every_cell(places):
    text = (places / "small.scen").read_text(encoding="utf-8")
    (places / "small.scen").write_text(text.replace("6.41421", "6.42421"), encoding="utf-8")
    assert run(places, places / "small.scen") == 1
    for cell in cells(places / "study"):
        assert cell["outcome"] == "error"
        place = "Queries of 'file:{}', line 4: the query from (0, 0) to (4, 3) ".format(places / "small.map")
        assert place + "has the published optimum 6.42421, but Dijkstra finds 6.414213" in cell["reason"]


def test_a_scenario_on_another_graph_is_refused_before_anything_runs(places, capsys):
    assert run(places, places / "small.scen", "--graphs", "grid-4") == 2
    assert "line 3: the start (4, 0) is a blocked cell of the graph's map" in capsys.readouterr().err
    assert not (places / "study").exists()


def test_a_dry_run_counts_queries_by_rank_per_stratum(places, capsys):
    protocol = places / "ranks.toml"
    queries = 'mode = "strata"\nvalidation = 1\ntest = 2'
    protocol.write_text(PROTOCOL.format(queries=queries), encoding="utf-8")
    assert command("run", "--protocol", protocol, "--dry-run", "--out", places / "study") == 0
    out = capsys.readouterr().out
    assert "1 validation and 2 test queries per stratum" in out
    assert "84 vertices to search" in out  # 2 cells, 3 sources, 2 strata, 7 vertices
