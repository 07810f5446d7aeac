"""From a store to a table: pairing by bytes, seeds and queries, families, and sentences that say no more than is so."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports.statistics import analyse
from aacbench.reports.statistics_text import markdown, records, sentence
from aacbench.run.study import read_study

CERTAIN = {"deterministic": True}
SEEDS = (1, 2, 3, 4, 5)
QUERIES = 30


def counts(seed, factor=1.0, spread=0.1):
    hard = np.random.default_rng(0).lognormal(6, 1, size=QUERIES)
    noise = np.random.default_rng([seed, int(100 * factor)]).lognormal(0, spread, size=QUERIES)
    return np.ceil(factor * hard * noise).astype(int).tolist()


def dijkstra(**more):
    return made_cell("dijkstra", [10 * count for count in counts(99)], claims=CERTAIN, measured=0.0, **more)


def alt(budget=32, **more):
    return made_cell("alt", counts(50), budget=budget, claims=CERTAIN, **more)


def learned(factor=1.3, budget=32, seeds=SEEDS, **more):
    spread = more.pop("spread", 0.1)
    return [made_cell("aac", counts(seed, factor, spread), budget=budget, seed=seed, **more) for seed in seeds]


def analysed(root, cells, a="alt", b="aac", profile=None, estimand=None, **study):
    return analyse(read_study(made_study(root, [dijkstra(), *cells], **study)), a, b, profile, estimand)


def test_deterministic_rows_meet_every_seed_and_a_is_ahead(tmp_path):
    table = analysed(tmp_path, [alt(), *learned()])
    (cell,) = table.cells
    assert (cell.effect.seeds, cell.effect.queries, cell.effect.level) == (5, QUERIES, "seeds and queries")
    by_hand = [
        100 * (np.mean(counts(s, 1.3)) - np.mean(counts(50))) / np.mean([10 * c for c in counts(99)]) for s in SEEDS
    ]
    assert cell.effect.per_seed == pytest.approx(by_hand)
    assert (cell.effect.outcome, cell.companion.estimand) == ("different", "ratio_of_means")
    assert "alt reduces expansions by" in sentence(table, cell)
    assert "more than aac" in sentence(table, cell)
    assert table.forest()[0].seeds == cell.effect.per_seed


def test_the_work_of_a_lazy_heuristic_is_told_and_enters_no_test(tmp_path):
    plain, lazy = alt(), alt(h_work=[3 * count for count in counts(50)])
    without, table = (analysed(tmp_path / name, [cell, *learned()]) for name, cell in (("x", plain), ("y", lazy)))
    (cell,) = table.cells
    mean, others = np.mean(counts(50)), np.mean([np.mean(counts(seed, 1.3)) for seed in SEEDS])
    assert (cell.work_a, cell.work_b) == (pytest.approx(3 * mean), 0)
    assert cell.total_ratio == pytest.approx(4 * mean / others)
    assert f"alt has {cell.total_ratio:.2f} times the total of aac; this is not tested." in sentence(table, cell)
    assert f"{cell.total_ratio:.4f}" in markdown(table)
    assert "A total is expansions and h_work together." in markdown(table)
    assert cell.effect == without.cells[0].effect
    assert without.cells[0].total_ratio is None
    assert "h_work" not in markdown(without)


def test_the_profile_is_the_studys_unless_another_is_asked_for(tmp_path):
    cells = [alt(), *learned()]
    assert analysed(tmp_path / "x", cells, analysis="paper/1").profile.label == "paper/1"
    assert analysed(tmp_path / "y", cells, analysis="paper/1", profile="crossed/1").profile.label == "crossed/1"
    with pytest.raises(UsageError, match="Unknown analysis profile 'paper/9'"):
        analysed(tmp_path / "z", cells, analysis="paper/9")


def test_methods_are_paired_by_the_bytes_they_hold(tmp_path):
    cells = [alt(32), alt(64), *learned(budget=64, measured=31.0), *learned(budget=128, measured=99.0)]
    table = analysed(tmp_path, cells, profile="crossed/1")
    (cell,) = table.cells
    assert (cell.budget_a, cell.budget_b, cell.bytes_a, cell.bytes_b) == (32, 64, 32, 31)
    (reason,) = table.unpaired
    assert reason == (
        "p7 with a budget of 64 B/v: alt has 64.0 B/v and the closest of aac 99.0, more than 5 % apart; "
        "crossed/2 compares them"
    )
    assert reason in markdown(table)
    assert "32 / 64" in markdown(table)
    assert "On p7, alt (32.0 B/v) reduces expansions by" in sentence(table, cell)  # aac never had a budget of 32


@pytest.mark.parametrize(
    ("factor", "spread", "shown"),
    [
        (1.4, 0.1, "is ahead with fewer bytes."),
        (0.6, 0.1, "is behind, which does not show that it is behind at equal memory."),
        (1.0, 0.01, "is not behind by more than the margin; equivalence at equal memory is not shown."),
        (0.95, 0.01, "is not behind by more than the margin; equivalence at equal memory is not shown."),
        (1.0, 1.0, "has fewer bytes; memory is not matched."),
    ],
)
def test_fewer_bytes_are_no_reason_not_to_compare(tmp_path, factor, spread, shown):
    small = made_cell("alt", counts(50, 1.0, min(spread, 0.1)), budget=64, claims=CERTAIN, measured=48.8)
    table = analysed(tmp_path, [small, *learned(factor, 64, spread=spread), *learned(factor, 128, spread=spread)])
    (cell,) = table.cells
    assert (cell.bytes_a, cell.bytes_b) == (48.8, 64)  # of the two with more bytes, the one with fewer
    text = sentence(table, cell)
    assert text.startswith("On p7, alt (48.8 B/v) reduces expansions by")
    assert text.endswith(f"With 48.8 B/v against 64.0 of aac, alt {shown}")
    assert "at 64 B/v" not in text


def test_more_bytes_are_refused_and_the_other_way_round_is_named(tmp_path):
    cells = [alt(64), *learned(budget=64, measured=48.8)]
    table = analysed(tmp_path / "more", cells)
    assert table.cells == ()
    assert table.unpaired == (
        "p7 with a budget of 64 B/v: alt has 64.0 B/v and the closest of aac 48.8, more than 5 % apart; "
        "judge aac, which has fewer bytes, against alt instead",
    )
    assert len(analysed(tmp_path / "fewer", cells, a="aac", b="alt").cells) == 1
    text = markdown(table)
    assert text.startswith(f"- Not compared: {table.unpaired[0]}.\n")
    assert "sd is the sample" not in text
    assert "p-values" not in text


def test_under_the_papers_profile_budgets_pair_and_unlike_bytes_are_told(tmp_path):
    table = analysed(tmp_path, [alt(32, measured=16.0), *learned()], profile="paper/1")
    assert len(table.cells) == 1
    assert "not a comparison at matched memory: p7 at 32 B/v" in markdown(table)


def test_declared_bytes_are_no_match(tmp_path):
    cells = [alt(), *learned(bytes={"nominal_per_vertex": 32, "measured_per_vertex": 32.0, "measured": False})]
    table = analysed(tmp_path, cells)
    assert table.cells == ()
    assert "aac self-reports its memory" in table.unpaired[0]


def test_queries_left_out_and_failed_seeds_are_counted(tmp_path):
    broken = made_cell("aac", counts(6), seed=6, outcome="wrong", reason="a path too long")
    table = analysed(tmp_path, [alt(unreachable=(3, 4)), *learned(), broken])
    (cell,) = table.cells
    assert (cell.effect.left_out, cell.effect.queries, cell.effect.seeds) == (2, QUERIES - 2, 5)
    text = markdown(table)
    assert "did not answer them with every seed: 2 on p7 at 32 B/v." in text
    assert "aac on p7 at 32 B/v, seed 6, is wrong: a path too long" in text
    assert "wrong" in table.outcomes


def test_only_test_rows_that_are_reported_count(tmp_path):
    other = {"params": {"K0": 9}}
    candidates = [made_cell("aac", counts(8, 9.0), seed=seed, split="validation", **other) for seed in SEEDS]
    # Under the retrospective rule candidates have test rows too, and only the chosen one is reported.
    candidates += [made_cell("aac", counts(8, 9.0), seed=seed, role="candidate", **other) for seed in SEEDS]
    table = analysed(tmp_path, [alt(), *learned(), *candidates])
    assert table.cells[0].effect.seeds == 5
    assert [asdict(cell)["effect"] for cell in table.cells] == [
        asdict(cell)["effect"] for cell in analysed(tmp_path / "without", [alt(), *learned()]).cells
    ]


def test_both_deterministic_has_no_seeds_and_says_so(tmp_path):
    other = made_cell("cdh", counts(51, 1.2), claims=CERTAIN)
    table = analysed(tmp_path, [alt(), other], b="cdh")
    assert table.cells[0].effect.level == "queries"
    assert "Both methods are deterministic" in sentence(table, table.cells[0])
    papers = analysed(tmp_path / "paper", [alt(), other], b="cdh", profile="paper/1")
    text = markdown(papers)
    assert "needs at least two paired seeds" in text
    assert "stouffer-absz" not in text  # nothing was combined


def test_graphs_from_files_are_shown_by_name_and_kept_in_full(tmp_path):
    graphs = ("file:/maps/de/city.gr", "file:/maps/fr/city.gr", "file:/maps/hills.gr")
    broken = made_cell("aac", counts(6), seed=6, outcome="error", reason="it broke", graph=graphs[2])
    cells = [cell for graph in graphs[:2] for cell in (dijkstra(graph=graph), alt(graph=graph), *learned(graph=graph))]
    table = analysed(tmp_path, [*cells, alt(graph=graphs[2]), broken])
    text = markdown(table)
    assert "| file:de/city.gr |" in text
    assert "On file:fr/city.gr at 32 B/v" in text
    assert "Not compared: file:hills.gr with a budget of 32 B/v" in text
    assert "Left out: aac on file:hills.gr at 32 B/v" in text
    for graph in graphs:
        assert graph not in text
        assert text.count(graph.removeprefix("file:")) == 1
    facts = records(table)
    assert [cell["graph"] for cell in facts["cells"]] == list(graphs[:2])
    assert graphs[0] in facts["cells"][0]["sentence"]
    assert graphs[2] in facts["unpaired"][0]


def test_equal_rows_are_degenerate(tmp_path):
    same = [made_cell("aac", counts(50), seed=seed) for seed in SEEDS]
    table = analysed(tmp_path, [alt(), *same])
    text = sentence(table, table.cells[0])
    assert "by 0.00 percentage points" in text
    assert "Degenerate: the differences have no spread" in text
    assert "p =" not in text
    assert table.cells[0].tests.per_seed[0].status == "all_zero"


def test_the_family_is_the_table_and_a_lost_difference_is_told(tmp_path):
    cells = [alt(graph=f"g{i}") for i in range(4)]
    for i, factor in enumerate((1.5, 1.06, 1.07, 1.08)):
        cells += learned(factor, graph=f"g{i}", spread=0.2)
    base = [dijkstra(graph=f"g{i}") for i in range(4)]
    table = analysed(tmp_path, [*base, *cells])
    raw = [cell.family_p for cell in table.cells]
    assert raw == [cell.effect.p_difference for cell in table.cells]
    ordered = sorted(raw)
    smallest = next(cell for cell in table.cells if cell.family_p == ordered[0])
    assert smallest.adjusted["holm"] == pytest.approx(4 * ordered[0])
    assert set(smallest.adjusted) == {"holm", "by", "bh"}
    alone = [cell for cell in table.cells if cell.family_p < 0.05 <= cell.adjusted["holm"]]
    assert alone  # else this test tests nothing
    for cell in table.cells:
        assert ("Different in this cell alone" in sentence(table, cell)) == (cell in alone)
    kept = sum(cell.adjusted["holm"] < 0.05 for cell in table.cells)
    assert f"{kept} of 4 p-values (difference) stay below 0.05 after Holm" in markdown(table)


def test_a_p_value_of_zero_stays_below_the_level(tmp_path):
    table = analysed(tmp_path, [alt(), *learned()])
    zero = replace(table.cells[0], family_p=0.0, adjusted={"holm": 0.0})
    assert "1 of 1 p-values (difference) stay below 0.05" in markdown(replace(table, cells=(zero,)))


def test_the_papers_stouffer_comes_with_its_warning(tmp_path):
    text = markdown(analysed(tmp_path, [alt(), *learned()], profile="paper/1"))
    assert "stouffer-absz is the paper's" in text
    assert "36 %" in text
    assert "stouffer-absz" not in markdown(analysed(tmp_path / "new", [alt(), *learned()]))


@pytest.mark.parametrize(
    ("factor", "spread", "words"),
    [
        (1.0, 0.01, "Equivalent: equivalence within 1 percentage point was shown"),
        (1.4, 0.1, "Different (p ="),
        (1.05, 0.01, "but within the margin"),
        (1.0, 1.0, "Inconclusive: neither a difference"),
    ],
)
def test_sentences_say_which_of_the_four_it_is(tmp_path, factor, spread, words):
    quiet = made_cell("alt", counts(50, 1.0, min(spread, 0.1)), claims=CERTAIN)
    table = analysed(tmp_path, [quiet, *learned(factor, spread=spread)])
    text = sentence(table, table.cells[0])
    assert words in text
    assert "reject" not in text


def test_few_seeds_and_other_estimands_are_cautioned(tmp_path):
    text = markdown(analysed(tmp_path, [alt(), *learned(seeds=(1, 2, 3))], estimand="geometric_mean_ratio"))
    assert "8 % with three" in text
    assert "exploratory" in text
    assert "look at ratios too" not in text


def test_without_dijkstra_there_is_no_reduction(tmp_path):
    root = made_study(tmp_path, [alt(), *learned()])
    table = analyse(read_study(root), "alt", "aac", None, None)
    assert "were not compared: reduction_of_means_pp is measured against dijkstra" in markdown(table)
    assert analyse(read_study(root), "alt", "aac", None, "ratio_of_means").cells[0].effect.status == "ok"


def test_which_methods_are_meant(tmp_path):
    root = made_study(tmp_path, [dijkstra(), alt(), *learned()])
    table = analyse(read_study(root), None, None, None, None)
    assert (table.a, table.b) == ("alt", "aac")
    with pytest.raises(UsageError, match="with --a and --b"):
        analyse(read_study(root), "alt", None, None, None)
    with pytest.raises(UsageError, match=r"'cdh'.*dijkstra, alt, aac"):
        analyse(read_study(root), "alt", "cdh", None, None)


def test_records_are_plain_and_carry_the_whole_profile(tmp_path):
    table = analysed(tmp_path, [alt(), *learned()])
    facts = json.loads(json.dumps(records(table), allow_nan=False))
    assert facts["profile"] == json.loads(json.dumps(table.profile.record()))
    assert facts["cells"][0]["effect"]["estimate"] == table.cells[0].effect.estimate
    assert facts["forest"][0]["interval90"] == list(table.cells[0].effect.interval90)
    assert len(facts["profile_digest"]) == 64


@pytest.mark.parametrize("estimand", ["reduction_of_means_pp", "ratio_of_means"])
def test_ends_beyond_every_count_are_unbounded(tmp_path, estimand):
    crosswise = [made_cell("aac", counted, seed=seed) for seed, counted in ((1, [10, 20]), (2, [20, 11]))]
    cells = [made_cell("dijkstra", [90, 90]), made_cell("alt", [15, 15], claims=CERTAIN), *crosswise]
    with np.errstate(over="raise"):  # numpy would print a warning
        table = analyse(read_study(made_study(tmp_path, cells)), "alt", "aac", None, estimand)
    assert table.cells[0].effect.df < 1
    assert "to unbounded; " in sentence(table, table.cells[0])
    assert "to unbounded | " in markdown(table)
    assert not re.search(r"\d{21}|\binf\b", markdown(table))
