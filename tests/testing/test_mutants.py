"""Correct plugins pass the suite, and each small defect fails the check that is named beside it."""

import pytest
from testing.mutants import MUTANTS, mutated, plugin

from aacbench.contract.method import Method, ScalarHeuristic
from aacbench.graphs import from_arcs
from aacbench.search import python_tier
from aacbench.testing import CHECKS, check_method
from aacbench.testing.graph_case import GraphCase
from aacbench.testing.report import FAILED
from aacbench.testing.runners import subject_of
from aacbench.testing.suite import run_check

(ADMISSIBLE,) = [check for check in CHECKS if check.name == "admissible"]


@pytest.mark.parametrize("name", ["landmarks", "pivots", "forms"])
def test_what_is_right_passes(name):
    report = check_method(plugin(name))
    assert report.ok, report.text()
    assert report.ran == report.due >= 14


SLOW = ("nothing-late-in-a-large-batch",)  # its counterexample takes long to make small


def marked(mutant):
    return pytest.param(mutant, id=mutant.name, marks=[pytest.mark.exhaustive] if mutant.name in SLOW else [])


@pytest.mark.parametrize("mutant", [marked(mutant) for mutant in MUTANTS])
def test_each_wrong_is_seen_by_the_check_named(mutant, tmp_path):
    report = check_method(mutated(mutant, tmp_path), only=[mutant.check])
    (result,) = report.results
    assert result.status == FAILED, report.text()
    assert result.counterexample is not None or result.unsupported, report.text()


def test_every_check_has_a_mutant_that_only_it_is_asked_about():
    tried = {mutant.check for mutant in MUTANTS} | {"shortest-paths"}  # the mutant of the search, below
    assert tried == {check.name for check in CHECKS}


# The search, not the heuristic: BPMX with the weight of the arc itself where that of its reverse belongs.


def wrong_lift(successors, h, h_of, u):
    """As the right one, but w(u, v) for w(v, u), and so also where there is no way back."""
    ahead = successors(u)
    raised = [h_of(u)] + [h_of(v) - weight for v, weight in ahead]
    if ahead:
        raised.append(min(h_of(v) + weight for v, weight in ahead))
    h[u] = max(raised)
    for v, weight in ahead:
        h[v] = max(h[v], h[u] - weight)


def exact_distance():
    """h = d, in plain Python, which is searched by the plain-Python tier."""

    def build(context):
        exact = GraphCase(context.graph).exact.clip(0)
        return ScalarHeuristic(lambda u, t: exact[u, t].item())

    return Method("exact", "the distance itself", lambda budget, info, params: params, build)


def test_bpmx_with_the_wrong_weight_is_seen_by_shortest_paths(monkeypatch):
    assert check_method(exact_distance(), only=["shortest-paths"]).ok
    monkeypatch.setattr(python_tier, "_lift", wrong_lift)
    (result,) = check_method(exact_distance(), only=["shortest-paths"]).results
    assert result.status == FAILED
    assert "bpmx=on" in result.counterexample.sentence


# Counterexamples


def test_a_counterexample_is_small_and_can_be_made_again(tmp_path):
    swapped = next(mutant for mutant in MUTANTS if mutant.name == "pivots-swapped")
    method = mutated(swapped, tmp_path)
    case = check_method(method, only=["admissible"]).result("admissible").counterexample
    graph = eval(case.code, {"from_arcs": from_arcs})
    assert (graph.vertices, graph.arcs) == (case.vertices, len(case.arcs))
    assert graph.vertices <= 4
    assert not graph.symmetric
    again = run_check(subject_of(method, graphs=[graph]), ADMISSIBLE)
    assert again.counterexample.sentence == case.sentence
