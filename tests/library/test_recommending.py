"""Which method is recommended: the fastest, of those as fast the one that does least, and only what can be deployed."""

import json

import pytest
from cli.command import JUDGED, command
from made_studies import made_cell, made_study

from aacbench.library.recommending import ranking
from aacbench.run.study import planned_cells


def ranked(root, *cells):
    base = made_cell("dijkstra", [900, 900], times=[[90000, 90000]] * 2)
    return ranking(root, planned_cells(made_study(root, [base, *cells])), 32, 0)


def timed(label, expanded, microseconds, **more):
    return made_cell(label, [expanded] * 2, times=[[1000 * microseconds] * 2] * 2, **more)


def methods(found):
    return [row.method for row in found.ranked]


def test_the_fastest_is_first(tmp_path):
    found = ranked(tmp_path, timed("alt", 10, 30), timed("mine", 20, 20))
    assert methods(found) == ["mine", "alt"]
    assert found.sentence().startswith(
        "Use mine on p7 at 32 B/v: 32.0 B/v, 20 expansions per query (dijkstra: 900), p50 20"
    )
    assert "as fast" not in found.sentence()


def test_within_the_noise_the_least_work_decides(tmp_path):
    noisy = [[30000] * 2, [36000] * 2]
    found = ranked(
        tmp_path,
        timed("alt", 50, 30, control=noisy),
        timed("mine", 40, 33),
        timed("lazy", 5, 31, h_work=[60, 60]),
        timed("slow", 1, 60),
    )
    assert methods(found) == ["mine", "alt", "lazy", "slow"]
    assert found.sentence().endswith("as fast: alt, lazy.")


def test_what_was_not_timed_comes_last(tmp_path):
    found = ranked(tmp_path, made_cell("python", [1, 1]), timed("alt", 50, 30))
    assert methods(found) == ["alt", "python"]


def test_what_cannot_be_deployed_is_listed_with_the_reason(tmp_path):
    found = ranked(
        tmp_path,
        timed("alt", 50, 30),
        timed("seer", 1, 1, claims={"oracle": True}),
        timed("fat", 1, 1, claims={"matched": False}, measured=99.0),
        timed("sloppy", 1, 1, claims={"admissible": False}),
        made_cell("torn", [1, 1], outcome="wrong", reason="not admissible"),
    )
    assert methods(found) == ["alt"]
    reasons = dict(found.left_out)
    assert reasons.keys() == {"seer", "fat", "sloppy", "torn"}
    assert reasons["torn"] == "wrong: not admissible"
    assert "- seer: it sees the test queries" in found.text()


def test_dijkstra_is_named_where_it_is_faster(tmp_path):
    assert "Dijkstra is faster here" in ranked(tmp_path, timed("alt", 50, 95)).sentence()


def test_nothing_fits(tmp_path):
    found = ranked(tmp_path, made_cell("alt", [1, 1], outcome="unsupported", reason="no landmark fits"))
    assert found.best is None
    told = "No method can be deployed on p7 at 32 B/v; the reasons are below.\n\n- alt: unsupported: no landmark fits"
    assert found.text().endswith(told)


def test_dijkstra_alone_is_no_candidate(tmp_path):
    assert ranked(tmp_path).sentence().startswith("There is no candidate on p7 at 32 B/v: only dijkstra was asked for.")


def test_totals_are_shown_where_a_heuristic_is_lazy(tmp_path):
    lazy = ranked(tmp_path / "lazy", timed("lazy", 5, 31, h_work=[60, 60]), timed("alt", 50, 30))
    assert "| h_work | total |" in " ".join(lazy.text().split())
    assert "| 60.0 | 65.0 |" in " ".join(lazy.text().split())
    assert {row["method"]: row["total"] for row in lazy.record()["candidates"]} == {"lazy": 65, "alt": 50}
    assert "total |" not in ranked(tmp_path / "eager", timed("alt", 50, 30)).text()


def test_the_command_prints_json_and_the_cell_to_export(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ("recommend", "p7", "--budget", 8, "--methods", "alt,too-high", "--plugin", JUDGED, "--workers", 1)
    assert command(*words, "--queries", "3/5", "--repetitions", 1, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recommended"].startswith("alt")  # which the protocol has with several selectors
    assert {each["method"] for each in told["left_out"]} == {"too-high", "alt[labels=u6]"}  # no room for its levels
    program, *export = told["export"].replace("FOLDER", "exported").split()
    assert program == "aacbench"
    assert command(*export) == 0
    assert (tmp_path / "exported" / "bundle.json").is_file()


def test_a_budget_must_be_positive(capsys):
    assert command("recommend", "p7", "--budget", 0) == 2


@pytest.mark.parametrize("words", [("recommend",), ("recommend", "no-such-graph", "--methods", "alt")])
def test_bad_words_are_refused(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(*words) == 2
