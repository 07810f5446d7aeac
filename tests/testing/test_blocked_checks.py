"""One defect is one failure: a check that is blocked by a defect which another check reports does not fail."""

import numpy as np
import pytest
from numba import njit
from testing.mutants import MUTANTS, PLUGINS, mutated, plugin

from aacbench.contract.method import BatchHeuristic, Claims, LabelHeuristic, Method, ScalarHeuristic
from aacbench.graphs import from_arcs
from aacbench.testing import check_method
from aacbench.testing.report import EXPECTED, FAILED, NOT_RUN, NOTHING, PASSED
from aacbench.testing.runners import subject_of
from aacbench.testing.suite import checks_for, run_check

# Named as graphs of the zoo on which every check runs.
RING = from_arcs(3, [0, 1, 2], [1, 2, 0], [2, 2, 2], name="path")
PAIR_AND_ONE = from_arcs(3, [0, 1], [1, 0], [2, 2], name="components")  # vertex 2 is on its own


@njit
def wild_kernel(labels, u, t):
    return labels.wild[u, t]


def wild_many(arrays, us, t):
    return arrays["wild"][us, t]


def shy_many(arrays, us, t):
    if not np.isfinite(arrays["wild"][us, t]).all():
        raise ValueError("not this one")
    return arrays["wild"][us, t]


def wild(*pairs, value=np.nan, form="compiled"):
    """A heuristic that is 0 but for a few pairs."""

    def build(context):
        table = np.zeros((context.graph.vertices,) * 2)
        for pair in pairs:
            table[pair] = value
        forms = {
            "compiled": lambda: LabelHeuristic({"wild": table}, wild_kernel),
            "batch": lambda: BatchHeuristic({"wild": table}, wild_many),
            "raising": lambda: BatchHeuristic({"wild": table}, shy_many),
            "scalar": lambda: ScalarHeuristic(lambda u, t: table[u, t].item()),
        }
        return forms[form]()

    return Method("wild", "0 but for a few pairs", lambda budget, info, params: params, build, Claims(matched=False))


def results(method, *graphs, expected=None):
    subject = subject_of(method, budgets=(32,), graphs=graphs)
    # What is made here has no name by which another process could find it.
    wanted = [check for check in checks_for(method) if check.name != "other-process"]
    return {check.name: run_check(subject, check, (expected or {}).get(check.name)) for check in wanted}


def failed(found):
    return [name for name, result in found.items() if result.status == FAILED]


FORMS = ["compiled", "batch", "raising", "scalar"]


@pytest.mark.parametrize("form", FORMS)
def test_nan_where_there_is_a_way_fails_numbers_alone(form):
    found = results(wild((1, 2), form=form), RING)
    assert failed(found) == ["numbers"]
    assert "h(1, 2)" in found["numbers"].counterexample.sentence or form == "raising"
    assert (found["admissible"].status, found["admissible"].ok) == (NOT_RUN, False)
    assert found["admissible"].lines()[-1].startswith("    not run on path, see numbers: ")
    assert {found[name].status for name in ("builds", "graph-untouched", "parameters")} == {PASSED}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_where_there_is_no_way_fails_unreachable_alone(form, value):
    found = results(wild((0, 2), value=value, form=form), PAIR_AND_ONE)
    assert failed(found) == ["unreachable"]
    assert found["numbers"].status == PASSED
    assert found["shortest-paths"].reason.startswith("not run on components, see unreachable: ")


@pytest.mark.parametrize("form", ["compiled", "batch", "scalar"])
def test_more_than_a_search_on_whole_numbers_can_hold_is_no_number(form):
    assert failed(results(wild((0, 2), value=1e300, form=form), PAIR_AND_ONE)) == ["unreachable"]
    assert failed(results(wild((1, 2), value=1e300, form=form), RING)) == ["numbers"]


def test_a_first_bound_that_is_no_number_is_no_failure_to_build():
    found = results(wild((0, 0)), RING)
    assert failed(found) == ["numbers"]
    assert found["builds"].reason.startswith("not run on path, see numbers: h(0, 0) is not a finite number")


def test_what_a_heuristic_raises_is_told_with_its_place():
    sentence = results(wild((1, 2), form="raising"), RING)["numbers"].counterexample.sentence
    assert sentence.startswith("ValueError: not this one (test_blocked_checks.py, line ")


def test_a_check_that_is_held_up_on_one_graph_did_not_pass_on_the_others():
    found = results(wild((0, 2)), RING, PAIR_AND_ONE)
    assert found["numbers"].status == FAILED  # on the ring there is a way
    assert results(wild((0, 2)), PAIR_AND_ONE)["numbers"].status == PASSED
    assert found["admissible"].status == NOT_RUN


def test_a_check_that_is_held_up_may_be_expected_not_to_pass():
    found = results(wild((1, 2)), RING, expected={"admissible": "known, see notes"})
    assert found["admissible"].status == EXPECTED
    assert found["admissible"].reason.endswith(" (expected to fail: known, see notes)")


def mutant(name, folder):
    return mutated(next(each for each in MUTANTS if each.name == name), folder)


def test_what_cannot_be_built_at_a_budget_that_only_one_check_looks_at_is_told_by_it(tmp_path):
    text = (PLUGINS / "landmarks.py").read_text(encoding="utf-8")
    old = "    landmarks = context"
    assert text.count(old) == 1
    (tmp_path / "shy.py").write_text(text.replace(old, "    assert count < 4\n" + old), encoding="utf-8")
    report = check_method(plugin("shy", tmp_path), only=["builds", "within-budget", "more-budget"])
    assert list(report.failures()) == ["within-budget", "more-budget"]
    assert "at 64 bytes per vertex, with seed 1: AssertionError" in report.text()


def test_a_failure_that_comes_and_goes_is_told_as_it_was_met_first():
    moods = iter([ValueError("a bad day")])

    def fit(budget, info, params):
        if mood := next(moods, None):
            raise mood
        return params

    (result,) = check_method(Method("moody", "0", fit, wild().build), only=["parameters"]).results
    assert result.status == FAILED
    assert result.counterexample.sentence.startswith("ValueError: a bad day (test_blocked_checks.py, line ")
    assert result.counterexample.sentence.endswith("; when tried again, it passed")


def test_a_graph_of_the_zoo_is_not_said_to_be_made_smaller(tmp_path):
    hashes, sign = (mutant(name, tmp_path) for name in ("order-of-hashes", "sign-flipped"))
    (asked_elsewhere,) = check_method(hashes, only=["other-process"]).results
    assert f"smallest graph found ({asked_elsewhere.failed[0]}): " in "\n".join(asked_elsewhere.lines())
    (admissible,) = check_method(sign, only=["admissible"]).results
    assert f"smallest graph found ({admissible.failed[0]}, made smaller): " in "\n".join(admissible.lines())


def test_what_is_0_everywhere_passes():
    assert {result.status for result in results(wild(form="batch"), RING).values()} == {PASSED, NOTHING}
