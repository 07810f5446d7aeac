"""The table of controls, computed again from the CSV files in plain Python, and drawn as it is printed."""

import csv
import json
import statistics
from html import escape
from pathlib import Path

import pytest
import small_studies as studies
from cli.command import command

from aacbench.library.study import open_study
from aacbench.protocols.reader import parse_protocol
from aacbench.reports import controls
from aacbench.reports.figures import figure
from aacbench.reports.tables import rows_of
from aacbench.run.driver import run_study
from aacbench.run.study import read_study
from aacbench.run.timing import time_study

PROTOCOL = """
protocol = "small"
summary = "s"
graphs = ["twoway-60", "grid-8"]
budgets = [8]
seeds = [1, 2]
[queries]
validation = 2
test = 9
[[methods]]
name = "alt"
[[methods]]
name = "random-subset"
[[variants]]
name = "charged"
factor = "symmetry"
convention = "as-declared/1"
[[variants]]
name = "fifo"
search = "tie=fifo"
[[variants]]
name = "file-order"
search = "vertex_order=file"
[[variants]]
name = "hotspot"
queries = { mode = "hotspot" }
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("controls") / "study"
    cells = run_study(parse_protocol(PROTOCOL), studies.config(root))
    time_study(studies.config(root), [name for _, name in cells], repetitions=2)
    return root


@pytest.fixture(scope="module")
def found(root):
    return controls.controls_of(read_study(root))


def raw(root: Path) -> dict[tuple[str, str, str], list[list[int]]]:
    """The expansions of the test queries by variant, graph and method, a list for each seed, read without aacbench."""
    rows = {}
    for file in sorted(root.glob("cells/*/*/cell.json")):
        key = json.loads(file.read_text())["key"]
        with (file.parent / "queries.csv").open() as table:
            counts = [int(row["expanded"]) for row in csv.DictReader(table) if row["split"] == "test"]
        rows.setdefault((key.get("variant", ""), key["graph"], key["method"]), []).append((key["seed"], counts))
    return {place: [counts for _, counts in sorted(seeds)] for place, seeds in rows.items()}


def mean(seeds):
    return sum(sum(counts) for counts in seeds) / sum(map(len, seeds))


def test_every_number_follows_from_the_rows(root, found):
    rows = raw(root)
    assert (found.a, found.b) == ("random-subset", "alt")
    seen = 0
    for line in found.lines:
        if line.factor == controls.ESTIMAND:
            continue
        reductions = {}
        for arm, method in ((line.a, found.a), (line.b, found.b)):
            now, own = rows[line.variant, line.graph, method], rows["", line.graph, method]
            reduced = 100 - 100 * mean(now) / mean(rows[line.variant, line.graph, "dijkstra"])
            before = 100 - 100 * mean(own) / mean(rows["", line.graph, "dijkstra"])
            reductions[method] = reduced
            assert arm.reduction == pytest.approx(reduced)
            assert arm.points == pytest.approx(reduced - before, abs=1e-9)
            ratio = None if line.variant == "hotspot" else pytest.approx(mean(now) / mean(own))
            assert arm.ratio == ratio
            seen += 1
        assert line.effect == pytest.approx(reductions[found.a] - reductions[found.b], abs=1e-9)
        both = [mean(rows[line.variant, line.graph, method]) for method in (found.a, found.b)]
        assert line.effect_ratio == pytest.approx(both[0] / both[1])
    assert seen == 2 * 2 * 5


def test_estimands_summarise_the_rows_of_the_study_itself(root, found):
    rows = raw(root)
    for line in found.lines:
        if line.factor != controls.ESTIMAND:
            continue
        a, (b,) = rows["", line.graph, found.a], rows["", line.graph, found.b]
        if line.variant == "median_ratio":
            expected = statistics.median(count for counts in a for count in counts) / statistics.median(b)
        else:
            expected = statistics.geometric_mean(
                one / other for counts in a for one, other in zip(counts, b, strict=True)
            )
        assert line.effect_ratio == pytest.approx(expected)
    assert [line.variant for line in found.lines if line.factor == controls.ESTIMAND] == [*controls.RATIOS] * 2


def test_counts_are_called_equal_only_where_every_query_is(root, found):
    told = {(line.graph, line.variant): line.counts for line in found.lines}
    assert told["twoway-60", "file-order"] == told["grid-8", "file-order"] == controls.EQUAL
    assert told["grid-8", "charged"] == controls.EQUAL  # declared as its arcs are
    assert told["twoway-60", "charged"] == told["twoway-60", "fifo"] == ""
    assert told["grid-8", "hotspot"] == controls.OTHER_QUERIES
    rows = raw(root)
    assert rows["fifo", "twoway-60", "alt"] != rows["", "twoway-60", "alt"]


def test_times_are_of_searches_in_turns_and_never_across_other_queries(found):
    for line in found.lines:
        timed = line.factor != controls.ESTIMAND
        assert (line.effect_time is not None) == timed
        assert (line.a.time is not None) == (timed and line.variant != "hotspot")


def test_the_figure_shows_the_points_of_the_table(root, found):
    drawn = figure("controls", read_study(root))
    lines = [line for line in found.lines if line.factor != controls.ESTIMAND and line.variant]
    for axes, graph in zip(drawn.axes, ("twoway-60", "grid-8"), strict=True):
        here = [line for line in lines if line.graph == graph]
        plotted = {line.get_label(): line.get_xdata() for line in axes.lines}
        assert list(plotted["alt"]) == [line.b.points for line in here]
        assert list(plotted["random-subset"]) == [line.a.points for line in here]
        (band,) = axes.patches
        effect = next(line.effect for line in found.lines if line.graph == graph)
        assert band.get_x() + band.get_width() == pytest.approx(abs(effect))
    names = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert names == ["symmetry: charged", "fifo", "file-order", "hotspot"]


def test_markdown_csv_and_latex_have_every_line(found):
    text = controls.markdown(found)
    assert text.count("| twoway-60") == text.count("| grid-8") == 7
    assert "twoway-60 at 8 B/v: random-subset - alt is" in text
    table = list(csv.DictReader(controls.csv_text(found).splitlines()))
    assert [float(row["effect"]) for row in table if row["effect"]] == [
        line.effect for line in found.lines if line.effect is not None
    ]
    assert controls.latex(found).count(r"twoway-60") == 7


def test_run_report_and_page_show_the_table(root, found, capsys, tmp_path):
    assert command("report", root, "--by", "variant") == 0
    assert capsys.readouterr().out.rstrip("\n") == controls.markdown(found)
    assert command("report", root, "--by", "variant", "--json") == 0
    lines = json.loads(capsys.readouterr().out)["controls"]["lines"]
    assert [line["effect"] for line in lines] == [line.effect for line in found.lines]
    assert command("report", root, "--out", tmp_path / "out") == 0
    assert controls.markdown(found) in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    section = page.partition('<section id="controls">')[2].partition("</section>")[0]
    assert section.count("<tr>") == 1 + len(found.lines)
    assert "<img" in section
    assert all(escape(sentence) in section for sentence in controls.sentences(found))
    assert (tmp_path / "out" / "figures" / "controls.svg").is_file()
    assert "symmetry" in (tmp_path / "out" / "tables.tex").read_text()


def test_statistics_and_other_tables_are_of_the_study_without_variants(root, capsys):
    assert command("stats", root, "--json") == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert len(cells) == 2
    rows = rows_of(read_study(root).planned_cells())
    assert len(rows) == 5 * 2 * 3
    assert {row.variant for row in rows} == {"", "charged", "fifo", "file-order", "hotspot"}
    (one,) = [row for row in rows if (row.variant, row.graph, row.method) == ("hotspot", "grid-8", "alt")]
    (line,) = [line for line in found_lines(root) if (line.variant, line.graph) == ("hotspot", "grid-8")]
    assert one.reduction == pytest.approx(line.b.reduction)


def test_tables_in_python_and_lists_of_cells_tell_variants_apart(root, capsys):
    cells = open_study(root).cells
    for line in found_lines(root):
        if line.factor != controls.ESTIMAND:
            here = cells[(cells.variant == line.variant) & (cells.graph == line.graph) & (cells.method == "alt")]
            assert here.reduction.tolist() == [pytest.approx(line.b.reduction)]
    assert set(open_study(root).queries.variant) == set(cells.variant)
    assert command("status", root, "--cells") == 0
    assert capsys.readouterr().out.count(" file-order") == (cells.variant == "file-order").sum()


def found_lines(root):
    return controls.controls_of(read_study(root)).lines


def test_a_study_without_variants_has_no_controls(tmp_path):
    run_study(studies.study("alt"), studies.config(tmp_path / "study"))
    assert controls.controls_of(read_study(tmp_path / "study")) is None
