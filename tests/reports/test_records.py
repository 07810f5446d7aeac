"""Records: the least within so many bytes, never below the floor, kept by graph, beaten on the same queries only."""

import json
from dataclasses import replace

import pytest
from cli.command import command, run_study
from made_studies import made_cell, made_study

from aacbench.errors import DataError, UsageError
from aacbench.protocols import read_protocol
from aacbench.reports import records_text as text
from aacbench.reports.records import Records, read, records_of, shipped, write
from aacbench.run.layout import cell_id
from aacbench.run.study import planned_cells


def cell(label, expanded, budget=32, **more):
    digests = {"test": more.get("graph", "p7") + "-queries"}
    more.setdefault("graph_digest", more.get("graph", "p7") + "-graph")
    _, record, files = made_cell(label, [expanded] * 2, budget=budget, **more)
    record["key"]["query_digests"] = digests
    return cell_id(record["key"]), record, files


def made(root, *cells):
    return records_of(planned_cells(made_study(root, [cell("dijkstra", 900, budget=8), *cells])))


@pytest.fixture
def records(tmp_path):
    return made(
        tmp_path,
        cell("alt", 100, 8, times=[[4000] * 2] * 2),
        cell("alt", 60, 32, times=[[4000] * 2] * 2),
        cell("exact", 10, 32, measured=20.0, h_work=[70, 70], times=[[2000] * 2] * 2),
        cell("seer", 1, 8, claims={"oracle": True}),
        cell("fat", 1, 8, measured=40.0, claims={"matched": False}),
        cell("torn", 1, 8, outcome="wrong", reason="not admissible"),
    )


def test_a_record_is_the_least_that_fits(records):
    assert {one.method for one in records.records} == {"alt", "exact"}
    assert records.best("p7", 8).method == "alt"
    assert records.best("p7", 19.9).method == "alt"
    assert records.best("p7", 20).method == "exact"  # which was given 32 and takes 20
    assert records.best("p7", 32, "total").method == "alt"
    assert records.best("p7", 32, "time").method == "exact"
    assert records.best("p7", 7) is None


def test_times_are_multiples_of_those_of_alt_at_the_same_budget(records):
    assert {(one.method, one.budget): one.time for one in records.records} == {
        ("alt", 8): 1.0,
        ("alt", 32): 1.0,
        ("exact", 32): 0.5,
    }


def test_by_time_only_results_that_were_given_the_budget_compete(tmp_path):
    """At 32 B/v `slow` has 0.5 of the time of `alt` there; `small` has 0.25 at 8 B/v, where `alt` takes longer."""
    known = made(
        tmp_path,
        cell("alt", 100, 8, times=[[8000] * 2] * 2),
        cell("small", 90, 8, times=[[2000] * 2] * 2),
        cell("alt", 60, 32, times=[[1000] * 2] * 2),
        cell("slow", 70, 32, times=[[500] * 2] * 2),
    )
    assert known.best("p7", 8, "time").method == "small"
    assert known.best("p7", 32, "time").method == "slow"
    assert "exactly the row's budget" in text.table(known, "time")


def test_a_ratio_of_another_budget_than_the_rows_names_it(tmp_path):
    known = made(
        tmp_path,
        cell("alt", 100, 8, times=[[8000] * 2] * 2),
        cell("small", 5, 8, times=[[2000] * 2] * 2),
        cell("alt", 60, 32, times=[[1000] * 2] * 2),
    )
    at_8, at_32 = text.table(known).splitlines()[2:4]
    assert "| 0.25 |" in " ".join(at_8.split())
    assert "| 0.25 at 8 |" in " ".join(at_32.split())


def test_the_table_shows_a_line_for_each_budget(records):
    lines = text.table(records).splitlines()
    assert len(lines) == 2 + 2 + 1 + 3
    assert "exact" in lines[3]
    assert len(text.table(records, everything=True).splitlines()) == 2 + 3 + 1 + 3


def test_a_study_is_held_against_the_same_graph_queries_and_budget(records, tmp_path):
    study = made(tmp_path / "mine", cell("mine", 50, 8), cell("mine", 11, 32), cell("mine", 5, 8, graph="other"))
    found = {(each.mine.graph, each.mine.budget): each for each in text.compare(study, records)}
    assert found["p7", 8].beats
    assert found["p7", 8].record.method == "alt"
    assert not found["p7", 32].beats
    assert found["other", 8].why == "no record on this graph"
    shown = text.comparison_table(found.values())
    assert shown.count(text.BEATEN) == 1
    assert shown.endswith("1 of 2 comparable results beat the record, by expansions.")
    lazy = made(tmp_path / "lazy", cell("mine", 55, 32))  # alt has 60 in all there, `exact` 10 and 70 of its own
    (by_total,) = text.compare(lazy, records, "total")
    assert (by_total.beats, by_total.record.method) == (True, "alt")
    assert not text.compare(lazy, records)[0].beats
    assert text.comparison_table([by_total], "total").endswith("beat the record, by expansions + h_work.")
    asked = {name: replace(one, queries_digest="others") for name, one in records.settings.items()}
    others = text.compare(study, Records(asked, records.records))
    assert not any(each.beats for each in others)


def test_what_is_written_reads_back_and_keeps_other_graphs(records, tmp_path):
    path = tmp_path / "records.json"
    write(records, path)
    assert read(path.read_bytes(), "") == records
    other = made(tmp_path / "other", cell("alt", 7, 8, graph="g2"), cell("dijkstra", 9, 8, graph="g2"))
    write(other, path)
    both = read(path.read_bytes(), "")
    assert list(both.settings) == ["p7", "g2"]
    again = made(tmp_path / "again", cell("alt", 99, 8))
    write(again, path)
    found = {one.what: one.expanded for one in read(path.read_bytes(), "").records}
    assert found == {("p7", 8, "alt"): 99, ("p7", 32, "alt"): 60, ("p7", 32, "exact"): 10, ("g2", 8, "alt"): 7}
    refused = made(tmp_path / "refused", cell("alt", 98, 8), cell("exact", 10, 32, outcome="unsupported", reason="big"))
    write(refused, path)
    assert ("p7", 32, "exact") not in {one.what for one in read(path.read_bytes(), "").records}
    others = {"p7": replace(again.settings["p7"], queries_digest="others")}
    write(Records(others, again.records), path)
    assert [one.graph for one in read(path.read_bytes(), "").records] == ["g2", "p7"]


def test_of_equal_records_the_one_with_fewer_bytes_and_then_the_first_is_shown(tmp_path):
    same = made(tmp_path, cell("ch", 10, 32, measured=20.0), cell("ch-core", 10, 32, measured=20.0))
    assert same.best("p7", 32).method == "ch"
    less = made(tmp_path / "less", cell("ch", 10, 32, measured=20.0), cell("ch-core", 10, 32, measured=19.0))
    assert less.best("p7", 32).method == "ch-core"


@pytest.mark.parametrize("data", [b"", b"[]", b'{"format": "aacbench.records/9"}', b'{"format": "aacbench.records/1"}'])
def test_a_file_without_records_is_refused(data):
    with pytest.raises(DataError):
        read(data, "records.json")


def test_a_study_without_methods_has_no_records(tmp_path):
    with pytest.raises(UsageError, match="no records in it"):
        made(tmp_path)


def test_the_floor_is_below_everything_that_was_counted(tmp_path, capsys):
    assert run_study(tmp_path / "study", "alt", "--graphs", "grid-16", "--search", "modern") == 0
    found = records_of(planned_cells(tmp_path / "study"))
    (setting,) = found.settings.values()
    assert 1 < setting.path <= min(one.expanded for one in found.records) <= setting.dijkstra
    assert all(0 <= one.below <= one.expanded for one in found.records)


# What is shipped


def test_what_is_shipped_is_complete_and_below_dijkstra():
    known, study = shipped(), read_protocol("records")
    assert {one.method for one in known.records} <= {method.label for method in study.methods}
    for graph, setting in known.settings.items():
        assert set(known.budgets(graph)) <= set(study.budgets)
        best = known.best(graph, 128)
        assert setting.path <= best.expanded < setting.dijkstra
        assert best.expanded <= min(one.expanded for one in known.records if one.graph == graph)


def test_the_command_prints_shipped_records_and_holds_a_study_against_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command("records") == 0
    table = capsys.readouterr().out
    graph = next(iter(shipped().settings))
    assert graph in table
    assert command("records", "--graph", graph, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["graph"] for one in told["records"]} == {graph}
    assert all({"within", "budget", "time"} <= one.keys() for one in told["best"])
    assert command("records", "--graph", "none-such") == 2
    assert command("records", "--write", "x.json") == 2
    run_study(tmp_path / "study", "alt")
    for refused in (
        ("study", "--by", "time"),
        ("study", "--all"),
        ("--from", "study", "--write", "x.json", "--graph", "p7"),
        ("study", "--from", "study", "--write", "x.json"),
    ):
        assert command("records", *refused) == 2, refused
    assert not (tmp_path / "x.json").exists()
    assert command("records", "study", "--by", "total") == 0
    assert "by expansions + h_work." in capsys.readouterr().out
    assert command("records", "study") == 0
    assert "no record on this graph" in capsys.readouterr().out
    assert command("records", "--from", "study", "--write", "mine.json") == 0
    assert read((tmp_path / "mine.json").read_bytes(), "").settings.keys() == {"p7"}
