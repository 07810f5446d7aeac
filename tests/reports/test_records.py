"""Records: the least within so many bytes, never below the floor, kept by graph, beaten on the same queries only."""

import json
import shutil
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from cli.command import command, run_study
from made_studies import made_cell, made_study

from aacbench.errors import DataError, UsageError
from aacbench.protocols import read_protocol
from aacbench.reports import records_text as text
from aacbench.reports.records import Records, read, records_of, shipped, write
from aacbench.run.exit_codes import MISMATCH
from aacbench.run.layout import cell_id
from aacbench.run.study import read_study

TIMES = [[4000] * 2] * 2


def cell(label, expanded, budget=32, **more):
    digests = {"test": more.get("graph", "p7") + "-queries"}
    more.setdefault("graph_digest", more.get("graph", "p7") + "-graph")
    _, record, files = made_cell(label, [expanded] * 2, budget=budget, **more)
    record["key"]["query_digests"] = digests
    return cell_id(record["key"]), record, files


def made(root, *cells):
    return records_of(read_study(made_study(root, [cell("dijkstra", 900, budget=8), *cells])))


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
    again = made(tmp_path / "again", cell("alt", 99, 8, times=TIMES))
    write(again, path)
    found = {one.what: one.expanded for one in read(path.read_bytes(), "").records}
    assert found == {("p7", 8, "alt"): 99, ("p7", 32, "alt"): 60, ("p7", 32, "exact"): 10, ("g2", 8, "alt"): 7}
    unsupported = cell("exact", 10, 32, outcome="unsupported", reason="big")
    write(made(tmp_path / "refused", cell("alt", 98, 8, times=TIMES), unsupported), path)
    assert ("p7", 32, "exact") not in {one.what for one in read(path.read_bytes(), "").records}


@pytest.mark.parametrize(
    ("graph", "other", "said"),
    [
        ("p7", {"queries_digest": "others"}, "other test queries"),
        ("p7", {"graph_digest": "others"}, "other graph file"),
        ("p7", {"convention": "directionality-aware/1"}, "convention directionality-aware/1, not measured/1"),
        ("p7", {"search": "paper"}, "search paper, not modern"),
        ("g2", {"search": "paper"}, "search paper, not modern"),  # all of a file have one search
    ],
)
def test_results_of_other_conditions_do_not_replace_those_of_a_file(records, tmp_path, graph, other, said):
    path = tmp_path / "records.json"
    write(records, path)
    before = path.read_bytes()
    study = made(tmp_path / "study", cell("dijkstra", 900, 8, graph=graph), cell("alt", 1, 8, graph=graph, times=TIMES))
    settings = {graph: replace(study.settings[graph], **other)}
    with pytest.raises(UsageError, match=f"on {graph} cannot .*{said}.* Nothing was written; name another file"):
        write(Records(settings, study.records), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("cells", [[("alt", None)], [("exact", TIMES)]])  # the second has no `alt` for a ratio
def test_a_study_without_times_does_not_replace_times(records, tmp_path, cells):
    path = tmp_path / "records.json"
    write(records, path)
    before = path.read_bytes()
    study = made(tmp_path / "study", *(cell(method, 1, 32, times=times) for method, times in cells))
    with pytest.raises(UsageError, match=f"has times of {cells[0][0]} on p7 at 32 B/v.*--time"):
        write(study, path)
    assert path.read_bytes() == before


def test_a_file_without_a_search_policy_is_modern(records, tmp_path):
    path = tmp_path / "records.json"
    write(records, path)
    told = json.loads(path.read_bytes())
    assert [one.pop("search") for one in told["graphs"]] == ["modern"]
    assert read(json.dumps(told).encode(), "") == records


@pytest.mark.parametrize(
    ("study", "other", "said"),
    [
        ({"search": "paper"}, {}, "not comparable: search paper, not modern"),
        ({}, {"convention": {"name": "exact", "version": 2}}, "not comparable: convention exact/2, not measured/1"),
        ({}, {"graph_digest": "others"}, "not comparable: other graph file"),
    ],
)
def test_what_cannot_be_compared_says_in_what_it_differs(records, tmp_path, study, other, said):
    cells = [cell("dijkstra", 900, 8, **other), cell("mine", 1, 8, **other)]
    found = records_of(read_study(made_study(tmp_path / "mine", cells, **study)))
    (compared,) = text.compare(found, records)
    assert (compared.beats, compared.why) == (False, said)
    (setting,) = found.settings.values()
    assert f"search {setting.search}; {setting.convention}." in text.table(found)


def moved(label, expanded):
    found = cell(label, expanded, 8, graph="p7+network[factor=2]")
    found[1]["key"]["traffic"] = "network[factor=2]"
    return cell_id(found[1]["key"]), *found[1:]


def test_results_under_traffic_are_no_records(tmp_path):
    found = made(tmp_path / "both", cell("alt", 100, 8), moved("dijkstra", 900), moved("alt", 1))
    assert found.settings.keys() == {"p7"}
    assert text.reasons(found.left_out) == "- alt on p7+network[factor=2] at 8 B/v: searched under traffic"
    with pytest.raises(UsageError, match="searched under traffic"):
        made(tmp_path / "alone", moved("alt", 1))


def test_what_cannot_hold_a_record_is_listed_with_the_reason(records):
    assert text.reasons(records.left_out).splitlines() == [
        "- seer on p7 at 8 B/v: it sees the test queries",
        "- fat on p7 at 8 B/v: it is over its budget",
        "- torn on p7 at 8 B/v: wrong: not admissible",
    ]
    assert records.left_out[0].told().keys() == text.compare(records, records)[0].told().keys()


def test_totals_are_shown_where_a_heuristic_is_lazy(records, tmp_path):
    def header(table):
        return [name.strip() for name in table.splitlines()[0].strip("|").split("|")]

    shown = header(text.table(records))
    assert shown[shown.index("h_work") + 1] == "total"
    assert "| 80.0 |" in " ".join(text.table(records).split())
    assert records.best("p7", 32).told()["total"] == 80
    eager = made(tmp_path / "eager", cell("mine", 55, 32))
    assert "total" not in header(text.table(eager))
    assert "total" not in header(text.comparison_table(text.compare(eager, records)))
    assert "total" not in header(text.comparison_table(text.compare(eager, eager, "total"), "total"))
    lazy = made(tmp_path / "lazy", cell("mine", 9, 32, h_work=[3, 3]))
    shown = header(text.comparison_table(text.compare(lazy, records, "total"), "total"))
    assert {"total", "its total"} <= set(shown)
    assert text.compare(lazy, records)[0].told()["record"]["total"] == 80


def test_of_equal_records_the_one_with_fewer_bytes_and_then_the_first_is_shown(tmp_path):
    same = made(tmp_path, cell("ch", 10, 32, measured=20.0), cell("ch-core", 10, 32, measured=20.0))
    assert same.best("p7", 32).method == "ch"
    less = made(tmp_path / "less", cell("ch", 10, 32, measured=20.0), cell("ch-core", 10, 32, measured=19.0))
    assert less.best("p7", 32).method == "ch-core"


@pytest.mark.parametrize("data", [b"", b"[]", b'{"format": "aacbench.records/9"}', b'{"format": "aacbench.records/1"}'])
def test_a_file_without_records_is_refused(data):
    with pytest.raises(DataError):
        read(data, "records.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [("expanded", "12"), ("expanded", float("nan")), ("bytes", None), ("method", 3), ("budget", 10**400)],
)
def test_a_file_with_a_value_that_cannot_be_is_refused(records, tmp_path, field, value):
    path = tmp_path / "records.json"
    write(records, path)
    told = json.loads(path.read_bytes())
    told["records"][0][field] = value
    with pytest.raises(DataError, match="does not hold records"):
        read(json.dumps(told).encode(), "records.json")


def test_an_installation_without_records_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    with pytest.raises(DataError, match="install aacbench again"):
        shipped()


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([], "no method was run besides dijkstra"),
        (
            [cell("seer", 1, claims={"oracle": True})],
            r"no method can hold one \(seer on p7: it sees the test queries\)",
        ),
    ],
)
def test_a_study_without_records_says_why(tmp_path, cells, why):
    with pytest.raises(UsageError, match=f"There are no records in the study: {why}"):
        made(tmp_path, *cells)


def test_the_floor_is_below_everything_that_was_counted(tmp_path, capsys):
    assert run_study(tmp_path / "study", "alt", "--graphs", "grid-16", "--search", "modern") == 0
    found = records_of(read_study(tmp_path / "study"))
    (setting,) = found.settings.values()
    assert 1 < setting.path <= min(one.expanded for one in found.records) <= setting.dijkstra
    assert all(0 <= one.below <= one.expanded for one in found.records)


# What is shipped


def test_the_page_says_how_many_combinations_are_tried():
    tried = sum(method.name != "dijkstra" for method in read_protocol("records").methods)
    page = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")
    assert f"the {tried} combinations of method, selector and label store" in page


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
    assert "None is comparable." in capsys.readouterr().out
    assert command("records", "study") == 0
    assert "no record on this graph" in capsys.readouterr().out
    assert command("records", "--from", "study", "--write", "study") == 2
    assert command("records", "--from", "study", "--write", "mine.json") == 0
    assert read((tmp_path / "mine.json").read_bytes(), "").settings.keys() == {"p7"}


def test_damaged_and_missing_cells_are_said_and_nothing_is_written_from_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_study(tmp_path / "study", "alt,random-subset")
    *_, absent, damaged = [cell.cell_id for cell in read_study(tmp_path / "study").planned_cells()]
    folders = [tmp_path / "study" / "cells" / name[:2] / name for name in (absent, damaged)]
    shutil.rmtree(folders[0])
    capsys.readouterr()
    assert command("records", "study") == 0
    assert "1 planned cell is missing" in capsys.readouterr().err
    (folders[1] / "queries.csv").write_text("")
    for words in (("study",), ("--from", "study"), ("--from", "study", "--json")):
        assert command("records", *words) == MISMATCH
        assert f"Cell {damaged} in study/cells" in capsys.readouterr().err
    assert command("records", "--from", "study", "--write", "x.json") == 2
    assert "Nothing was written" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()
    shutil.rmtree(tmp_path / "study" / "cells")
    assert command("records", "--from", "study") == 2
    assert "0 are damaged and 4 not measured yet" in capsys.readouterr().err
