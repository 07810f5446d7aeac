"""Traffic: weights only rise, symmetric graphs stay symmetric, and every spelling has one canonical form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import graphs

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.load import load
from aacbench.graphs.traffic import Traffic, parse_traffic, raised_weights, rise

SHARES = st.floats(0, 1, exclude_min=True)
EVERY = st.builds(
    Traffic,
    mode=st.sampled_from(["none", "arcs", "regions", "network"]),
    share=SHARES,
    factor=st.floats(1, 10),
    hops=st.integers(1, 5),
    draw=st.sampled_from(["random", "same"]),
    seed=st.integers(0, 2**32 - 1),
)


@given(graphs(), EVERY)
def test_weights_rise_and_keep_their_type_and_symmetry(graph, traffic):
    raised = raised_weights(graph, traffic)
    assert raised.dtype == graph.weights.dtype
    assert (raised >= graph.weights).all()
    ceiling = graph.weights * traffic.factor + graph.integral
    assert (raised <= ceiling * (1 + 1e-12)).all()
    after = type(graph)(indptr=graph.indptr, indices=graph.indices, weights=raised)
    assert after.symmetric >= graph.symmetric


@given(graphs(), SHARES, SHARES, st.sampled_from(["arcs", "regions"]), st.integers(0, 9))
def test_a_smaller_share_is_part_of_a_larger_one(graph, one, other, mode, seed):
    less, more = sorted((one, other))
    small, large = (raised_weights(graph, Traffic(mode=mode, share=share, seed=seed)) for share in (less, more))
    changed = small != graph.weights
    assert (small[changed] == large[changed]).all()


@pytest.mark.parametrize("mode", ["arcs", "regions"])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_a_share_of_the_arcs_is_raised(mode, share):
    graph = load("road-500")
    raised = raised_weights(graph, Traffic(mode=mode, share=share, factor=3, draw="same"))
    assert (raised > graph.weights).sum() == round(share * graph.arcs)
    found = rise(graph.weights, raised)
    assert found["arcs_raised"] == round(share * graph.arcs)
    assert found["growth"] == pytest.approx(raised.sum() / graph.weights.sum() - 1)


def test_regions_are_connected_and_raised_as_one():
    # A line of 50 vertices: with two hops, the first region is the four edges around its centre.
    tails = np.arange(49)
    graph = from_arcs(50, [*tails, *tails + 1], [*tails + 1, *tails], np.full(98, 1000))
    raised = raised_weights(graph, Traffic(mode="regions", share=4 / 49, hops=2, seed=3))
    arcs = np.flatnonzero(raised > graph.weights)
    ends = np.unique([graph.sources[arcs], graph.indices[arcs]])
    assert len(arcs) == 8
    assert ends.max() - ends.min() == 4
    assert len(np.unique(raised[arcs])) == 1


def test_the_whole_network_by_one_factor_or_by_many():
    graph = load("road-500")
    same = raised_weights(graph, parse_traffic("network[factor=2,draw=same]"))
    assert np.array_equal(same, 2 * graph.weights)
    ratio = raised_weights(graph, parse_traffic("network[factor=2]")) / graph.weights
    assert 1 <= ratio.min() < 1.1
    assert 1.9 < ratio.max() <= 2.1


def test_integers_are_rounded_up():
    graph = from_arcs(2, [0], [1], [10])
    assert raised_weights(graph, parse_traffic("network[factor=1.01,draw=same]")).tolist() == [11]


@given(EVERY)
def test_the_name_reads_back(traffic):
    assert parse_traffic(traffic.name).name == traffic.name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("arcs", "arcs[share=0.1,factor=3]"),
        (" arcs[factor=3.0, share=.05] ", "arcs[share=0.05,factor=3]"),
        ("network[draw=same,factor=1.5]", "network[factor=1.5,draw=same]"),
        ("regions[hops=10,seed=42]", "regions[share=0.1,factor=3]"),
        ("none", "none"),
    ],
)
def test_one_spelling(text, name):
    assert parse_traffic(text).name == name


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("arcs[factor=0.5]", "a distance that became shorter"),
        ("arcs[factor=nan]", "between 1 and 1000"),
        ("arcs[share=0]", "above 0 and at most 1"),
        ("arcs[share=1.1]", "above 0 and at most 1"),
        ("arcs[hops=3]", "no setting 'hops'; it has share, factor, draw, seed"),
        ("none[seed=1]", "it has none"),
        ("regions[hops=0]", "whole number between 1"),
        ("network[draw=any]", "random or same"),
        ("arcs[share=0.1,share=0.2]", "one value for share"),
        ("arcs[share]", "one value for share"),
        ("arc[share=0.1]", "did you mean 'arcs'?"),
        ("arcs[share=0.1", "is no traffic"),
        ("", "is no traffic"),
    ],
)
def test_what_is_refused(text, part):
    with pytest.raises(UsageError) as refused:
        parse_traffic(text)
    assert part in str(refused.value)
