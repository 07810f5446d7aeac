"""The page of a comparison: what it says of expansions and of memory, and that its figure shows the table."""

import pytest
from made_studies import made_cell, made_study

from aacbench.cli.main import main
from aacbench.reports import comparison
from aacbench.reports.comparison import Side
from aacbench.reports.comparison_page import Compared, drawings, html
from aacbench.run.study import read_study

ALERT = "<script>alert(1)</script>"


def compared(roots, methods, names=None):
    contents = [read_study(root) for root in roots]
    a, b = (
        Side(name, root, name, found.planned_cells())
        for name, root, found in zip(methods, roots, contents, strict=True)
    )
    return Compared(
        a=a,
        b=b,
        names=names or methods,
        contents=tuple(contents),
        rows=comparison.compare(a, b),
        differing=comparison.differences(a, b),
        command="aacbench compare",
    )


@pytest.fixture
def study(tmp_path):
    cells = [made_cell("dijkstra", [100, 200, 300])]
    for budget, factor in ((32, 1), (64, 2)):
        cells.append(made_cell("alt", [10, 20, 30], budget=budget))
        cells.append(made_cell(ALERT, [5 * factor, 10 * factor, 60], budget=budget, measured=budget * 1.001))
        cells.append(made_cell("large", [5, 10, 15], budget=budget, measured=2.0 * budget))
        cells.append(
            made_cell(
                "says",
                [5, 10, 15],
                budget=budget,
                bytes={"nominal_per_vertex": 1, "measured_per_vertex": 1.0, "measured": False},
            )
        )
    return made_study(tmp_path / "study", cells)


def test_the_result_and_the_memory_are_said_first(study):
    page = html(compared((study, study), ("alt", ALERT)))
    assert "are lower in 2 of 2 cases, each a graph at a budget; their ratio is from 0.667 to 0.8." in page
    assert "Memory is matched: measured bytes differ by at most 0.1 %." in page
    assert ALERT not in page


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("large", "Memory is not matched: 32.0 B/v for A and 64.0 for B on p7 with a budget of 32"),
        ("says", "says self-reports memory, so it cannot be called matched."),
        ("dijkstra", "dijkstra stores no labels, so memory is not matched by design."),
    ],
)
def test_unlike_memory_is_said(study, method, said):
    assert said in html(compared((study, study), ("alt", method)))


def test_the_figures_show_the_numbers_of_the_table(study):
    found = compared((study, study), ("alt", "large"))
    ratios, *queries = drawings(found)
    of_means, geometric = (line.get_xdata() for line in ratios.figure.axes[0].lines[:2])
    assert list(of_means) == [row.ratio_of_means for row in found.rows]
    assert list(geometric) == [row.geometric_mean_ratio for row in found.rows]
    assert len(queries) == 2
    upper, lower = queries[0].figure.axes
    assert upper.lines[0].get_xydata().tolist() == [[100, 10], [200, 20], [300, 30]]
    assert lower.lines[0].get_ydata().tolist() == [2, 2, 2]
    assert "measured/1" in ratios.figure.get_supxlabel()


def test_two_studies_have_two_provenances(study, tmp_path):
    other = made_study(tmp_path / "other", [made_cell("alt", [10, 10, 30]), made_cell("dijkstra", [1, 2, 3])])
    page = html(compared((study, other), ("alt", "alt"), ("alt in one", "alt in two")))
    assert f"<h3>{study}</h3>" in page
    assert f"<h3>{other}</h3>" in page
    assert "On p7 at 32 B/v, alt in one expands 1.2 times as many vertices per query as alt in two" in page


def test_sides_without_a_common_answer_have_a_page_too(tmp_path):
    cells = [made_cell("alt", [10, 20]), made_cell("b", [10, 20], outcome="error", reason="no")]
    study = made_study(tmp_path / "study", cells)
    page = html(compared((study, study), ("alt", "b")))
    assert "alt and b answered no test query in common." in page
    assert "Memory is matched" not in page
    assert "Not all cells are ok: 1 of their cells failed or are wrong." in page


def test_the_command_writes_the_page_unless_json_is_asked_for(study, tmp_path, capsys):
    for more, count in ((["--json"], 0), ([], 1)):
        with pytest.raises(SystemExit) as ended:
            main(["compare", "alt", "large", "--study", str(study), *more])
        assert not ended.value.code
        assert len(list((study / "derived").glob("compare-alt-large.html"))) == count
    assert "Also in" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", "alt", "large", "--study", str(study), "--json", "--out", str(tmp_path / "out")])
    assert (tmp_path / "out" / "compare-alt-large.html").exists()
