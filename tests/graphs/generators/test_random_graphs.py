"""The paper's random graphs come out to the last digit of its recipe."""

import math

import numpy as np
import pytest

from aacbench.graphs.components import largest
from aacbench.graphs.generators import ba_10k, p7, sbm_10k


@pytest.fixture(scope="module")
def sbm():
    return sbm_10k()


@pytest.fixture(scope="module")
def ba():
    return ba_10k()


def test_sbm_has_the_recorded_arcs_and_weight_sum(sbm):
    assert (sbm.vertices, sbm.arcs) == (10_000, 1_079_192)
    # The published sum was added up in floating point; the exact one, rounded once, ends in 5.
    assert math.fsum(sbm.weights) == 5938569.881091255
    assert float(sbm.weights.sum()) == pytest.approx(5938569.881091254, rel=1e-15)


def test_sbm_weights_follow_the_order_of_networkx_edges(sbm):
    first = np.random.RandomState(42).uniform(1, 10, size=3)
    assert sbm.indices[:3].tolist() == [2, 10, 13]
    assert np.array_equal(sbm.weights[:3], first)


def test_ba_has_the_recorded_arcs_and_weight_sum(ba):
    assert (ba.vertices, ba.arcs) == (10_000, 99_950)
    assert math.fsum(ba.weights) == 548689.0583542984


@pytest.mark.parametrize("name", ["sbm", "ba"])
def test_both_are_undirected_and_connected(name, request):
    graph = request.getfixturevalue(name)
    assert graph.symmetric
    assert not graph.declared_directed
    assert not graph.integral
    assert len(largest(graph)) == graph.vertices


def test_p7_is_the_path_on_seven_vertices():
    graph = p7()
    assert [(int(a), int(b)) for a, b in zip(graph.sources, graph.indices, strict=True) if a < b] == [
        (v, v + 1) for v in range(6)
    ]
    assert graph.symmetric
    assert not graph.declared_directed
    assert graph.integral
    assert set(graph.weights.tolist()) == {1}
