"""The latency table: medians of repetitions, percentiles of queries, the control, and no mixture of tiers."""

import pytest
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports.cells import planned_cells
from aacbench.reports.latency import latencies, markdown


def test_percentiles_are_of_the_medians_of_repetitions(tmp_path):
    times = [[1000, 2000, 9000], [3000, 4000, 5000], [2000, 90000, 7000]]
    (row,) = latencies(planned_cells(made_study(tmp_path, [made_cell("alt", [1, 1, 1], times=times)])))
    assert row.p50 == 4.0  # of 2, 4 and 7 microseconds
    assert row.p95 == pytest.approx(6.7)
    assert (row.repetitions, row.control_ratio) == (3, None)


def test_the_control_belongs_to_its_group_and_its_spread_is_the_worst_repetition(tmp_path):
    one, other = [[100, 100], [100, 100]], [[100, 100], [80, 80]]
    cells = [
        made_cell("alt", [1, 1], times=one, control=other),
        made_cell("rival", [1, 1], times=one),
        made_cell("alt", [1, 1], budget=64, times=one, control=one),
    ]
    rows = latencies(planned_cells(made_study(tmp_path, cells)))
    assert [row.control_ratio for row in rows] == [0.9, 0.9, 1.0]
    assert [row.control_spread for row in rows] == pytest.approx([0.25, 0.25, 0.0])
    assert "25.0 %" in markdown(rows)
    assert "mean nothing" in markdown(rows)


def test_tiers_do_not_mix(tmp_path):
    cells = [made_cell("alt", [1], times=[[5]]), made_cell("slow", [1], times=[[5]], tier="scalar")]
    with pytest.raises(UsageError, match="compiled and scalar"):
        latencies(planned_cells(made_study(tmp_path, cells)))


def test_what_was_not_timed_is_not_there(tmp_path):
    assert latencies(planned_cells(made_study(tmp_path, [made_cell("alt", [1])]))) == []
