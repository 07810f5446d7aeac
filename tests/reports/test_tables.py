"""The results table shows what there is to see, and below it why something is missing."""

import csv
import io
import re
from dataclasses import asdict
from html import escape

import pytest
from cli.command import run_study
from made_studies import MEASURED, PAPER, made_cell, made_study
from markdown_it import MarkdownIt
from project import ROOT

from aacbench.reports import comparison, latency, statistics, statistics_text, tables
from aacbench.reports.formatting import conditions, graph_names, study_notes, switches, table_notes
from aacbench.reports.tables import Row, csv_text, latex, markdown, rows_of
from aacbench.run.layout import cell_id
from aacbench.run.records import QueryPlan, Study
from aacbench.run.study import planned_cells, read_plan, read_study
from aacbench.search.policy import IN_MEMORY, POLICIES, Policy


def cells_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_means_are_over_queries_then_seeds_and_reductions_against_dijkstra(tmp_path):
    cells = [
        made_cell("dijkstra", [10, 30]),
        made_cell("alt", [2, 4], seed=1),
        made_cell("alt", [4, 6], seed=2),
    ]
    base, alt = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert (base.test, alt.test, alt.seeds) == (20, 4, 2)
    assert alt.reduction == 80


def test_the_spread_is_that_of_a_sample_over_seeds_and_one_seed_has_none(tmp_path):
    cells = [
        made_cell("dijkstra", [10, 30]),
        made_cell("one", [2, 4], seed=1),
        *(made_cell("three", [count, count], seed=count) for count in (2, 4, 6)),
        made_cell("three", [99], seed=9, outcome="error", reason="it broke"),
    ]
    rows = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert [(row.test, row.test_sd, row.reduction_sd) for row in rows] == [
        (20, None, None),
        (3, None, None),
        (4, 2, 10),
    ]
    _, _, _, one, three = cells_of(markdown(rows))
    assert "3.00" in one
    assert {"4.00 ± 2.00", "80.00 ± 10.00"} <= set(three)
    assert "±: standard deviation over the seeds" in markdown(rows)
    assert "±" not in markdown(rows[:2])


def test_settings_are_what_the_label_does_not_say_with_switches_unlike_the_baselines(tmp_path):
    params, defaults = {"K": 4, "P": 9, "arm": "x"}, {"cdh": {"K": 0, "P": 64, "arm": "x"}}
    cells = [
        made_cell("dijkstra", [10]),
        made_cell("cdh[P=9]", [5], params=params, defaults=defaults, build={"facts": {"pivots": 8}}),
    ]
    for (_, record, _), policy in zip(cells, ("paper", "reopen=on,tie=fifo,bpmx=on"), strict=True):
        record["key"]["policy"] = policy
    study = made_study(tmp_path, [(cell_id(record["key"]), record, files) for _, record, files in cells])
    _, row = rows_of(planned_cells(study))
    assert row.settings == "K=4 reopen=on bpmx=on"
    assert (row.parameters, row.facts) == ("K=4 P=9 arm=x", "pivots=8")
    assert row.policy == "reopen=on,tie=fifo,bpmx=on"


def test_settings_that_only_the_build_could_choose_are_shown(tmp_path):
    parts = [{"method": name, "params": {"labels": "packed", "K": 0}} for name in ("alt", "alt")]
    defaults = {"alt": {"labels": "auto", "K": 0}}
    cells = [
        made_cell("ch", [5], params={"pack": "auto"}, build={"chosen": {"pack": "plain"}}),
        made_cell("hybrid", [5], params={"parts": parts}, defaults=defaults, build={"chosen": {"b.K": 7}}),
    ]
    found = [row.settings for row in rows_of(planned_cells(made_study(tmp_path, cells)))]
    assert found == ["pack=plain", "alt[labels=packed] alt[K=7 labels=packed]"]


def test_a_run_keeps_what_its_builds_chose(tmp_path):
    assert run_study(tmp_path / "study", "ch,alt[labels=packed]", "--budgets", "64") == 0
    settings = {row.method: row.settings for row in rows_of(planned_cells(tmp_path / "study"))}
    assert settings["ch"] == "pack=plain"
    assert re.fullmatch(r"K=[1-9]", settings["alt[labels=packed]"])


def test_what_differs_by_seed_is_told_by_seed_to_scripts(tmp_path):
    cells = [made_cell("alt", [5], params={"K": seed}, seed=seed) for seed in (1, 2)]
    (row,) = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert (row.settings, row.parameters) == ("by seed", "seed 1: K=1; seed 2: K=2")


def test_the_switches_of_named_policies_are_those_of_the_search():
    for name, policy in POLICIES.items():
        words = {True: "on", False: "off"}
        told = {key: words.get(value, value) for key, value in asdict(policy).items() if key not in IN_MEMORY}
        assert switches(name) == told
        assert switches(Policy(bpmx=True).name)["bpmx"] == "on"


def test_every_column_and_field_is_documented(tmp_path):
    section = (ROOT / "docs" / "running.md").read_text(encoding="utf-8").partition("### The columns")[2]
    results, times = (
        {name for row in cells_of(table) for cell in row[:2] for name in re.findall(r"`([^`]+)`", cell)}
        for table in section.split("| column |")[1:3]
    )
    (row,) = rows_of(planned_cells(made_study(tmp_path, [made_cell("alt", [5], times=[[1]], control=[[1]])])))
    assert {*row.cells(), *Row.__slots__} == results
    shown = latency.markdown(latency.latencies(planned_cells(tmp_path)))
    assert {*cells_of(shown)[0], *latency.Latency.__slots__} <= times


def test_latex_has_every_character_of_a_plugin_as_itself(tmp_path):
    odd = made_cell("odd[a_b=50%]", [5], graph="[x]", params={"K": "{&}$#^~\\|<>"}, outcome="error", reason="a\nb")
    text = latex(rows_of(planned_cells(made_study(tmp_path, [made_cell("dijkstra", [9], graph="[x]"), odd]))))
    comments = [line for line in text.splitlines() if line.startswith("%")]
    table = text.splitlines()[len(comments) :]
    assert table[0] == r"\begin{tabular}{lrlrlrrl}"
    assert table[2] == r"graph & budget & method & measured B/v & settings & seeds & test & outcome \\"
    assert [table[1], table[3], *table[-2:]] == [r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"]
    assert r"odd{[}a\_b=50\%]" in table[5]
    assert table[5].startswith("{[}x] & ")
    assert (
        r"K=\{\&\}\$\#\textasciicircum{}\textasciitilde{}\textbackslash{}\textbar{}\textless{}\textgreater{}"
        in table[5]
    )
    assert comments[-1].endswith("error: odd[a_b=50%] on [x] at 32 B/v: a b")


def test_a_wide_latex_table_is_shrunk_to_the_width_of_the_text(tmp_path):
    cells = [
        made_cell("dijkstra", [9]),
        made_cell("a-method-with-a-name[of=many,letters=yes]", [5], params={"K": "x" * 50}),
    ]
    text = latex(rows_of(planned_cells(made_study(tmp_path, cells)))).splitlines()
    begin = text.index(r"\resizebox{\textwidth}{!}{%")
    assert text[begin + 1].startswith(r"\begin{tabular}")
    assert text[-1] == r"\end{tabular}}"


def test_columns_that_say_nothing_are_left_out(tmp_path):
    cells = [made_cell("dijkstra", [10]), made_cell("alt", [5], params={"labels": "exact", "K": 4})]
    header, rule, *rows = cells_of(markdown(rows_of(planned_cells(made_study(tmp_path, cells)))))
    assert header == ["graph", "budget", "method", "measured B/v", "settings", "seeds", "test", "reduction %"]
    assert [mark.endswith(":") for mark in rule] == [name not in ("graph", "method", "settings") for name in header]
    assert rows[1] == ["p7", "32", "alt", "32.0", "K=4 labels=exact", "1", "5.00", "50.00"]


def test_the_work_of_a_lazy_heuristic_stands_beside_its_expansions(tmp_path):
    cells = [made_cell("dijkstra", [10, 30]), made_cell("lazy", [2, 4], h_work=[5, 8])]
    text = markdown(rows_of(planned_cells(made_study(tmp_path, cells))))
    header, _, base, lazy = cells_of(text)
    at = header.index("test")
    assert header[at : at + 3] == ["test", "h_work", "test + h_work"]
    assert base[at : at + 3] == ["20.00", "0.00", "20.00"]
    assert lazy[at : at + 3] == ["3.00", "6.50", "9.50"]
    assert "h_work: work per test query" in text


def test_declared_bytes_do_not_pass_for_measured_ones(tmp_path):
    held = {"nominal_per_vertex": 32, "measured_per_vertex": 0.0, "measured": False}
    text = markdown(rows_of(planned_cells(made_study(tmp_path, [made_cell("scalar", [5], bytes=held)]))))
    assert cells_of(text)[2][3] == "declared"
    assert "self-reported memory" in text


@pytest.mark.parametrize(
    ("held", "convention", "over"),
    [
        ({"nominal_per_vertex": 64, "measured_per_vertex": 48.8}, MEASURED, False),
        ({"nominal_per_vertex": 64, "measured_per_vertex": 64.01}, MEASURED, False),  # a few settings
        ({"nominal_per_vertex": 64, "measured_per_vertex": 96.0}, MEASURED, True),
        ({"nominal_per_vertex": 128, "measured_per_vertex": 48.8}, MEASURED, False),  # parts that did not fill theirs
        ({"nominal_per_vertex": 128, "measured_per_vertex": 64.0}, PAPER, True),
    ],
)
def test_over_budget_is_what_has_more_bytes_than_its_budget(tmp_path, held, convention, over):
    free = {"matched": False}
    cell = made_cell("free", [5], budget=64, claims=free, bytes=held, convention=convention)
    text = markdown(rows_of(planned_cells(made_study(tmp_path, [cell]))))
    assert ("free (over budget)" in text) == ("deploys more bytes than its budget" in text) == over


def test_after_a_choice_the_validation_mean_is_that_of_the_chosen_settings(tmp_path):
    cells = [
        made_cell("pool", [1, 3], params={"K0": 8}, split="validation"),
        made_cell("pool", [9, 9], params={"K0": 16}, split="validation"),
        made_cell("pool", [4, 4], params={"K0": 8}),
    ]
    (row,) = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert (row.validation, row.test, row.settings) == (2, 4, "K0=8")


def test_reasons_stand_below_grouped_and_worst_first(tmp_path):
    cells = [
        made_cell("alt", [5], budget=8, outcome="error", reason="it broke"),
        made_cell("alt", [5], budget=16, outcome="error", reason="it broke"),
        made_cell("high", [5], outcome="wrong", reason="not admissible"),
        made_cell("fine", [5]),
    ]
    text = markdown(rows_of(planned_cells(made_study(tmp_path, cells))))
    ids = [name[:8] for name, _, _ in cells]
    assert text.splitlines()[-2:] == [
        f"- {ids[2]}: wrong: high on p7 at 32 B/v: not admissible",
        f"- {ids[0]}, {ids[1]}: error: alt on p7 at 8, 16 B/v: it broke",
    ]
    outcomes = [row[-1] for row in cells_of(text)]
    assert outcomes[0] == "outcome"
    assert outcomes[2:] == ["error", "error", "wrong", ""]
    assert "it broke" not in "".join(line for line in text.splitlines() if line.startswith("|"))


def test_the_papers_convention_shows_both_counts_of_bytes(tmp_path):
    cells = [made_cell("alt", [5], convention=PAPER, measured=16.004)]
    text = markdown(rows_of(planned_cells(made_study(tmp_path, cells))))
    header, _, row = cells_of(text)
    assert dict(zip(header, row, strict=True))["nominal B/v"] == "32"
    assert dict(zip(header, row, strict=True))["measured B/v"] == "16.0"
    assert "direction is as declared" in text


def test_oracles_are_marked_by_the_claims_in_their_cells(tmp_path):
    never_ran = made_cell("best", [5], budget=8, outcome="unsupported")
    cells = [made_cell("best", [5], claims={"oracle": True}), never_ran, made_cell("alt", [5])]
    rows = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert [(row.method, row.oracle) for row in rows] == [("best", False), ("best", True), ("alt", False)]
    assert "best (oracle)" in markdown(rows)
    assert "cannot be deployed" in markdown(rows)
    assert "oracle" not in markdown(rows[2:])


@pytest.mark.parametrize(
    ("graphs", "shown"),
    [
        (["grid", "dimacs:NY"], ["grid", "dimacs:NY"]),
        (["file:city.gr", "file:./maps/town.gr"], ["file:city.gr", "file:town.gr"]),
        (["file:/a/x/city.gr", "file:/b/x/city.gr"], ["file:a/x/city.gr", "file:b/x/city.gr"]),
        (["file:x/city.gr", "file:city.gr"], ["file:x/city.gr", "file:city.gr"]),
        (["file:/m/e.csv?nodes=n.csv", "file:/m/e.csv"], ["file:e.csv?nodes=n.csv", "file:e.csv"]),
        (["file:/m/city.gr", "file:/m/city.gr"], ["file:city.gr"]),
    ],
)
def test_graphs_of_files_have_the_shortest_names_that_tell_them_apart(graphs, shown):
    assert list(graph_names(graphs).values()) == shown


def test_a_path_is_given_once_below_each_table_and_in_full_to_scripts(tmp_path):
    graph = "file:/home/somebody/maps/city.gr"
    cells = [
        made_cell("dijkstra", [9], graph=graph),
        made_cell("alt", [5], graph=graph, times=[[1000]]),
        made_cell("bad", [5], graph=graph, outcome="error", reason="it broke"),
    ]
    study = made_study(tmp_path, cells)
    stored = planned_cells(study)
    rows, times = rows_of(stored), latency.latencies(stored)
    pair = comparison.compare(*(comparison.Side(name, study, name, stored) for name in ("alt", "dijkstra")))
    for text in (markdown(rows), latency.markdown(times), comparison.markdown(pair, "alt", "dijkstra")):
        assert "| file:city.gr |" in text
        assert "file:city.gr: /home/somebody/maps/city.gr" in text
        assert text.count("/home/somebody") == 1
    assert "bad on file:city.gr at 32 B/v" in markdown(rows)
    assert csv_text(rows).count(graph) == 3
    assert [row.graph for row in (*times, *pair)] == [graph, graph]


def test_oracles_are_marked_where_times_are_shown_and_where_two_are_compared(tmp_path):
    best = made_cell("best", [5], claims={"oracle": True}, times=[[1000]])
    study = made_study(tmp_path, [best, made_cell("alt", [6], times=[[1000]])])
    times = latency.markdown(latency.latencies(planned_cells(study)))
    pair = comparison.compare(*(comparison.Side(name, study, name, planned_cells(study)) for name in ("best", "alt")))
    for text in (times, comparison.markdown(pair, "best", "alt")):
        assert "best (oracle)" in text
        assert "alt (oracle)" not in text
        assert "cannot be deployed" in text


def test_costs_are_shown_of_methods_that_do_not_claim_shortest_paths(tmp_path):
    loose = made_cell("loose", [5, 7], claims={"admissible": False}, costs=[(3, 2), (4, 4)])
    text = markdown(rows_of(planned_cells(made_study(tmp_path, [loose, made_cell("alt", [5, 7])]))))
    header, _, first, second = cells_of(text)
    shown = [dict(zip(header, row, strict=True)) for row in (first, second)]
    assert [(row["mean cost"], row["worst cost"]) for row in shown] == [("1.2500", "1.5000"), ("", "")]
    assert "do not claim" in text


def test_a_choice_made_on_test_queries_is_said(tmp_path):
    made_study(tmp_path / "a", [made_cell("alt", [5])], selection="retrospective")
    made_study(tmp_path / "b", [made_cell("alt", [5])], selection="mean-expansions")
    assert "too good" in study_notes(read_plan(tmp_path / "a"))[0]
    assert study_notes(read_plan(tmp_path / "b")) == []


def test_a_table_says_what_its_means_are_taken_over(tmp_path):
    whole = Study(protocol="p", summary="", graphs=(), methods=(), budgets=(), seeds=(), search="paper")
    made_study(tmp_path, [made_cell("alt", [5])], **whole.record())
    rows, notes = rows_of(planned_cells(tmp_path)), table_notes(read_plan(tmp_path))
    said = "100 validation and 100 test queries (uniform, seed 42); search paper; bytes by measured/1."
    assert said in markdown(rows, notes).splitlines()
    assert f"% {said}" in latex(rows, notes).splitlines()


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        (
            QueryPlan(mode="strata", validation=5, test=7),
            "5 validation and 7 test queries per stratum (strata, seed 42)",
        ),
        (QueryPlan(mode="scenario"), "100 validation and 100 test queries (each map's scenario)"),
        (QueryPlan(mode="file", file="a.csv"), "100 validation and 100 test queries (a.csv)"),
        (QueryPlan(mode="file", file="a.csv", shuffle=True), "test queries (a.csv, shuffled by seed 42)"),
    ],
)
def test_where_queries_come_from_is_said(queries, said):
    study = {"queries": queries.record(), "search": "modern", "convention": "measured/1"}
    assert f"{said}; search modern" in conditions(study)


def test_what_no_row_has_is_not_explained(tmp_path):
    failed = [made_cell(label, [], outcome="unsupported", reason="no") for label in ("alt", "dijkstra")]
    assert "Mean expansions" not in markdown(rows_of(planned_cells(made_study(tmp_path / "a", failed))))
    alone = markdown(rows_of(planned_cells(made_study(tmp_path / "b", [failed[0], made_cell("dijkstra", [5])]))))
    assert "Mean expansions per query." in alone.splitlines()


@pytest.mark.parametrize(
    ("outcome", "advice"),
    [
        ("timeout", "raise --time-limit"),
        ("out-of-memory", "raise --memory-limit"),
        ("error", "remove the cause"),
    ],
)
def test_advice_on_a_failed_baseline_fits_its_outcome(tmp_path, outcome, advice):
    made_study(tmp_path, [made_cell("dijkstra", [], outcome=outcome, reason="it failed"), made_cell("alt", [5])])
    said = f"is {outcome}, for the reason below; {advice}, then run again with --existing retry-failed."
    assert said in markdown(rows_of(planned_cells(tmp_path)))


def test_comments_in_latex_have_no_markdown(tmp_path):
    failed = made_cell("alt", [], outcome="error", reason="Own.__init__() failed")
    rows = rows_of(planned_cells(made_study(tmp_path, [failed])))
    assert "Own.__init__() failed" in latex(rows)
    assert r"Own.\_\_init\_\_() failed" in markdown(rows)


def test_the_baseline_has_no_budget_to_fill(tmp_path):
    cells = [made_cell("dijkstra", [1], measured=0.0), made_cell("alt", [1])]
    rows = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert [row.nominal for row in rows] == [None, 32]


def test_csv_keeps_every_digit(tmp_path):
    text = csv_text(rows_of(planned_cells(made_study(tmp_path, [made_cell("alt", [1, 1, 2])]))))
    (row,) = csv.DictReader(io.StringIO(text))
    assert float(row["test"]) == 4 / 3


def test_an_empty_study_has_no_table(tmp_path):
    assert markdown(rows_of(planned_cells(made_study(tmp_path, [])))) == "No cells yet."


def test_words_of_a_plugin_neither_break_the_table_nor_the_terminal(tmp_path):
    reason = "first line\nsecond \x1b[31mline" + "!" * 1000
    cells = [
        made_cell("dijkstra", [1]),
        made_cell("odd", [1], params={"K": "x|y\nz", "n": 10**400}, outcome="error", reason=reason),
    ]
    text = markdown(rows_of(planned_cells(made_study(tmp_path, cells))))
    assert all(line.isprintable() and len(line) < 700 for line in text.splitlines())
    (row,) = [line for line in text.splitlines() if line.startswith("| p7") and "odd" in line]
    assert "K=x\\|y z" in row
    assert "first line second \\x1b[31mline!!!" in text


MARKUP = "x|y\\|z`<script>a</script>![i](u)\n\n<!-- <b>"


def rendered(text):
    """The HTML of a Markdown text, without the tags of its tables, lists, paragraphs and code."""
    html = MarkdownIt().enable("table").render(text)
    return re.sub(r"</?(table|thead|tbody|tr|th|td|p|ul|li|code)( style=[^>]*)?>", "", html)


EMPHASIS = "**b** x*y*z ~~q~~ _i_ __init__ &lt; \\*e*"
ORDINARY = "K0=16 pool=fps my_own_pool f(*args, **kwargs) 2 * 3 * 4 ~5 to ~6 '_labels' a & b; R&D"


@pytest.mark.parametrize(("words", "changed"), [(EMPHASIS, True), (ORDINARY, False)])
def test_emphasis_in_the_words_of_a_plugin_is_shown_as_it_is(tmp_path, words, changed):
    odd = f"odd[{words}]"
    cells = [
        made_cell("dijkstra", [9, 9]),
        made_cell("alt", [8, 8]),
        made_cell(odd, [5, 6], params={"K": words}),
        made_cell(odd, [5], params={"K": words}, seed=2, outcome="error", reason=f"Error: {words}"),
    ]
    study = made_study(tmp_path, cells)
    stored = planned_cells(study)
    pair = comparison.compare(*(comparison.Side(name, study, name, stored) for name in (odd, "dijkstra")))
    texts = [
        markdown(rows_of(stored)),
        comparison.markdown(pair, odd, "dijkstra"),
        statistics_text.markdown(statistics.analyse(read_study(study), odd, "alt", None, None)),
    ]
    shown = escape(words, quote=False)
    for text in texts:
        html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
        assert not re.search("<(em|strong|s)>", html)
        assert f"odd[{shown}]" in html
        assert (words not in text) == changed
    for text in (texts[0], texts[2]):
        assert f"Error: {shown}" in MarkdownIt("commonmark").enable("strikethrough").render(text)
    assert f"K={shown}" in MarkdownIt().enable("table").render(texts[0])


def test_markup_in_the_words_of_a_plugin_is_shown_as_it_is(tmp_path):
    odd, graph = f"odd[{MARKUP}]", f"own:{MARKUP}"
    cells = [
        made_cell("dijkstra", [9, 9], graph=graph),
        made_cell("alt", [8, 8], graph=graph),
        made_cell(odd, [5, 6], graph=graph, params={"K": MARKUP}, times=[[10, 20]]),
        made_cell(odd, [5], graph=graph, params={"K": MARKUP}, seed=2, outcome="error", reason=MARKUP),
    ]
    study = made_study(tmp_path, cells)
    stored = planned_cells(study)
    pair = comparison.compare(*(comparison.Side(name, study, name, stored) for name in (odd, "dijkstra")))
    texts = [
        markdown(rows_of(stored)),
        latency.markdown(latency.latencies(stored)),
        comparison.markdown(pair, odd, "dijkstra"),
        statistics_text.markdown(statistics.analyse(read_study(study), odd, "alt", None, None)),
    ]
    shown = escape(" ".join(MARKUP.split()))
    for text in texts:
        assert "<" not in rendered(text)
        assert f"own:{shown}" in rendered(text).splitlines()
    assert {f"K={shown}", f"odd[{shown}]"} <= {*rendered(texts[0]).splitlines()}


def test_rows_are_by_graph_and_budget_and_the_baseline_is_first(tmp_path):
    cells = [made_cell(label, [5], graph=graph, budget=budget)
             for graph in ("z", "a") for label in ("late", "dijkstra", "alt") for budget in (64, 8)]  # fmt: skip
    rows = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert [(row.graph, row.method, row.budget) for row in rows if row.method != "dijkstra"] == [
        (graph, label, budget) for graph in ("z", "a") for budget in (8, 64) for label in ("late", "alt")
    ]
    assert rows[0].method == "dijkstra"


def test_reasons_on_a_terminal_have_no_escapes(tmp_path):
    cells = [made_cell("odd", [1], outcome="error", reason="no *a* or *b* <i>")]
    rows = rows_of(planned_cells(made_study(tmp_path, cells)))
    assert "no *a* or *b* <i>" in markdown(rows, plain_reasons=True)
    assert r"no \*a\* or \*b\* &lt;i>" in markdown(rows)


def test_rows_are_the_same_where_cells_are_read_one_after_the_other(tmp_path, monkeypatch):
    cells = [made_cell("dijkstra", [10, 31]), made_cell("alt", [2, 4], seed=1), made_cell("alt", [7, 6], seed=2)]
    root = made_study(tmp_path, cells)
    at_once = csv_text(rows_of(planned_cells(root)))
    monkeypatch.setattr(tables, "read_totals", lambda _: None)
    assert csv_text(rows_of(planned_cells(root))) == at_once


def test_a_candidate_that_does_not_fit_is_no_failure_of_what_was_chosen(tmp_path):
    kept = {"budget": 8, "role": "candidate", "split": "validation"}
    cells = [
        made_cell("ch", [5], params={"pack": "plain"}, outcome="unsupported", reason="too large", **kept),
        made_cell("ch", [5], params={"pack": "bytes"}, **kept),
        made_cell("ch", [6], params={"pack": "bytes"}, budget=8, role="chosen"),
    ]
    (row,) = rows_of(planned_cells(made_study(tmp_path / "chosen", cells)))
    assert (row.outcome, row.test) == ("ok", 6)
    (row,) = rows_of(planned_cells(made_study(tmp_path / "none", cells[:1])))
    assert (row.outcome, row.reason) == ("unsupported", "too large")
