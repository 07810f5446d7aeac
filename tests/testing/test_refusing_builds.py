"""A `build` that returns Unsupported counts as a `fit` that does."""

import numpy as np
import pytest

from aacbench.contract.method import Claims, LabelHeuristic, Method, Unsupported
from aacbench.testing import check_method, zoo
from aacbench.testing.report import FAILED, PASSED, UNSUPPORTED

CHECKS = ("builds", "directed", "admissible", "within-budget", "more-budget", "shortest-paths")


def fit(budget, info, params):
    return {**params, "room": budget.bytes_per_vertex}


def report(refused, *, only=CHECKS, claims=None):
    """Check a bound of zero that is refused for such graphs and budgets while it is built."""

    def build(context):
        if refused(context.graph, context.params["room"]):
            return Unsupported("not this one", bytes_needed=12)
        return LabelHeuristic({"rows": np.zeros((context.graph.vertices, 1), dtype=np.int32)}, "differential")

    return check_method(Method("late", "refuses late", fit, build, claims or Claims()), only=only)


def test_a_graph_that_is_refused_is_unsupported_and_the_others_are_checked():
    found = report(lambda graph, room: not graph.integral)
    assert found.ok, found.text()
    assert {result.status for result in found.results} == {PASSED}
    reason = found.result("admissible").unsupported["float-weights"]
    vertices = zoo()["float-weights"].vertices
    assert reason == f"not this one; it would need 12 bytes ({12 / vertices:.1f} B/v), the budget is 32 B/v"


def test_a_method_must_not_refuse_every_graph():
    found = report(lambda graph, room: True)
    assert found.result("builds").status == FAILED
    assert "refuses every graph" in found.text()
    assert found.result("more-budget").status == UNSUPPORTED


def test_a_larger_budget_must_not_be_refused():
    found = report(lambda graph, room: room > 32, only=("builds", "more-budget"))
    assert list(found.failures()) == ["more-budget"]
    assert "32 bytes per vertex are supported, but 64 are not: not this one" in found.text()


@pytest.mark.parametrize("claimed", [True, False])
def test_one_way_arcs_may_be_refused_by_build_unless_they_are_claimed(claimed):
    found = report(lambda graph, room: not graph.symmetric, only=("directed",), claims=Claims(directed=claimed))
    assert found.result("directed").status == (FAILED if claimed else PASSED)
    assert found.ok or "one-way arcs are refused: not this one" in found.text()
