"""The latency table: medians of repetitions, percentiles of queries, the control, and no mixture of tiers."""

import pytest
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports.latency import latencies, markdown
from aacbench.run.study import planned_cells


def test_percentiles_are_of_the_medians_of_repetitions(tmp_path):
    times = [[1000, 2000, 9000], [3000, 4000, 5000], [2000, 90000, 7000]]
    (row,) = latencies(planned_cells(made_study(tmp_path, [made_cell("alt", [1, 1, 1], times=times)])))
    assert row.p50 == 4.0  # of 2, 4 and 7 microseconds
    assert row.p95 == pytest.approx(6.7)
    assert row.mean == pytest.approx(13 / 3)
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


def test_what_builds_took_stands_beside_the_times(tmp_path):
    builds = [
        {"seconds": 1.5, "pool_seconds": 3.0, "rss_before": 2**20, "peak_rss": 4 * 2**20},
        {"seconds": 2.5, "pool_seconds": 3.0, "rss_before": 2**20, "peak_rss": 3 * 2**20},
    ]
    made = [made_cell("alt", [1], seed=seed, times=[[5]], build=build) for seed, build in enumerate(builds)]
    (row,) = rows = latencies(planned_cells(made_study(tmp_path, made)))
    assert (row.build_seconds, row.pool_seconds, row.build_bytes) == (2.5, 3.0, 3 * 2**20)
    header, _, line = (line.split("|") for line in markdown(rows).splitlines()[:3])
    shown = dict(zip((name.strip() for name in header), (cell.strip() for cell in line), strict=True))
    assert (shown["build s"], shown["pool s"], shown["build MiB"]) == ("2.5", "3.0", "3")


def test_a_build_of_unknown_memory_has_none(tmp_path):
    (row,) = latencies(planned_cells(made_study(tmp_path, [made_cell("alt", [1], times=[[5]])])))
    assert row.build_bytes is None
