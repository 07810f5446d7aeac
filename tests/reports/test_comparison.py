"""Comparisons are paired, leave out what one side could not answer, and say how much that was."""

from dataclasses import replace

import numpy as np
import pytest
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports.comparison import Side, compare, differences, markdown
from aacbench.run.study import planned_cells


def sides(root, a, b):
    return tuple(Side(name, root, name, planned_cells(root)) for name in (a, b))


def test_every_number_by_hand(tmp_path):
    cells = [made_cell("a", [2, 8, 5, 9], measured=30.0), made_cell("b", [8, 2, 5, 1], unreachable=(3,))]
    (row,) = compare(*sides(made_study(tmp_path, cells), "a", "b"))
    assert (row.queries, row.pairs, row.left_out) == (3, 3, 1)
    assert (row.mean_a, row.mean_b, row.ratio_of_means) == (5, 5, 1)
    assert row.geometric_mean_ratio == pytest.approx(1)
    assert (row.won, row.lost, row.tied) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (row.bytes_a, row.bytes_b) == (30, 32)
    assert row.mean_of_minimum == 3  # of 2, 2 and 5: what no single search does
    assert row.matched
    assert "-2.0" in markdown([row], "a", "b")
    assert "by design" not in markdown([row], "a", "b")
    assert "deploys more bytes than its budget, by design" in markdown([replace(row, matched=False)], "a", "b")


def test_work_is_compared_with_the_expansions_where_there_is_any(tmp_path):
    cells = [made_cell("a", [2, 8, 5], h_work=[3, 3, 9], unreachable=(2,)), made_cell("b", [10, 6, 4])]
    cells += [made_cell("c", [1], budget=64), made_cell("a", [4], budget=64, outcome="wrong")]
    root = made_study(tmp_path, cells)
    (row,) = compare(*sides(root, "a", "b"))
    assert (row.work_a, row.work_b, row.ratio_of_totals) == (3, 0, 1)
    assert "h_work A" in markdown([row], "a", "b")
    assert "h_work" not in markdown(compare(*sides(root, "c", "a")), "c", "a")


def test_the_geometric_mean_weighs_queries_alike(tmp_path):
    cells = [made_cell("a", [1, 100]), made_cell("b", [4, 100])]
    (row,) = compare(*sides(made_study(tmp_path, cells), "a", "b"))
    assert row.geometric_mean_ratio == pytest.approx(0.5)
    assert row.ratio_of_means == pytest.approx(101 / 104)


def test_seeds_are_paired_and_one_seed_meets_all(tmp_path):
    cells = [
        made_cell("one", [6]),
        *(made_cell("a", [value], seed=seed) for seed, value in ((1, 1), (2, 10))),
        *(made_cell("b", [value], seed=seed) for seed, value in ((2, 10), (1, 1))),
    ]
    root = made_study(tmp_path, cells)
    (paired,) = compare(*sides(root, "a", "b"))
    assert (paired.queries, paired.pairs, paired.tied) == (1, 2, 1)
    (met,) = compare(*sides(root, "one", "b"))
    assert (met.queries, met.pairs, met.won, met.lost) == (1, 2, 0.5, 0.5)
    header, _, line = [line for line in markdown([met], "one", "b").splitlines() if line.startswith("|")]
    shown = dict(zip(header.replace(" ", "").split("|"), line.replace(" ", "").split("|"), strict=True))
    assert (shown["queries"], shown["pairs"]) == ("1", "2")


def test_without_a_common_seed_nothing_is_compared(tmp_path):
    cells = [made_cell(name, [6], seed=seed) for name, seeds in (("a", (1, 2)), ("b", (3, 4))) for seed in seeds]
    (row,) = compare(*sides(made_study(tmp_path, cells), "a", "b"))
    assert row.queries == 0
    assert np.isnan(row.ratio_of_means)


def test_dijkstra_stands_for_every_budget(tmp_path):
    cells = [made_cell("dijkstra", [9], measured=0.0), made_cell("alt", [3]), made_cell("alt", [1], budget=64)]
    rows = compare(*sides(made_study(tmp_path, cells), "alt", "dijkstra"))
    assert [(row.budget, row.mean_a, row.mean_b) for row in rows] == [(32, 3, 9), (64, 1, 9)]
    assert "Memory is not matched" not in markdown(rows, "alt", "dijkstra")


def test_unlike_memory_is_told_with_both_figures(tmp_path):
    cells = [made_cell("a", [2], measured=16.0), made_cell("b", [8]), made_cell("c", [8], measured=31.0)]
    root = made_study(tmp_path, cells)
    told = "\n\nMemory is not matched: 16.0 B/v for A and 32.0 for B on p7 with a budget of 32."
    assert told in markdown(compare(*sides(root, "a", "b")), "a", "b")
    assert "Memory is not matched" not in markdown(compare(*sides(root, "c", "b")), "c", "b")


def test_a_failed_cell_leaves_all_its_queries_out(tmp_path):
    cells = [made_cell("a", [2, 8]), made_cell("b", [8, 2], outcome="wrong")]
    (row,) = compare(*sides(made_study(tmp_path, cells), "a", "b"))
    assert (row.queries, row.left_out) == (0, 2)


def test_what_else_differs_is_said(tmp_path):
    made_study(tmp_path / "x", [made_cell("alt", [1])])
    made_study(tmp_path / "y", [made_cell("alt", [2], convention={"name": "directionality-aware", "version": 1})])
    pair = [Side(name, tmp_path / name, "alt", planned_cells(tmp_path / name)) for name in "xy"]
    apart = differences(*pair)
    assert apart == {"convention": ("measured/1", "directionality-aware/1")}
    said = "Not the same for both: convention, measured/1 for A and directionality-aware/1 for B."
    assert said in markdown(compare(*pair), "x", "y", apart)
    assert differences(pair[0], pair[0]) == {}


def test_two_studies_of_different_graphs_are_refused(tmp_path):
    made_study(tmp_path / "x", [made_cell("alt", [1])])
    made_study(tmp_path / "y", [made_cell("alt", [1], graph_digest="other")])
    with pytest.raises(UsageError, match="different graphs"):
        compare(*(Side(name, tmp_path / name, "alt", planned_cells(tmp_path / name)) for name in "xy"))


def test_unknown_methods_and_nothing_in_common_are_refused(tmp_path):
    root = made_study(tmp_path, [made_cell("a", [1]), made_cell("b", [1], budget=64)])
    with pytest.raises(UsageError, match="Its methods are: a, b"):
        compare(*sides(root, "a", "c"))
    with pytest.raises(UsageError, match="no graph and budget in common"):
        compare(*sides(root, "a", "b"))


def test_without_a_common_answer_there_is_no_number(tmp_path):
    cells = [made_cell("alt", [10, 20]), made_cell("b", [10, 20], outcome="error", reason="no")]
    text = markdown(compare(*sides(made_study(tmp_path, cells), "alt", "b")), "alt", "b")
    assert "nan" not in text
    assert "A and B answered no test query in common on p7 at 32 B/v." in text
