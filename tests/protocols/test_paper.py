"""The paper as data: everything is there, names lead somewhere, and a wrong file is named."""

import re
from decimal import Decimal
from importlib import resources

import pytest

from aacbench.errors import DataError
from aacbench.protocols.paper import read_paper, replays
from aacbench.protocols.paper.reader import CLAIMS, RUNS, SCHEMAS, TABLES, parse_paper
from aacbench.reports.paper.data import missing_data

PAPER = read_paper()


def texts(**changes):
    folder = resources.files("aacbench.protocols.paper")
    return {name: changes.get(name, (folder / name).read_text(encoding="utf-8")) for name in SCHEMAS}


def changed(file, old, new):
    text = texts()[file]
    assert old in text
    return {**texts(), file: text.replace(old, new, 1)}


def test_every_exhibit_value_and_claim_is_there():
    assert len(PAPER.exhibits) == 34
    assert sum(len(exhibit.values) for exhibit in PAPER.exhibits.values()) == 832
    assert len(PAPER.claims) == 104


def test_printed_digits_are_kept():
    row = {"graph": "sbm-10k", "method": "alt", "budget_bytes": 32}
    values = [value for value in PAPER.exhibit("tab:matched-hybrid").values if row.items() <= value.row.items()]
    assert [value.text() for value in values] == ["89.95 +- 0.00"]
    nodes = next(value for value in PAPER.exhibit("fig:pareto").values if value.row["graph"] == "dimacs:FLA")
    assert (nodes.text(), nodes.unit_in_last_place) == ("1.07M", Decimal(10_000))


@pytest.mark.parametrize("label", PAPER.exhibits)
def test_every_run_of_an_exhibit_is_a_protocol(label):
    for replay in replays(PAPER, label):
        study = replay.study()
        assert study.graphs == (replay.graph,)
        modern = replay.study("file:other.gr").graphs, study.search
        assert modern == (("file:other.gr",), "paper")


def test_a_modern_replay_changes_search_and_convention_only():
    (one, *_), (other, *_) = replays(PAPER, "tab:valsplit"), replays(PAPER, "tab:valsplit", modern=True)
    changes = {key for key, value in one.study().record().items() if other.study().record()[key] != value}
    assert changes == {"search", "convention"}


def test_no_two_replays_share_a_folder(tmp_path):
    every = {label: list(replays(PAPER, label)) for label in PAPER.exhibits}
    folders = {}
    for replay in (replay for found in every.values() for replay in found):
        assert folders.setdefault(replay.folder(tmp_path), replay.study()) == replay.study()


def test_where_each_seed_draws_its_queries_each_is_a_study():
    found = [replay for replay in replays(PAPER, "tab:query-distribution") if replay.graph == "dimacs:NY"]
    assert [replay.study().queries.seed for replay in found[:5]] == [42, 123, 456, 789, 1024]
    assert [replay.study().seeds for replay in found[:5]] == [(42,), (123,), (456,), (789,), (1024,)]


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (TABLES, "aacbench.paper-tables/1", "aacbench.paper-tables/2", "schema must be"),
        (TABLES, 'column = "temperature"', 'colum = "temperature"', "unknown key 'colum'"),
        (TABLES, 'graphs = ["p7"]', 'graphs = ["p8"]', "fig:toy-p7: graph 'p8' is unknown"),
        (RUNS, '"fig:pareto" =', '"fig:paretto" =', "valsplit: exhibit 'fig:paretto' is unknown"),
        (RUNS, "seed_draws = true", "seeds_draw = true", "unknown key 'seeds_draw'"),
        (CLAIMS, '"tab:matched-hybrid"]', '"tab:matched"]', "exhibit 'tab:matched' is unknown"),
        (CLAIMS, 'rule = "ratio"', 'rule = "ration"', "rule 'ration' is unknown"),
    ],
)
def test_a_wrong_entry_is_named(file, old, new, told):
    with pytest.raises(DataError, match=re.escape(told)):
        parse_paper(changed(file, old, new))


def test_missing_data_says_which_file_and_where(monkeypatch, tmp_path):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    assert missing_data("p7") == missing_data("sbm-10k") == ""
    assert f"put it at {tmp_path / 'osmnx/modena.graphml'}" in missing_data("osmnx:modena")
    assert "`aacbench graphs show dimacs:COL` downloads it" in missing_data("dimacs:COL")
    (tmp_path / "osmnx").mkdir()
    (tmp_path / "osmnx" / "modena.graphml").touch()
    assert missing_data("osmnx:modena") == ""
