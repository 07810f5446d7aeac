"""Printed beside replayed: what is replayed comes from studies alone, and claims are judged by their rules."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from cli.command import command
from made_studies import PAPER as CHARGED
from made_studies import made_cell, made_study

from aacbench.protocols.paper import read_paper
from aacbench.reports.paper import text, toy
from aacbench.reports.paper.claim_values import printed_values, replayed_values
from aacbench.reports.paper.claims import check
from aacbench.reports.paper.comparison import DIFFERENT, EQUAL, NEAR, compare, results
from aacbench.reports.paper.listing import lines
from aacbench.reports.paper.studies import Shelf
from aacbench.run.layout import cell_id

PAPER = read_paper()
NONROAD = PAPER.exhibit("tab:matched-hybrid")


def cell(label, expanded, **more):
    """A cell of SBM with a mean of so many expansions over four queries."""
    queries = [expanded - 2, expanded, expanded, expanded + 2]
    return made_cell(label, queries, graph="sbm-10k", convention=CHARGED, **more)


def made_nonroad(root, alt=53568, aac=(60000, 61000)):
    """The SBM rows at 32 B/v as a study, in hundredths of the published expansions."""
    cells = [cell("dijkstra", 533000), cell("alt", alt, params={"K": 8}, deterministic=True)]
    cells += [
        cell("aac[K0=0]", count, params={"K0": 32, "m": 8}, seed=seed) for seed, count in zip((1, 2), aac, strict=True)
    ]
    made_study(root / "nonroad" / "sbm-10k", cells, graphs=["sbm-10k"], selection="none")
    return Shelf(PAPER, root)


def at_32(comparisons, method, column="reduction_percent"):
    row = {"graph": "sbm-10k", "method": method, "budget_bytes": 32}
    (found,) = [one for one in comparisons if row.items() <= one.printed.row.items() and one.printed.column == column]
    return found


def test_without_a_study_the_replayed_column_is_empty(tmp_path):
    comparisons = compare(Shelf(PAPER, tmp_path), NONROAD)
    assert len(comparisons) == len(NONROAD.values)
    assert all(one.replayed is None and one.difference is None and not one.result for one in comparisons)
    assert {one.why for one in comparisons if one.printed.row["graph"] == "sbm-10k"} == {"not replayed yet"}


def test_a_value_is_equal_to_the_last_printed_digit(tmp_path):
    found = at_32(compare(made_nonroad(tmp_path), NONROAD), "alt")
    assert found.result == EQUAL
    assert found.replayed.value == pytest.approx(89.9497, abs=1e-3)
    other = at_32(compare(made_nonroad(tmp_path / "other", alt=53700), NONROAD), "alt")
    assert other.result == DIFFERENT
    assert other.why == "no reason known"


def test_a_reason_is_given_only_for_the_values_that_it_explains(tmp_path):
    made = {"graph": "ba-10k", "convention": CHARGED}
    settings = {"K0": 32, "m": 8, "lambda_cov": 0.0}
    label = "aac[K0=32,lambda_uniq=0.1,lambda_cov=0]"
    cells = [made_cell("dijkstra", [1000], **made), made_cell("alt", [200], params={"K": 8}, **made)]
    cells.append(made_cell(label, [150], params=settings, **made))
    made_study(tmp_path / "coverage" / "ba-10k", cells, graphs=["ba-10k"], selection="none")
    rows = compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:coverage-aware-nonroad"))
    why = {
        row.printed.row["method"]: row.why for row in rows if row.result == DIFFERENT and "method" in row.printed.row
    }
    assert why == {
        "alt": "no reason known",
        "aac": "of three seeds in print, which are not named, and of five here",
    }


def test_the_list_shows_the_largest_difference_of_values_without_a_deviation(tmp_path):
    made = {"graph": "ba-10k", "convention": CHARGED}
    cells = [made_cell("dijkstra", [1000], **made), made_cell("alt", [200], params={"K": 8}, **made)]
    made_study(tmp_path / "coverage" / "ba-10k", cells, graphs=["ba-10k"], selection="none")
    (line,) = [one for one in lines(Shelf(PAPER, tmp_path)) if one.label == "tab:coverage-aware-nonroad"]
    assert line.cells()["furthest"] == "9.90 points"


def test_small_probabilities_are_not_shown_as_zero():
    (printed, *_) = [
        value for value in PAPER.exhibit("tab:dimacs-wilcoxon-percell").values if value.text() == "0.000013"
    ]
    assert text.number(1.234e-12, printed) == "1.2e-12"


def test_changing_a_printed_number_changes_the_difference_only(tmp_path):
    shelf = made_nonroad(tmp_path)
    before = at_32(compare(shelf, NONROAD), "alt")
    content = {**before.printed.content, "value": Decimal("88.95")}
    values = [replace(value, content=content) if value is before.printed else value for value in NONROAD.values]
    after = at_32(compare(shelf, replace(NONROAD, values=tuple(values))), "alt")
    assert after.replayed == before.replayed
    assert after.result == DIFFERENT
    assert after.difference == pytest.approx(before.difference + 1)


def test_differences_are_told_in_the_papers_standard_deviations(tmp_path):
    found = at_32(compare(made_nonroad(tmp_path), NONROAD), "aac")
    per_seed = [100 * (1 - count / 533000) for count in (60000, 61000)]
    assert found.replayed.value == pytest.approx(sum(per_seed) / 2)
    assert found.replayed.spread == pytest.approx(abs(per_seed[0] - per_seed[1]) / 2)  # divisor n
    assert found.in_spreads == pytest.approx((found.replayed.value - 88.69) / 0.54)
    assert (found.result, found.why) == (NEAR, "a faithful run has 88.69 +- 0.54")


def test_the_lesser_of_two_searches_is_taken_query_by_query(tmp_path):
    cells = [
        made_cell("dijkstra", [100, 100], graph="sbm-10k", convention=CHARGED),
        made_cell("alt", [10, 40], graph="sbm-10k", convention=CHARGED),
        made_cell("aac[K0=0]", [30, 20], graph="sbm-10k", convention=CHARGED),
    ]
    made_study(tmp_path / "nonroad" / "sbm-10k", cells, graphs=["sbm-10k"])
    found = at_32(compare(Shelf(PAPER, tmp_path), NONROAD), "lesser-of-two")
    assert found.replayed.value == pytest.approx(85)


def valsplit_cells():
    made = {"graph": "dimacs:NY", "convention": CHARGED, "budget": 64}
    yield made_cell("dijkstra", [100], **made)
    yield made_cell("dijkstra", [200], split="validation", seed=9, **made)
    for seed, chosen in ((1, 64), (2, 128)):
        for pool in (64, 128):
            counts = [20 if pool == chosen else 50]
            params = {"K0": pool}
            yield made_cell("aac", counts, split="validation", role="candidate", params=params, seed=seed, **made)
        yield made_cell("aac", [10 * seed], role="chosen", params={"K0": chosen}, seed=seed, **made)


def test_the_halves_of_the_queries_are_told_apart(tmp_path):
    made_study(tmp_path / "valsplit" / "dimacs-NY", list(valsplit_cells()), graphs=["dimacs:NY"])
    row = {"graph": "dimacs:NY", "method": "aac", "budget_bytes": 64}
    found = {
        (one.printed.column, one.printed.row.get("split")): one.replayed
        for one in compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:valsplit"))
        if row.items() <= one.printed.row.items()
    }
    assert found["reduction_percent", "validation"].value == pytest.approx(90)
    assert found["reduction_percent", "test"].value == pytest.approx(85)
    assert found["validation_minus_test_pp", None].value == pytest.approx(5)
    assert found["K0_picks", None].value == (64, 128)


def test_rows_of_all_queries_are_not_taken_from_one_half(tmp_path):
    made = {"graph": "osmnx:manhattan", "convention": CHARGED, "budget": 128}
    cells = [made_cell("dijkstra", [100], **made), made_cell("alt", [10], params={"K": 16}, **made)]
    made_study(tmp_path / "valsplit" / "osmnx-manhattan", cells, graphs=["osmnx:manhattan"])
    rows = compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:osmnx"))
    found = [row.printed for row in rows if row.replayed and row.printed.column == "reduction_percent"]
    assert [(one.row["split"], one.text()) for one in found] == [("test", "91.7")]


def test_wrong_cells_are_shown_and_marked(tmp_path):
    made = {"graph": "dimacs:NY", "convention": CHARGED, "budget": 64}
    closed = made_cell("cdh-paper[reopen=off]", [53], outcome="wrong", params={"arm": "intersection"}, **made)
    made_study(
        tmp_path / "cdh-closed" / "dimacs-NY", [made_cell("dijkstra", [100], **made), closed], graphs=["dimacs:NY"]
    )
    row = {"graph": "dimacs:NY", "arm": "intersection", "budget_bytes": 64}
    comparisons = compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:cdh-reference"))
    (found,) = [one for one in comparisons if row.items() <= one.printed.row.items()]
    assert found.replayed.value == pytest.approx(47)
    assert "1 cells have paths that are too long" in found.why


def test_rows_that_the_paper_names_otherwise_are_found(tmp_path):
    made = {"graph": "dimacs:NY", "convention": CHARGED, "budget": 64}
    parts = [{"method": "aac", "params": {"K0": 32, "m": 16}}, {"method": "alt", "params": {"K": 4}}]
    both = made_cell("hybrid-double[a=aac,b=alt]", [8], params={"parts": parts}, **made)
    made_study(
        tmp_path / "both-at-96" / "dimacs-NY", [made_cell("dijkstra", [100], **made), both], graphs=["dimacs:NY"]
    )
    found = [one for one in compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:hybrid")) if one.replayed]
    assert [(one.printed.row["budget_bytes"], one.replayed.value) for one in found] == [(96, pytest.approx(92))]


def test_a_difference_of_rounded_numbers_may_be_one_unit_off(tmp_path):
    made = {"graph": "dimacs:NY", "budget": 64, "convention": CHARGED}
    forced = made_cell("forced-first-m[K0=32]", [880_300], params={"K0": 32, "m": 16}, **made)  # 91.197, printed 91.20
    aac = [
        made_cell(f"aac[epochs={epochs}]", [count], params={"K0": 32, "m": 16, "epochs": epochs}, **made)
        for epochs, count in ((0, 1_086_600), (50, 1_060_000))  # 89.134, printed 89.13; 89.40, not 89.53
    ]
    cells = [made_cell("dijkstra", [10_000_000], **made), forced, *aac]
    made_study(tmp_path / "drift-road" / "dimacs-NY", cells, graphs=["dimacs:NY"])
    rows = compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:training-drift-road"))
    gaps = [row for row in rows if row.replayed and row.printed.column == "gap_to_ceiling_pp"]
    assert [row.printed.text() for row in gaps] == ["-2.07", "-1.67"]
    assert [row.replayed.value for row in gaps] == pytest.approx([-2.063, -1.797])
    assert [row.result for row in gaps] == [EQUAL, DIFFERENT]


def test_the_modern_column_is_of_its_own_study(tmp_path):
    made = {"graph": "dimacs:NY", "budget": 64}
    twice = made_cell("alt", [5], params={"K": 16}, **made)  # one table serves both directions: twice the landmarks
    cells = [made_cell("dijkstra", [100], **made), twice]
    made_study(tmp_path / "drift-road" / "dimacs-NY-modern", cells, graphs=["dimacs:NY"])
    rows = compare(Shelf(PAPER, tmp_path), PAPER.exhibit("tab:training-drift-road"))
    assert all(row.replayed is None for row in rows)
    assert [row.modern.value for row in rows if row.modern] == pytest.approx([95] * 5)


def test_times_and_the_breakeven_follow_from_timed_cells(tmp_path):
    made = {"graph": "dimacs:COL", "convention": CHARGED, "budget": 64}
    milliseconds = 1_000_000
    aac = {"params": {"K0": 64, "m": 16}, "build": {"seconds": 5, "pool_seconds": 1}, "times": [[2 * milliseconds] * 4]}
    alt = {"params": {"K": 8}, "build": {"seconds": 1, "pool_seconds": 1}, "times": [[3 * milliseconds] * 4]}
    cells = [made_cell("aac[K0=64,m=16]", [1] * 4, **made, **aac), made_cell("alt[K=8]", [1] * 4, **made, **alt)]
    made_study(tmp_path / "times" / "dimacs-COL", cells, graphs=["dimacs:COL"])
    shelf = Shelf(PAPER, tmp_path)
    times = [one.replayed.value for one in compare(shelf, PAPER.exhibit("tab:latency")) if one.replayed]
    assert times == pytest.approx([2, 2, 3, 3])
    (queries,) = [one.replayed.value for one in compare(shelf, PAPER.exhibit("fig:amortized-cost")) if one.replayed]
    assert queries == pytest.approx((6 - 2) / 0.001)


def test_stand_ins_and_companions_are_never_compared(tmp_path):
    made = {"graph": "snap:cit-HepTh", "convention": CHARGED}
    cells = [made_cell("dijkstra", [100], **made), made_cell("alt", [10], **made)]
    made_study(tmp_path / "nonroad" / "snap-cit-HepTh", cells, graphs=["snap:cit-HepTh"])
    shelf = Shelf(PAPER, tmp_path)
    assert results(compare(shelf, NONROAD)) == {}
    (line,) = text.other_rows(shelf.studies(NONROAD.id), [], PAPER.graphs)
    assert line == "not printed: snap:cit-HepTh: alt at 32 B/v 90.00 %."


def test_which_landmarks_were_picked_is_read_from_the_facts_of_the_builds(tmp_path):
    facts = {"forward_labels": 8, "backward_labels": 8, "distinct_landmarks": 11, "both_directions": 4}
    made = {"graph": "dimacs:NY", "budget": 64, "convention": CHARGED}
    build = {"seconds": 1.0, "pool_seconds": 0.0, "facts": facts}
    aac = made_cell("aac[K0=64]", [10], params={"K0": 64, "m": 16}, build=build, **made)
    made_study(tmp_path / "landmarks-road" / "dimacs-NY", [aac], graphs=["dimacs:NY"])
    found = {one.printed.column: one for one in compare(Shelf(PAPER, tmp_path), PAPER.exhibit("fig:landmarks"))}
    assert [found[name].result for name in ("forward_labels", "backward_labels", "distinct_landmarks")] == [EQUAL] * 3
    both = found["landmarks_in_both_directions"]
    assert (both.replayed.value, both.result) == (4, DIFFERENT)


def test_a_study_that_is_not_complete_is_told(tmp_path):
    root = tmp_path / "nonroad" / "ba-10k"
    made_study(root, [made_cell("dijkstra", [100], graph="ba-10k", convention=CHARGED)], graphs=["ba-10k"])
    for cell in root.glob("cells/*/*"):
        cell.rename(tmp_path / "elsewhere")
    (line,) = text.other_rows(Shelf(PAPER, tmp_path).studies(NONROAD.id), [], PAPER.graphs)
    assert line == f"{root}: 1 of 1 cells are missing or damaged; run it again."


def test_the_published_record_stands_in_for_a_missing_replay(tmp_path):
    shelf = Shelf(PAPER, tmp_path)
    tests = {
        (one.printed.row["budget_bytes"], one.printed.column): one
        for one in compare(shelf, PAPER.exhibit("tab:dimacs-wilcoxon-percell"))
        if one.printed.row["graph"] == "dimacs:COL"
    }
    fisher = tests[128, "p_fisher"]
    assert (fisher.replayed, fisher.result) == (None, "equal by the record")
    assert tests[64, "p_fisher"].record is None
    outcome = results(compare(shelf, PAPER.exhibit("prereg-outcome")))
    assert outcome == {"equal by the record": 6}


def test_the_path_of_seven_is_replayed_by_definition(tmp_path):
    comparisons = compare(Shelf(PAPER, tmp_path), PAPER.exhibit("fig:toy-p7"))
    assert results(comparisons) == {EQUAL: 6}
    both = [pair for pair in toy.pairs() if toy.covering_radius(pair) == 2 and not sum(toy.gaps(pair).values())]
    assert (0, 4) in both


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.id)
def test_a_claim_is_judged_on_print_as_the_file_says(claim):
    printed = printed_values(PAPER)
    expected = {"not printed": "not checkable"}.get(claim.on_printed, claim.on_printed)
    assert check(claim, printed, printed).verdict == expected


def test_a_claim_is_judged_on_what_was_replayed(tmp_path):
    claims = {claim.id: claim for claim in PAPER.claims}
    printed, none = printed_values(PAPER), replayed_values(Shelf(PAPER, tmp_path / "none"))
    assert check(claims["half-below-alt"], none, printed).verdict == "not checkable"
    found = check(claims["nonroad-lead"], replayed_values(made_nonroad(tmp_path)), printed)
    assert (found.verdict, found.used, found.of) == ("holds", 1, 6)
    behind = replayed_values(made_nonroad(tmp_path / "behind", aac=(50000, 50000)))
    assert check(claims["nonroad-lead"], behind, printed).verdict == "fails"


def test_the_commands_print_what_there_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made_nonroad(tmp_path / "studies" / "paper")
    assert command("paper") == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert set(PAPER.exhibits) <= set(lines)
    assert "exact" in lines["fig:toy-p7"]
    assert "6 equal" in lines["fig:toy-p7"]
    assert command("paper", "show", "tab:matched-hybrid") == 0
    assert "doubled-column" in capsys.readouterr().out
    assert command("paper", "report", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert {"tab:matched-hybrid", "fig:toy-p7"} <= report.keys()
    assert "tab:valsplit" not in report
    assert command("paper", "report", "tab:matched-hybrid", "--changed") == 0
    assert "a faithful run has 88.69 +- 0.54" in capsys.readouterr().out
    assert command("paper", "claims", "--replayed") == 0
    head, *lines, printed, replayed, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["printed", "replayed", "claim"]
    assert len(lines) == 104
    assert all(f" {claim.id}: {claim.says}" in line for claim, line in zip(PAPER.claims, lines, strict=True))
    assert command("paper", "claims", "--replayed", "--numbers") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix("  remark: ") for line in lines if line.startswith("  remark: ")] == [
        claim.remark for claim in PAPER.claims if claim.remark
    ]
    assert printed == "printed: 66 holds, 20 fails, 18 not checkable."
    assert replayed.startswith("replayed: ")


def test_numbers_of_the_text_never_stand_as_replayed(tmp_path):
    printed, none = printed_values(PAPER), replayed_values(Shelf(PAPER, tmp_path / "none"))
    judged = {claim.id: check(claim, none, printed).verdict for claim in PAPER.claims}
    judged.pop("p7")  # computed by its definition
    by_rule = {claim.id for claim in PAPER.claims if set(claim.exhibits) <= {"fig:toy-p7", "accounting-rule"}}
    assert {verdict for name, verdict in judged.items() if name not in by_rule} == {"not checkable"}
    assert judged["memory-example"] == "not checkable"


@pytest.mark.parametrize(("digests", "independent", "verdict"), [("aaaaa", 100, "fails"), ("abcde", 500, "holds")])
def test_queries_that_seeds_share_are_counted_once(tmp_path, digests, independent, verdict):
    cells = []
    for seed, digest in enumerate(digests):
        _, record, files = made_cell("aac", [5] * 100, graph="sbm-10k", seed=seed)
        record["key"]["query_digests"] = {"test": digest}
        cells.append((cell_id(record["key"]), record, files))
    made_study(tmp_path / "nonroad" / "sbm-10k", cells, graphs=["sbm-10k"], selection="none")
    claim = next(claim for claim in PAPER.claims if claim.id == "500-queries")
    found = check(claim, replayed_values(Shelf(PAPER, tmp_path)), printed_values(PAPER))
    assert (found.verdict, found.numbers) == (verdict, f"independent queries {independent}")


def test_claims_are_chosen_by_exhibit_and_verdict_and_name_their_columns(capsys):
    assert command("paper", "claims", "tab:valsplit", "--verdict", "fails", "--json") == 0
    found = json.loads(capsys.readouterr().out)["printed"]
    wanted = [claim for claim in PAPER.claims if "tab:valsplit" in claim.exhibits]
    assert 0 < len(found) < len(wanted)
    assert {one["verdict"] for one in found} == {"fails"}
    assert {one["claim"] for one in found} <= {claim.id for claim in wanted}
    assert command("paper", "claims", "fig:toy-p7", "--numbers") == 0
    assert (
        "printed: covering_radius: variant=landmarks_2_and_4 2, variant=landmarks_0_and_6 3\n"
        in capsys.readouterr().out
    )


def test_a_difference_that_rounds_to_zero_has_no_sign(tmp_path):
    printed = at_32(compare(Shelf(PAPER, tmp_path), NONROAD), "alt").printed
    assert printed.text() == "89.95 +- 0.00"
    assert text.number(-0.00001, printed) == "0.000"
    assert text.number(-0.01, printed) == "-0.010"


def test_an_unknown_exhibit_is_named_with_the_nearest(capsys):
    assert command("paper", "show", "tab:valspli") == 2
    assert "did you mean 'tab:valsplit'?" in capsys.readouterr().err


def test_a_verdict_on_some_of_the_cells_says_on_how_many(tmp_path):
    made = {"graph": "dimacs:NY", "convention": CHARGED, "budget": 64}
    alt = made_cell("alt", [10], params={"K": 8}, role="chosen", **made)
    cells = [made_cell("dijkstra", [100], **made), alt, *valsplit_cells()]
    made_study(tmp_path / "valsplit" / "dimacs-NY", cells[:2] + cells[3:], graphs=["dimacs:NY"])
    values, printed = replayed_values(Shelf(PAPER, tmp_path)), printed_values(PAPER)
    claims = {claim.id: claim for claim in PAPER.claims}
    found = check(claims["road-gap-64"], values, printed)
    assert 0 < found.used < found.of
    assert f"({found.used} of {found.of})" in text.claims_text({"replayed": [found]}).splitlines()[1]


@pytest.mark.parametrize("name", ["landmarks-ny", "within-sd", "alt-no-variance"])
def test_claims_that_a_replay_cannot_decide_are_not_checkable_on_it(tmp_path, name):
    (claim,) = (claim for claim in PAPER.claims if claim.id == name)
    found = check(claim, replayed_values(Shelf(PAPER, tmp_path)), printed_values(PAPER))
    assert (found.verdict, found.numbers) == ("not checkable", "a replay does not decide it")


def test_a_count_of_cells_is_not_checkable_on_some_of_them():
    printed = printed_values(PAPER)
    some = {
        label: [entry for entry in entries if entry.row.get("graph") == "dimacs:NY"]
        for label, entries in printed.items()
    }
    (claim,) = (claim for claim in PAPER.claims if claim.id == "wilcoxon-10")
    assert check(claim, printed, printed).verdict == "holds"
    assert check(claim, some, printed).verdict == "not checkable"
