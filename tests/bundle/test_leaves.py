"""The maximum of heuristics: its bound, its counts in every tier, its bytes, and itself again from its arrays."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from author_kernel import table_bound
from bundled import is_the_same_from_its_bundle
from forms import every_form
from hypothesis import given
from hypothesis import strategies as st
from support import EVERY_POLICY, all_pairs, example_count, graphs_to_compile_for, random_bound

from aacbench.bundle.deploy import TIERS, deploy
from aacbench.bundle.evidence import Sample, check_evidence, take_evidence
from aacbench.bundle.inventory import inventory
from aacbench.contract.method import LabelHeuristic, MaxHeuristic, ScalarHeuristic
from aacbench.errors import DisagreementError, UsageError
from aacbench.graphs import from_arcs
from aacbench.labels import label_rows, of_landmarks
from aacbench.search import network, search


def landmarks(net, *chosen):
    """The labels of these landmarks in all forms, always eight bytes wide: every other type would be compiled anew."""
    pool = of_landmarks(net, chosen)
    both = len(chosen) if pool.symmetric else 0
    return every_form(label_rows(pool).astype(net.graph.weights.dtype), both, len(chosen) - both)


def table(graph, seed):
    """An inconsistent bound from a table, with an author's own kernel."""
    return LabelHeuristic({"table": random_bound(graph, seed)}, table_bound)


def small():
    """A symmetric ring with integer weights."""
    ring = np.arange(6)
    tails, heads = np.r_[ring, (ring + 1) % 6], np.r_[(ring + 1) % 6, ring]
    return network(from_arcs(6, tails, heads, [3, 1, 4, 1, 5, 9] * 2))


@pytest.mark.parametrize(("one", "other"), [(0, 0), (0, 2), (2, 3)])
@given(graph=graphs_to_compile_for(max_vertices=8))
@example_count(60)
def test_the_bound_is_the_largest_of_the_parts_in_every_tier(graph, one, other):
    net = network(graph)
    parts = landmarks(net, 0)[one], landmarks(net, graph.vertices - 1)[other]
    whole, alone = deploy(MaxHeuristic(parts), net), [deploy(part, net) for part in parts]
    assert whole.tier == max((part.tier for part in alone), key=TIERS.index)
    for t in range(graph.vertices):
        us = np.arange(graph.vertices)
        assert whole.many(us, t).tolist() == np.maximum(alone[0].many(us, t), alone[1].many(us, t)).tolist()


@given(graphs_to_compile_for(max_vertices=8), st.sampled_from(EVERY_POLICY), st.integers(0, 2**32))
@example_count(60)
def test_compiled_counts_are_those_of_plain_python(graph, policy, seed):
    """With a consistent and an inconsistent part."""
    net = network(graph)
    parts = landmarks(net, 0)[0], table(graph, seed)
    whole, alone = deploy(MaxHeuristic(parts), net), [deploy(part, net) for part in parts]
    assert whole.tier == "compiled"
    sources, targets = all_pairs(graph)
    fast = search(net, whole.searched, sources, targets, policy).columns()
    slow = search(net, lambda u, t: max(part.many([u], t)[0] for part in alone), sources, targets, policy).columns()
    for name, column in fast.items():
        assert np.array_equal(column, slow[name]), name


def test_slower_parts_are_searched_with_the_same_counts():
    net = small()
    sources, targets = all_pairs(net.graph)
    parts = [deploy(landmarks(net, landmark)[0], net) for landmark in (0, 3)]
    wanted = search(net, lambda u, t: max(part.many([u], t)[0] for part in parts), sources, targets).columns()
    for one, other in itertools.product((0, 2, 3), repeat=2):
        deployed = deploy(MaxHeuristic((landmarks(net, 0)[one], landmarks(net, 3)[other])), net)
        if deployed.tier != "compiled":
            found = search(net, deployed.searched, sources, targets).columns()
            assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_a_bound_that_is_not_a_number_does_not_vanish_in_the_maximum():
    graph = from_arcs(3, [0, 1, 1, 2], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0])
    net = network(graph)
    odd, whole = LabelHeuristic({"table": np.full((3, 3), np.nan)}, table_bound), landmarks(net, 0)[0]
    slow = ScalarHeuristic(lambda u, t: float("nan"))
    for pair in ((odd, whole), (whole, odd), (whole, slow), (slow, whole)):
        assert np.isnan(deploy(MaxHeuristic(pair), net).many([0], 2)).all()
    for pair in ((whole, odd), (whole, slow), (slow, whole)):
        with pytest.raises(UsageError, match="not a finite number"):
            search(net, deploy(MaxHeuristic(pair), net).searched, [0], [2])


def test_bytes_add_up_and_arrays_are_named_by_part():
    net = small()
    one, other = landmarks(net, 0)[0], landmarks(net, 3)[2]
    whole = inventory(MaxHeuristic((one, other)), 6)
    assert [array.name for array in whole.arrays] == ["a.rows", "b.rows", "b.columns"]
    assert whole.total_bytes == inventory(one, 6).total_bytes + inventory(other, 6).total_bytes
    assert whole.settings_bytes == inventory(one, 6).settings_bytes == 16
    assert whole.measured
    scalar = ScalarHeuristic(lambda u, t: 0, declared_bytes_per_vertex=2.5)
    partly = inventory(MaxHeuristic((one, scalar)), 6)
    assert (partly.measured, partly.total_bytes) == (False, inventory(one, 6).total_bytes + 15)


def test_the_same_memory_in_two_parts_is_counted_once():
    one = landmarks(small(), 0)[0]
    twice = inventory(MaxHeuristic((one, one)), 6)
    assert [array.same_as for array in twice.arrays] == [None, "a.rows"]
    assert twice.total_bytes == inventory(one, 6).total_bytes + 16


def test_a_maximum_comes_back_from_its_bundle(tmp_path):
    net = small()
    label, own, batch, _ = landmarks(net, 0)
    for pair in ((own, batch), (label, MaxHeuristic((own, landmarks(net, 3)[0])))):
        assert is_the_same_from_its_bundle(tmp_path, MaxHeuristic(pair), net)


def test_forms_are_compared_part_by_part_even_where_the_maximum_hides_it():
    net = small()
    high, low = landmarks(net, 0, 3)[0], LabelHeuristic({"table": np.zeros((6, 6), dtype=np.int64)}, table_bound)
    honest, lying = (MaxHeuristic((high, replace(low, h=h))) for h in (lambda u, t: 0, lambda u, t: -1))
    check_evidence(honest, net, Sample(6), take_evidence(honest, net, Sample(6)))
    with pytest.raises(DisagreementError):
        check_evidence(lying, net, Sample(6), take_evidence(lying, net, Sample(6)))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [((), "1 to 26"), ([None], "a tuple"), ((None,), "not a NoneType")],
)
def test_a_maximum_of_nothing_is_refused(parts, reason):
    for look in (lambda it: inventory(it, 6), lambda it: deploy(it, small())):
        with pytest.raises(UsageError, match=reason):
            look(MaxHeuristic(parts))
