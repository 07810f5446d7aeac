"""`aacbench stats`: what it prints for people and scripts, and what its exit codes tell."""

import json

import pytest
from cli.command import command
from made_studies import made_cell, made_study

from aacbench.run.layout import cell_folder

CERTAIN = {"deterministic": True}
ALT, OTHER = [12, 30, 7, 55, 21, 40], [15, 33, 9, 50, 30, 44]


def cells(*more, **other):
    return [
        made_cell("dijkstra", [10 * count for count in ALT], claims=CERTAIN),
        made_cell("alt", ALT, claims=CERTAIN),
        *(made_cell("aac", [count + seed for count in OTHER], seed=seed, **other) for seed in (1, 2, 3)),
        *more,
    ]


def test_a_table_and_sentences(tmp_path, capsys):
    assert command("stats", made_study(tmp_path, cells())) == 0
    out = capsys.readouterr().out
    assert out.startswith("A is alt, B is aac; test queries, paired. reduction_of_means_pp")
    assert "On p7 at 32 B/v, alt reduces expansions by" in out.splitlines()[-1]


def test_json_for_scripts(tmp_path, capsys):
    root = made_study(tmp_path, cells(), analysis="paper/1")
    words = ("--a", "aac", "--b", "alt", "--estimand", "ratio_of_means", "--json")
    assert command("stats", root, *words) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["a"], facts["b"], facts["estimand"]["name"]) == ("aac", "alt", "ratio_of_means")
    assert (facts["profile"]["name"], facts["profile"]["version"]) == ("paper", 1)
    (cell,) = facts["cells"]
    assert cell["effect"]["margin"] is None
    assert [found["name"] for found in cell["tests"]["combined"]] == ["fisher", "stouffer-absz"]


@pytest.mark.parametrize(("outcome", "code"), [("error", 1), ("timeout", 1), ("wrong", 3), ("unsupported", 0)])
def test_exit_codes_tell_how_the_cells_ended(tmp_path, capsys, outcome, code):
    broken = made_cell("aac", OTHER, seed=4, outcome=outcome, reason="so it is")
    assert command("stats", made_study(tmp_path, cells(broken))) == code
    assert ("seed 4, is" in capsys.readouterr().out) == (code != 0)


def test_a_failed_baseline_counts_where_the_estimand_needs_it(tmp_path, capsys):
    broken = made_cell("dijkstra", [], outcome="timeout", reason="too slow")
    root = made_study(tmp_path, [broken, *cells()[1:]])
    assert command("stats", root) == 1
    assert "Left out: dijkstra on p7 at 32 B/v, seed 1, is timeout: too slow" in capsys.readouterr().out
    assert command("stats", root, "--estimand", "ratio_of_means") == 0
    assert "Left out" not in capsys.readouterr().out


def test_damage_and_missing_cells_are_told(tmp_path, capsys):
    made = cells()
    root = made_study(tmp_path, made)
    damaged = cell_folder(root, made[-1][0]) / "queries.csv"
    damaged.write_bytes(damaged.read_bytes().replace(b"ok", b"no", 1))
    assert command("stats", root) == 4
    assert made[-1][0] in capsys.readouterr().err
    for file in damaged.parent.iterdir():
        file.unlink()
    damaged.parent.rmdir()
    assert command("stats", root) == 1
    assert "1 planned cell is missing; run the study again." in capsys.readouterr().err


def test_nothing_to_compare_is_exit_code_5(tmp_path, capsys):
    assert command("stats", made_study(tmp_path, cells(measured=9.0))) == 5
    assert "Not compared: p7 with a budget of 32 B/v" in capsys.readouterr().out


def test_what_makes_no_sense_is_one_sentence(tmp_path, capsys):
    root = made_study(tmp_path, cells())
    for words, said in (
        (("--a", "alt"), "Choose two methods with --a and --b"),
        (("--profile", "crossed/7"), "Known are paper/1, crossed/1"),
        (("--estimand", "mean"), "Unknown estimand 'mean'"),
    ):
        assert command("stats", root, *words) == 2
        assert said in capsys.readouterr().err
