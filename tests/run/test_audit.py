"""The audit against all distances of small graphs: it finds every violation, and no other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import graphs, random_bound, true_distances

from aacbench.graphs import from_arcs
from aacbench.run.audit import audit_answers, audit_bounds
from aacbench.search import dijkstra, network


def everywhere(table):
    return lambda us, t: table[np.asarray(us), t]


def audited(graph, table):
    return audit_bounds(network(graph), everywhere(table), np.arange(graph.vertices))


@given(graphs(integral=True), st.integers(0, 9))
def test_an_admissible_bound_is_found_so_and_its_consistency_computed(graph, seed) -> None:
    h = random_bound(graph, seed)
    exact = true_distances(graph)
    audit = audited(graph, h)
    assert audit.broken("admissible") is None
    exceeds = [
        (u, v, t)
        for u, v, w in zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True)
        for t in range(graph.vertices)
        if exact[v, t] >= 0 and h[u, t] > w + h[v, t]  # what cannot reach the target is on no path to it
    ]
    assert audit.consistent == (not exceeds)
    assert audit.violations == {"admissible": 0, "consistent": len(exceeds)}
    if exceeds:
        case = audit.broken("consistent")
        assert (case.u, case.v, case.target) in exceeds


@given(graphs(integral=True), st.data())
def test_one_bound_too_high_is_found_with_its_numbers(graph, data) -> None:
    exact = true_distances(graph).astype(np.int64)
    reachable = np.argwhere(exact >= 0)
    u, t = data.draw(st.sampled_from(reachable.tolist()))
    h = np.maximum(exact, 0)
    h[u, t] += 1
    case = audited(graph, h).broken("admissible")
    assert (case.u, case.target, case.bound, case.limit) == (u, t, exact[u, t] + 1, exact[u, t])
    assert str(exact[u, t]) in case.sentence


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("weight", [3, 2.5])
def test_a_bound_that_is_no_number_is_not_admissible(odd, weight) -> None:
    graph = from_arcs(2, [0, 1], [1, 0], [weight, weight])
    h = np.zeros((2, 2))
    h[0, 1] = odd
    case = audited(graph, h).broken("admissible")
    assert (case.u, case.target) == (0, 1)
    assert "not a finite number" in case.sentence


def test_large_integers_are_compared_exactly() -> None:
    graph = from_arcs(2, [0, 1], [1, 0], [2**60, 2**60])
    h = np.array([[0, 2**60 + 1], [2**60, 0]])
    case = audited(graph, h).broken("admissible")
    assert (case.bound, case.limit) == (2**60 + 1, 2**60)


def test_a_float_bound_on_integer_weights_is_judged_as_it_is_searched() -> None:
    graph = from_arcs(2, [0, 1], [1, 0], [3, 3])
    assert not audited(graph, np.array([[0, 3.9], [3.9, 0]])).counterexamples


def test_each_wrong_answer_counts() -> None:
    graph = from_arcs(3, [0, 1, 1, 2], [1, 0, 2, 1], [2, 2, 5, 5])
    sources, targets = np.array([0, 0, 1]), np.array([1, 2, 2])
    answers = dijkstra(network(graph), sources, targets)
    assert audit_answers(sources, targets, answers, answers.cost) == ({"admissible": 0, "optimal": 0}, [])
    count, cases = audit_answers(sources, targets, answers, answers.cost - np.array([0, 1, 1]))
    assert count == {"admissible": 0, "optimal": 2}
    assert {(case.claim, case.u, case.target, case.bound, case.limit) for case in cases} == {("optimal", 1, 2, 5, 4)}


def test_a_counterexample_tells_the_names_of_its_vertices():
    graph = from_arcs(3, [0, 1], [1, 2], [1, 1], names=np.array(["Bath", "Bern", "Ulm"]))
    table = np.array([[0, 0, 9], [0, 0, 0], [0, 0, 0]])
    audit = audited(graph, table)
    assert audit.broken("admissible").named(graph) == (
        "h(0, 2) = 9 exceeds the distance 2; vertex 0 is 'Bath', 2 is 'Ulm'"
    )
    assert audit.broken("consistent").named(graph).endswith("; vertex 0 is 'Bath', 1 is 'Bern', 2 is 'Ulm'")
    unnamed = from_arcs(3, [0, 1], [1, 2], [1, 1])
    assert audited(unnamed, table).broken("admissible").named(unnamed) == "h(0, 2) = 9 exceeds the distance 2"
