"""A certificate proves a shortest path without a search, and a changed one is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.bundle.deploy import deploy
from aacbench.contract.method import LabelHeuristic
from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.labels import farthest_points, subset
from aacbench.maps.atlas import atlas
from aacbench.search.certificate import certify, verify
from aacbench.search.networks import network


def certified(seed, count=2, source=3, target=None, sides=6):
    costs = np.random.default_rng(seed).choice([1, 2, 5, 9], (2, sides, sides))
    net = network(atlas(costs))
    pool = farthest_points(net, count)
    deployed = deploy(subset(net, pool, range(count)), net)
    end = sides * sides - 2 if target is None else target
    return net.graph, certify(net, deployed.searched, deployed.many, source, end)


@given(st.integers(0, 10**6), st.integers(0, 34), st.integers(0, 34))
def test_every_search_with_a_consistent_bound_proves_its_path(seed, source, target):
    graph, found = certified(seed, source=source, target=target if target != source else 35)
    assert verify(found, graph) == ""


def test_one_raised_potential_is_refused():
    graph, found = certified(1)
    refused = 0
    for vertex in range(36):
        raised = found.potential.copy()
        raised[vertex] += 1000
        refused += bool(verify(replace(found, potential=raised), graph))
    assert refused == 36


def test_another_path_or_cost_is_refused():
    graph, found = certified(2)
    assert "costs" in verify(replace(found, cost=found.cost - 1), graph)
    assert "no arc" in verify(replace(found, path=found.path[[0, -1]]), graph)
    longer = np.concatenate([[found.path[0], found.path[1], found.path[0]], found.path[1:]])
    total = found.cost + 2 * int(np.diff(found.potential[found.path[:2]])[0])
    assert verify(replace(found, path=longer, cost=total), graph) != ""
    assert "not 0 at the source" in verify(replace(found, potential=found.potential + 1), graph)


def test_a_bound_that_is_too_high_proves_nothing():
    net = network(from_arcs(3, [0, 1, 0, 1, 2, 2], [1, 2, 2, 0, 1, 0], [1, 1, 5, 1, 1, 5]))
    rows = np.array([[0], [9], [0]], dtype=np.int32)  # h(1, 2) = 9 hides the way over 1
    deployed = deploy(LabelHeuristic({"rows": rows}, "differential", {"both": 1}), net)
    found = certify(net, deployed.searched, deployed.many, 0, 2)
    assert found.cost == 5
    assert verify(found, net.graph) != ""


def test_what_has_no_path_or_no_integers_is_refused():
    net = network(from_arcs(3, [0, 1], [1, 0], [1, 1]))
    deployed = deploy(LabelHeuristic({"rows": np.zeros((3, 0), dtype=np.int32)}, "differential"), net)
    with pytest.raises(UsageError, match="no path from 0 to 2"):
        certify(net, deployed.searched, deployed.many, 0, 2)
    floats = network(from_arcs(2, [0, 1], [1, 0], [1.5, 1.5]))
    with pytest.raises(UsageError, match="integer weights"):
        certify(floats, deployed.searched, deployed.many, 0, 1)
