"""Figures show the numbers of the tables: what is plotted is read back from the figure."""

import re
from pathlib import Path

import numpy as np
import pytest
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports import figures, latency, statistics
from aacbench.reports.figures import Choices, Subject, amortised, forest, pareto, profile, style
from aacbench.reports.figures.ratios import Ratio
from aacbench.reports.figures.ratios import draw as draw_ratios
from aacbench.reports.tables import rows_of
from aacbench.run.layout import cell_id
from aacbench.run.study import read_study
from aacbench.stats import ESTIMANDS, ForestRow

RANDOM = {"deterministic": False}


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Two methods with two seeds at two budgets on two graphs, timed, an oracle, and one that failed."""
    rng = np.random.default_rng(7)
    cells = []
    for graph in ("g1", "g2"):
        base = rng.integers(200, 4000, 12)
        free = {"build": {"seconds": 0.0, "pool_seconds": 0.0}, "times": [(900 * base).tolist()]}
        cells.append(made_cell("dijkstra", base.tolist(), graph=graph, budget=8, **free))
        for budget in (8, 16):
            for label, factor in (("alt", 0.2), ("mine", 0.15), ("seer", 0.01)):
                for seed in (1, 2):
                    counts = np.maximum(1, base * factor * rng.uniform(0.5, 1.5, 12) * 8 / budget).astype(int)
                    more = {"claims": {**RANDOM, "oracle": label == "seer"}, "times": [(900 * counts).tolist()]}
                    cells.append(
                        made_cell(
                            label, counts.tolist(), graph=graph, budget=budget, seed=seed, policy="modern", **more
                        )
                    )
        cells.append(made_cell("broken", [1] * 12, graph=graph, budget=8, outcome="error", reason="no"))
    return read_study(made_study(tmp_path_factory.mktemp("figures"), cells, seeds=[1, 2]))


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_expansions_against_bytes_are_those_of_the_table(contents):
    axes = figures.figure("pareto", contents, graph="g2").axes[0]
    rows = [row for row in rows_of(contents.planned_cells()) if row.graph == "g2" and row.outcome == "ok"]
    drawn = {container.get_label(): container.lines[0].get_xydata().tolist() for container in axes.containers}
    assert drawn.keys() == {"alt", "mine", "seer (oracle)"}
    for label, points in drawn.items():
        method = label.removesuffix(" (oracle)")
        assert points == [[row.measured, row.test] for row in rows if row.method == method]


def test_the_bars_span_the_seeds_and_an_oracle_is_not_on_the_envelope(contents):
    found = [point for point in pareto.points(contents.planned_cells()) if point.graph == "g1"]
    front = pareto.envelope(found)
    assert {point.method for point in front} == {"mine"}
    axes = pareto.draw(found, "").axes[0]
    *drawn, end = lines(axes)["lower envelope"].get_xydata().tolist()
    assert drawn == [[each.measured, each.mean] for each in front]
    assert end == [max(point.measured for point in found), front[-1].mean]  # so that a single point is seen too
    bars = axes.containers[0].lines[2][0].get_segments()
    assert [segment[:, 1].tolist() for segment in bars] == [
        pytest.approx([point.lowest, point.highest]) for point in found if point.method == "alt"
    ]
    assert all(point.lowest < point.mean < point.highest for point in found)


def test_the_work_of_a_lazy_heuristic_is_drawn_above_it(tmp_path):
    kept = {"h_work": [30] * 12}
    cells = [made_cell("lazy", [8] * 12, budget=8, **kept), made_cell("alt", [60] * 12, budget=8)]
    axes = figures.figure("pareto", read_study(made_study(tmp_path, cells))).axes[0]
    assert lines(axes)["_lazy, with h_work"].get_ydata().tolist() == [38]
    assert "_alt, with h_work" not in lines(axes)


def test_the_forest_shows_estimates_intervals_and_seeds_of_the_statistics(contents):
    table = statistics.analyse(contents, "mine", "alt", None, None)
    axes = figures.figure("forest", contents, a="mine", b="alt").axes[0]
    data = [line.get_xydata().tolist() for line in axes.lines]
    for at, cell in enumerate(table.cells):
        effect = cell.effect
        assert [[effect.estimate, at]] in data
        assert [[end, at] for end in effect.interval95] in data
        assert [[end, at] for end in effect.interval90] in data
        assert any([x for x, _ in points] == list(effect.per_seed) for points in data)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [f"{cell.graph} {cell.budget_a:g} B/v" for cell in table.cells]


def test_a_light_analysis_says_what_the_full_one_says(contents):
    full, light = (statistics.analyse(contents, "mine", "alt", None, None, light=light) for light in (False, True))
    assert light.forest() == full.forest()
    assert [cell.adjusted for cell in light.cells] == [cell.adjusted for cell in full.cells]
    assert full.cells[0].effect.bootstrap95 is not None
    assert light.cells[0].effect.bootstrap95 is None


def test_a_predicted_band_is_an_open_box_and_the_margin_a_shade():
    row = ForestRow(
        "p: a against b", 2.0, (1.5, 2.5), (1.0, 3.0), 0.0, (-1.0, 1.0), (1.9, 2.1), "different", (0.5, 4.0)
    )
    axes = forest.draw([row], ESTIMANDS["reduction_of_means_pp"], "a", "b", "").axes[0]
    spans = {(patch.get_x(), patch.get_x() + patch.get_width()): patch.get_fill() for patch in axes.patches}
    assert spans == {(-1.0, 1.0): True, (0.5, 4.0): False}


def test_an_unbounded_interval_does_not_squeeze_the_others():
    rows = [
        ForestRow("one", 2.0, (1.5, 2.5), (1.0, 3.0), 0.0, None, (), "different"),
        ForestRow("two", 2.0, (-1e30, 1e30), (-1e40, 1e40), 0.0, None, (), "inconclusive"),
    ]
    low, high = forest.draw(rows, ESTIMANDS["reduction_of_means_pp"], "a", "b", "").axes[0].get_xlim()
    assert -20 < low < high < 20


def test_the_profile_counts_queries_within_a_factor_of_the_best(tmp_path):
    cells = [
        made_cell("a", [10, 40, 30]),
        made_cell("b", [20, 20, 30]),
        made_cell("odd", [1, 1, 1], claims={"oracle": True}),
    ]
    found, apart = profile.profiles(read_study(made_study(tmp_path, cells)).planned_cells())
    assert {each.method: [each.share(factor) for factor in (1, 1.9, 2)] for each in found} == {
        "a": [2 / 3, 2 / 3, 1],
        "b": [2 / 3, 2 / 3, 1],
    }
    assert apart == ["odd (oracle)"]
    curve = lines(profile.draw(found, "").axes[0])["a"].get_xydata().tolist()
    assert curve == [[1, 0], [1, pytest.approx(200 / 3)], [2, 100], [2, 100]]


def test_an_unanswered_query_keeps_a_profile_below_all(tmp_path):
    cells = [made_cell("a", [10, 40]), made_cell("b", [20, 20], unreachable=(1,))]
    found, _ = profile.profiles(read_study(made_study(tmp_path, cells)).planned_cells())
    assert {each.method: each.share(1000) for each in found} == {"a": 1, "b": 0.5}


def test_pairs_are_means_over_seeds_against_dijkstra(contents):
    upper, lower = figures.figure("pairs", contents, graph="g1", budget=16, a="mine", b="alt").axes
    by_label = {}
    for cell in contents.planned_cells():
        if cell.key["graph"] == "g1" and cell.key["budget"] in (16, 8 if cell.key["label"] == "dijkstra" else 16):
            by_label.setdefault(cell.key["label"], []).append(cell.queries["expanded"])
    base, mine, alt = (np.mean(by_label[label], axis=0) for label in ("dijkstra", "mine", "alt"))
    assert upper.lines[0].get_xydata().tolist() == np.column_stack((base, mine)).tolist()
    assert upper.lines[2].get_xydata().tolist() == np.column_stack((base, alt)).tolist()
    assert lower.lines[0].get_ydata().tolist() == (mine / alt).tolist()


def test_amortised_cost_is_the_build_and_so_many_searches(contents):
    rows = [row for row in latency.latencies(contents.planned_cells()) if (row.graph, row.budget) == ("g1", 8)]
    found = {cost.method: cost for cost in amortised.costs(rows)}
    alt, dijkstra = found["alt"], found["dijkstra"]
    assert alt.offline == 0.75
    assert alt.after(1e6) == pytest.approx(0.75 + next(row.p50 for row in rows if row.method == "alt"))
    assert alt.breakeven > 1
    assert alt.after(alt.breakeven) == pytest.approx(dijkstra.after(alt.breakeven))
    slower = amortised.costs([rows[0], *(row for row in rows if row.method == "alt")])
    assert slower[0].breakeven is None
    axes = figures.figure("amortised", contents, graph="g1").axes[0]
    line = next(line for line in axes.lines if str(line.get_label()).startswith("alt"))
    assert line.get_ydata()[-1] == pytest.approx(alt.after(line.get_xdata()[-1]))


@pytest.mark.parametrize("name", ["pareto", "forest", "profile", "pairs", "amortised"])
def test_every_figure_says_what_it_was_measured_on(contents, name):
    said = " ".join(figures.figure(name, contents).get_supxlabel().split())
    for words in ("g1", "8", "measured/1", "search", "seeds 1, 2", "12 test queries"):
        assert words in said


def test_methods_differ_in_colour_marker_and_line_together():
    marks = style.marks_of(f"m{number}" for number in range(60))
    assert len({(mark.colour, mark.marker, str(mark.line)) for mark in marks.values()}) == len(marks)
    first = list(marks.values())[:5]
    for looks in ([mark.colour for mark in first], [mark.marker for mark in first], [str(mark.line) for mark in first]):
        assert len(set(looks)) == 5


def test_the_same_study_gives_the_same_bytes(contents):
    one, other = (Subject(contents, Choices()).profile() for _ in range(2))
    assert one.svg == other.svg
    assert style.pdf(one.figure) == style.pdf(other.figure)


def test_settings_of_the_user_do_not_change_a_figure(contents):
    import matplotlib

    plain = Subject(contents, Choices()).profile().svg
    with matplotlib.rc_context(
        {"font.size": 30, "axes.facecolor": "red", "text.usetex": False, "svg.fonttype": "none"}
    ):
        assert Subject(contents, Choices()).profile().svg == plain


def test_words_of_plugins_are_no_formulas(tmp_path):
    odd = r"$\nosuch{$ & <b>"
    cells = [made_cell("dijkstra", [90, 80]), made_cell("alt", [9, 8]), made_cell(odd, [7, 6])]
    study = read_study(made_study(tmp_path, cells))
    axes = figures.figure("pareto", study).axes[0]
    assert odd in {container.get_label() for container in axes.containers}
    assert style.svg(figures.figure("profile", study))


def test_unknown_names_and_choices_are_told(contents):
    for words, more in {
        "Unknown figure 'pie'. Known: forest, pareto": ("pie", {}),
        "A figure has no choice 'colour'": ("pareto", {"colour": "red"}),
        "No graph 'g9' in this study. It has: g1, g2": ("pareto", {"graph": "g9"}),
        "No method 'nobody' in this study": ("pairs", {"a": "nobody"}),
        "alt and mine have no cells in common on g1 at 99 B/v": ("pairs", {"a": "alt", "b": "mine", "budget": 99}),
        "give its folder as root": ("landmarks", {}),
    }.items():
        name, choices = more
        with pytest.raises(UsageError, match=re.escape(words)):
            figures.figure(name, contents, **choices)


def test_files_of_figures_have_plain_names():
    assert figures.stem_of("file:/a b/ç.gr?x=1") == "file-a-b-gr-x-1"
    assert figures.stem_of("../..") == "x"
    long = [figures.stem_of("x" * 500 + end) for end in "ab"]
    assert [len(stem) for stem in long] == [60, 60]
    assert long[0] != long[1]
    assert Path(long[0]).name == long[0]


def test_traffic_begins_at_the_weights_that_were_built_on(tmp_path):
    cells = [made_cell("dijkstra", [90, 110]), made_cell("alt", [10, 20])]
    for share, growth, counts in ((0.1, 0.05, [30, 50]), (0.3, 0.2, [60, 80])):
        text = f"arcs[share={share},factor=3]"
        for label, rows in (("dijkstra", [90, 110]), ("alt", counts)):
            _, record, files = made_cell(label, rows, graph=f"p7+{text}", traffic={"growth": growth})
            record["key"]["traffic"] = text
            cells.append((cell_id(record["key"]), record, files))
    study = read_study(made_study(tmp_path, cells))
    axes = figures.figure("traffic", study).axes[0]
    drawn = {label: line.get_xydata().tolist() for label, line in lines(axes).items()}
    assert drawn["alt"] == [[0, 15], [5, 40], [20, 70]]
    assert [drawing.name for drawing in figures.gallery(study, [], [])].count("traffic") == 1
    with pytest.raises(UsageError, match="run the protocol traffic"):
        figures.figure("traffic", read_study(made_study(tmp_path / "still", cells[:2])))


def test_a_narrow_logarithmic_axis_has_numbers_between(contents):
    ratios = [Ratio("g1 at 8 B/v", 0.953, 0.97), Ratio("g1 at 16 B/v", 1.11, 1.05)]
    axes = draw_ratios(ratios, "a", "b", "").axes[0]
    low, high = axes.get_xlim()
    assert len([tick for tick in axes.get_xticks() if low <= tick <= high]) >= 3


def test_the_search_picture_takes_two_methods_that_search_otherwise(tmp_path):
    cells = [
        made_cell("dijkstra", [90, 80]),
        made_cell("alt", [9, 8]),
        made_cell("same", [9, 8]),
        made_cell("b", [7, 6]),
    ]
    contents = read_study(made_study(tmp_path, cells))
    subject = Subject(contents, Choices())
    assert [cell.key["label"] for cell in subject._searched_cells("p7")] == ["b", "alt"]
    chosen = Subject(contents, Choices(a="same", b="alt"))
    assert [cell.key["label"] for cell in chosen._searched_cells("p7")] == ["same", "alt"]
