"""The suite itself: what is chosen, expected, refused and counted, and how it reads."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from testing.mutants import MUTANTS, mutated, plugin

from aacbench.contract.composite import resolve_parts, standalone
from aacbench.contract.method import Claims, LabelHeuristic, Method, Unsupported
from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.testing import CHECKS, check_method, parametrize_with_checks, zoo
from aacbench.testing.bound_checks import check_paths, permitted
from aacbench.testing.report import EXPECTED, FAILED, NOT_RUN, NOTHING, PASSED, UNEXPECTED, UNSUPPORTED, Report, Result
from aacbench.testing.subject import BrokenError
from aacbench.testing.suite import checks_for

pytest_plugins = ["pytester"]

SIGN = next(mutant for mutant in MUTANTS if mutant.name == "sign-flipped")
DOCUMENT = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")


@pytest.fixture
def wrong(tmp_path):
    """A method with a sign flipped."""
    return mutated(SIGN, tmp_path)


def test_the_zoo_has_what_it_says():
    graphs = zoo()
    assert [name for name, graph in graphs.items() if graph.name != name] == []
    assert graphs["single-vertex"].vertices == 1
    assert graphs["parallel-arcs"].weights.max() < 9  # the heavier of two arcs has gone
    assert (graphs["zero-weights"].weights == 0).any()
    assert graphs["large-weights"].weights.min() > 2**24
    assert graphs["huge-weights"].weights.min() == 1
    assert graphs["huge-weights"].weights.max() > 2**32
    assert not graphs["float-weights"].integral
    assert graphs["float-weights"].symmetric
    assert not graphs["float-one-way"].symmetric
    assert sum(not graph.symmetric for graph in graphs.values()) >= 8
    assert max(graph.vertices for graph in graphs.values()) <= 48


def test_checks_are_chosen_by_claims():
    method = plugin("landmarks")
    humble = replace(method, claims=Claims(admissible=False, consistent=False, deterministic=False))
    left_out = {check.name for check in checks_for(method)} - {check.name for check in checks_for(humble)}
    assert left_out == {"admissible", "consistent", "other-seeds"}
    assert check_method(humble, only=["numbers"]).not_claimed == ("admissible", "consistent", "other-seeds")


def over_budget(context):
    values = np.zeros((context.graph.vertices, 100), dtype=np.int32)
    return LabelHeuristic({"rows": values}, "differential")


@pytest.mark.parametrize("matched", [True, False])
def test_the_budget_is_checked_unless_it_is_exceeded_by_design(matched):
    method = Method("large", "400 bytes a vertex", lambda budget, info, params: params, over_budget)
    report = check_method(replace(method, claims=Claims(matched=matched)), only=["builds", "within-budget"])
    assert [result.check for result in report.results if not result.ok] == (["within-budget"] if matched else [])
    assert ("within-budget" in report.not_claimed) is not matched


def test_a_method_made_of_others_must_have_its_parts_put_in():
    methods = {
        name: loaded.method for name, loaded in load_plugins(environment={"AACBENCH_PLUGINS": ""}).methods().items()
    }
    hybrid = methods["hybrid-double"]
    with pytest.raises(UsageError, match="is made of other methods"):
        check_method(hybrid)
    settings = {"a": "alt", "b": "random-subset"}
    params = resolve_parts(hybrid, settings, methods.__getitem__, resolve)
    filled = standalone(hybrid, params, methods.__getitem__)
    assert (filled.claims.matched, filled.claims.deterministic) == (False, False)
    report = check_method(filled, settings=settings, only=["parameters", "builds", "admissible", "more-budget"])
    assert report.ok, report.text()


@pytest.mark.parametrize(
    ("said", "exactly", "wrong"),
    [(4, True, True), (4, False, True), (5, True, False), (6, True, True), (6, False, False)],
)
def test_a_path_may_cost_less_than_is_said_only_without_a_claim(said, exactly, wrong):
    graph = from_arcs(3, [0, 1], [1, 2], [2, 3])
    answers = SimpleNamespace(cost=np.array([said]), paths=[np.array([0, 1, 2])])
    with pytest.raises(BrokenError) if wrong else nullcontext():
        check_paths(graph, np.array([0]), np.array([2]), answers, "", exactly=exactly)


def test_without_a_claim_of_consistency_every_search_reopens():
    assert {policy.reopen for policy in permitted(Claims(consistent=False))} == {True}
    assert {policy.reopen for policy in permitted(Claims())} == {True, False}
    assert len(permitted(Claims())) == 12


def test_an_expected_failure_passes_with_its_reason(wrong):
    report = check_method(wrong, only=["admissible", "numbers"], expected_failures={"admissible": "known, see notes"})
    assert [result.status for result in report.results] == [PASSED, EXPECTED]
    assert report.ok
    assert "known, see notes" in report.text()
    assert report.summary().endswith("2 of 2 checks ran: 1 passed, 1 failed as expected")


def test_an_expected_failure_that_passes_is_reported(wrong):
    report = check_method(wrong, only=["numbers"], expected_failures={"numbers": "who knows"})
    assert report.result("numbers").status == UNEXPECTED
    assert not report.ok
    assert "it was expected to fail: who knows" in report.text()


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"numbers": " "}, "Give a reason why the check 'numbers'"),
        ({"number": "a slip"}, "'number' is expected to fail, but does not apply"),
    ],
)
def test_expectations_must_make_sense(wrong, expected, sentence):
    with pytest.raises(UsageError, match=sentence):
        check_method(wrong, expected_failures=expected)


def test_an_unknown_check_is_refused_with_those_there_are(wrong):
    with pytest.raises(UsageError, match=r"Unknown check 'speed'; known checks: parameters, builds"):
        check_method(wrong, only=["speed"])


def test_refused_graphs_are_counted_and_shown():
    result = check_method(plugin("forms"), only=["admissible"]).result("admissible")
    assert result.status == PASSED
    assert set(result.graphs) | set(result.unsupported) == set(zoo())
    assert result.unsupported["float-weights"] == "only whole numbers and two-way arcs"


def test_a_method_that_refuses_every_graph_fails():
    def never(budget, info, params):
        return Unsupported("not today")

    method = Method("never", "nothing", never, lambda context: None)
    report = check_method(method, only=["builds", "admissible"])
    assert (report.ok, report.ran) == (False, 1)
    assert report.result("admissible").status == UNSUPPORTED
    assert "the method refuses every graph" in report.text()
    assert f"unsupported on {', '.join(zoo())}: not today" in report.text()


def test_what_cannot_be_built_fails_once_and_the_rest_did_not_run():
    def build(context):
        raise ValueError("no luck")

    report = check_method(Method("unlucky", "nothing", lambda budget, info, params: params, build))
    assert "ValueError: no luck (test_suite.py, line" in report.result("builds").counterexample.sentence
    assert report.result("builds").counterexample.vertices == 1
    assert report.result("admissible").status == NOT_RUN
    assert not report.ok
    assert report.summary() == "unlucky: 3 of 18 checks ran: 2 passed, 1 FAILED; 15 NOT RUN"
    (told,) = [line for line in report.text().splitlines() if "NOT RUN: " in line]
    assert told.startswith("NOT RUN: graph-untouched, zero-at-target, ")
    assert report.text().count("nothing was built, see builds") == 1
    assert "    fails on all\n" in report.text()


def test_a_check_is_counted_once():
    results = [Result(status, status) for status in (PASSED, NOTHING, FAILED, UNSUPPORTED)]
    assert Report("mine", tuple(results)).summary() == (
        "mine: 2 of 3 checks ran: 1 passed, 1 FAILED; 1 nothing to do, 1 unsupported"
    )


def test_refusals_are_grouped_by_reason():
    refused = {"path": "needs 8 bytes", "star": "no floats", "grid": "needs 9.5 bytes", "road": "needs 8 bytes"}
    told = Report("mine", (Result("builds", PASSED, ("cycle",), refused),)).text().splitlines()
    assert [line for line in told if line.startswith("unsupported")] == [
        "unsupported on path, road: needs 8 bytes (with other numbers on grid)",
        "unsupported on star: no floats",
    ]


def test_a_failure_on_some_graphs_names_them():
    some, one = (
        Result("bundle", FAILED, ("path", "star"), failed=("star",)),
        Result("bundle", FAILED, ("path",), failed=("path",)),
    )
    assert [result.lines()[1].strip() for result in (some, one)] == ["fails on star", "fails on path"]


def test_one_graph_that_was_not_built_does_not_hide_that_there_is_nothing_to_do():
    landmarks = plugin("landmarks")

    def build(context):
        if context.graph.vertices == 1:
            raise ValueError("no luck")
        return landmarks.build(context)

    method = replace(landmarks, build=build)
    report = check_method(method, only=["forms-agree"], graphs=[zoo()["single-vertex"], zoo()["path"]])
    assert report.result("forms-agree").status == NOTHING


def test_a_form_given_once_has_nothing_to_agree_with():
    report = check_method(plugin("landmarks"), only=["forms-agree", "numbers"])
    assert report.result("forms-agree").status == NOTHING
    assert (report.ran, report.due) == (1, 1)


def test_a_build_that_no_other_process_finds_must_be_located_or_explained():
    method = plugin("landmarks")
    hidden = replace(method, build=lambda context: method.build(context))
    only, why = ["other-process"], {"other-process": "made on the fly"}
    assert "is not at the top of a module" in check_method(hidden, only=only).text()
    assert not check_method(hidden, only=only).ok
    assert check_method(hidden, only=only, expected_failures=why).ok


def test_pytest_has_a_test_for_each_check(pytester):
    folder = Path(__file__).parent / "plugins"
    pytester.makepyfile(
        f"""
        import sys
        sys.path.insert(0, {str(folder)!r})
        from dataclasses import replace
        import landmarks
        from aacbench.testing import parametrize_with_checks

        (right,) = landmarks.aacbench_methods()
        wrong = replace(right, name="wrong", build=lambda context: None)

        @parametrize_with_checks([right], expected_failures={{"numbers": "who knows"}})
        def test_right(check):
            check()

        @parametrize_with_checks([wrong], expected_failures={{"builds": "a stub so far"}})
        def test_wrong(check):
            check()
        """
    )
    done = pytester.runpytest("-p", "no:cacheprovider", "-k", "builds or numbers or admissible or forms", "-rA")
    done.assert_outcomes(passed=2, failed=1, xfailed=1, skipped=4)
    done.stdout.fnmatch_lines(
        ["*PASSED*test_right*landmarks-admissible*", "*XFAIL*test_wrong*wrong-builds*a stub so far*"]
    )


def test_marks_name_the_method_and_the_check(wrong):
    mark = parametrize_with_checks([wrong]).mark
    assert [case.id for case in mark.args[1]] == [f"landmarks-{check.name}" for check in CHECKS]


@pytest.mark.parametrize("name", ["sign-flipped", "nan-for-unreachable"])
def test_what_the_document_shows_is_what_is_printed(tmp_path, name):
    method = mutated(next(mutant for mutant in MUTANTS if mutant.name == name), tmp_path)
    printed = check_method(method, only=["admissible"]).result("admissible").lines()
    assert "```text\n" + "\n".join(printed) + "\n```" in DOCUMENT


def test_every_option_of_the_command_is_documented():
    from aacbench.cli.check import check

    options = {option for parameter in check.params for option in parameter.opts if option.startswith("--")}
    assert [option for option in options if option not in DOCUMENT] == []


def test_every_check_and_every_graph_is_documented():
    assert [check.name for check in CHECKS if f"| `{check.name}` | {check.summary}" not in DOCUMENT] == []
    assert [name for name in zoo() if f"`{name}`" not in DOCUMENT] == []
