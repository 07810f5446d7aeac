"""Reduction along training: the plotted values are those of the results table, epoch by epoch."""

import pytest
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports.figures import drift, figure
from aacbench.reports.tables import rows_of
from aacbench.run.study import read_study

EXPANDED = {(0, 1): [50, 30], (0, 2): [40, 20], (50, 1): [60, 30], (50, 2): [50, 30], (200, 1): [70, 40]}


def trained(epoch, seed, counts, label="aac[K0=32,epochs={}]", **more):
    facts = {"build": {"seconds": 1.0, "pool_seconds": 0.0, "facts": {"epoch": epoch, "rows": 4}}}
    return made_cell(label.format(epoch), counts, seed=seed, claims={"deterministic": False}, **facts, **more)


@pytest.fixture
def contents(tmp_path):
    cells = [made_cell("dijkstra", [100, 100]), made_cell("alt", [40, 40])]
    cells += [trained(epoch, seed, counts) for (epoch, seed), counts in EXPANDED.items()]
    return read_study(made_study(tmp_path, cells))


def test_the_plotted_values_are_those_of_the_table(contents):
    axes = figure("drift", contents).axes[0]
    (series,) = axes.containers
    assert series.get_label().startswith("aac[K0=32], ")
    table = {row.method: row.reduction for row in rows_of(contents.planned_cells())}
    assert series.lines[0].get_xydata().tolist() == [
        [epoch, pytest.approx(table[f"aac[K0=32,epochs={epoch}]"])] for epoch in (0, 50, 200)
    ]
    bars = [segment[:, 1].tolist() for segment in series.lines[2][0].get_segments()]
    assert bars == [pytest.approx(ends) for ends in ([60, 70], [55, 60], [45, 45])]
    assert [
        line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1 and line not in series.lines
    ] == [pytest.approx(table["alt"])]


def test_budgets_and_settings_are_series_of_their_own(tmp_path):
    cells = [made_cell("dijkstra", [100])]
    for epoch in (0, 10):
        cells += [trained(epoch, 1, [20 + epoch]), trained(epoch, 1, [10 + epoch], budget=99)]
        cells += [trained(epoch, 1, [30 + epoch], label="aac[checkpoints={},lr=0.1]")]
    found = drift.points(read_study(made_study(tmp_path, cells)).planned_cells())
    assert {(point.method, point.budget, point.epoch): point.mean for point in found if point.epoch == 10} == {
        ("aac[K0=32]", 32, 10): pytest.approx(70),
        ("aac[K0=32]", 99, 10): pytest.approx(80),
        ("aac[lr=0.1]", 32, 10): pytest.approx(60),
    }


def test_a_study_without_several_epochs_has_nothing_to_draw(tmp_path):
    cells = [made_cell("dijkstra", [100]), trained(200, 1, [20])]
    with pytest.raises(UsageError, match="at several epochs"):
        figure("drift", read_study(made_study(tmp_path, cells)))
