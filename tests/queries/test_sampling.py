"""Sampling: the recipes to the digit, against literal `RandomState.choice` loops."""

import numpy as np
import pytest

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.queries import sampling
from aacbench.queries.sampling import sample


def pairs(queries):
    return list(zip(queries.sources.tolist(), queries.targets.tolist(), strict=True))


def arcless(vertices):
    return from_arcs(vertices, [], [], [])


def wheel(rim):
    """A cycle with a hub joined to half of it, so that degrees differ."""
    around = np.arange(rim)
    spokes = around[::2]
    tails = np.concatenate([around, spokes, np.full(len(spokes), rim)])
    heads = np.concatenate([(around + 1) % rim, np.full(len(spokes), rim), spokes])
    return from_arcs(rim + 1, tails, heads, np.ones(len(tails), dtype=np.int64), name="wheel")


def literal(count, end):
    """The recipe as written: two ends at a time, kept where they differ."""
    kept = []
    while len(kept) < count:
        s, t = int(end()), int(end())
        if s != t:
            kept.append((s, t))
    return kept


@pytest.mark.parametrize(
    ("vertices", "first"),
    [
        (264_346, [(121958, 146867), (131932, 259178), (119879, 110268), (207892, 54886)]),
        (10_000, [(7270, 860), (5390, 5191), (5734, 6265), (466, 4426), (5578, 8322)]),
    ],
)
def test_uniform_starts_as_published(vertices, first):
    drawn = sample(arcless(vertices), 100, component=np.arange(vertices))
    assert pairs(drawn)[: len(first)] == first


@pytest.mark.parametrize("size", [2, 3, 7, 256, 1000])
def test_uniform_is_the_literal_choice_loop(size):
    component = np.arange(size) * 3 + 1
    state = np.random.RandomState(9)
    wanted = literal(300, lambda: state.choice(component))
    assert pairs(sample(arcless(3 * size), 300, seed=9, component=component)) == wanted


@pytest.mark.parametrize("size", [8, 40, 1000])
def test_hotspot_is_the_literal_choice_loop(size):
    component = np.arange(size) + 5
    state = np.random.RandomState(3)
    hotspots = state.choice(component, 8, replace=False)
    wanted = literal(300, lambda: state.choice(hotspots if state.rand() < 0.90 else component))
    drawn = sample(arcless(size + 5), 300, mode="hotspot", seed=3, component=component)
    assert pairs(drawn) == wanted


def test_powerlaw_is_the_literal_choice_loop_with_out_plus_in_degrees():
    one_way = np.arange(12), np.full(12, 20)
    graph = wheel(30)
    graph = from_arcs(31, np.r_[graph.sources, one_way[0]], np.r_[graph.indices, one_way[1]], np.ones(graph.arcs + 12))
    component = np.arange(3, 31)
    degrees = [sum((graph.sources == v) | (graph.indices == v)) for v in component]
    chance = np.maximum(degrees, 1) ** 1.5
    chance = chance / chance.sum()
    state = np.random.RandomState(5)
    wanted = literal(300, lambda: state.choice(component, p=chance))
    assert pairs(sample(graph, 300, mode="powerlaw", seed=5, component=component)) == wanted


def test_powerlaw_gives_a_vertex_without_arcs_the_chance_of_degree_one():
    graph = from_arcs(4, [0], [1], [1])
    state = np.random.RandomState(1)
    wanted = literal(50, lambda: state.choice(4, p=[0.25] * 4))
    assert pairs(sample(graph, 50, mode="powerlaw", seed=1, component=range(4))) == wanted


@pytest.mark.parametrize("mode", ["uniform", "hotspot", "powerlaw"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_shorter_set_begins_a_longer_one(mode, strict):
    long = sample(wheel(30), 200, mode=mode, strict=strict)
    short = sample(wheel(30), 60, mode=mode, strict=strict)
    assert pairs(long)[:60] == pairs(short)
    assert (long.mode, long.seed, long.name) == (mode, 42, "wheel")


@pytest.mark.parametrize("mode", ["uniform", "hotspot", "powerlaw"])
def test_strict_sets_are_the_plain_stream_without_repeats(mode):
    plain = sample(wheel(9), 5000, mode=mode, seed=2)
    distinct = list(dict.fromkeys(pairs(plain)))
    assert len(distinct) < 5000
    assert pairs(sample(wheel(9), 40, mode=mode, seed=2, strict=True)) == distinct[:40]


def test_strict_can_give_every_pair_there_is_and_no_more():
    graph = arcless(5)
    drawn = sample(graph, 20, component=range(5), strict=True)
    assert sorted(pairs(drawn)) == [(s, t) for s in range(5) for t in range(5) if s != t]
    with pytest.raises(UsageError, match="5 vertices has 20 distinct queries, not 21"):
        sample(graph, 21, component=range(5), strict=True)


def test_the_default_component_is_the_largest_strong_one():
    graph = from_arcs(6, [0, 1, 2, 3, 4, 5], [1, 0, 3, 4, 2, 0], [1] * 6)
    drawn = sample(graph, 50)
    assert set(drawn.sources.tolist()) == {2, 3, 4} == set(drawn.targets.tolist())


def test_a_component_counts_as_a_set():
    given = sample(arcless(9), 30, component=[8, 2, 5, 2])
    assert pairs(given) == pairs(sample(arcless(9), 30, component=[2, 5, 8]))


def test_no_queries_are_a_set_too():
    assert len(sample(wheel(9), 0)) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "zipf"}, "Unknown query mode 'zipf'; choose one of hotspot, powerlaw, uniform"),
        ({"count": -1}, "has from 0 to 10000000 queries, not -1"),
        ({"seed": -1}, "seed must lie between 0 and"),
        ({"seed": 2**32}, "seed must lie between 0 and"),
        ({"component": [4]}, "at least 2 vertices, but this one has 1"),
        ({"component": []}, "at least 2 vertices, but this one has 0"),
        ({"component": [0, 10]}, r"within 0\.\.9"),
        ({"component": [-1, 1]}, r"within 0\.\.9"),
        ({"component": [0.0, 1.0]}, "whole numbers"),
        ({"mode": "hotspot", "component": range(7)}, "at least 8 vertices, but the component has 7"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        sample(**{"graph": wheel(9), "count": 5, **changes})


def test_a_stream_that_never_gives_a_query_ends(monkeypatch):
    monkeypatch.setattr(sampling, "DRAWS_PER_QUERY", 10)
    monkeypatch.setitem(sampling.MODES, "stuck", lambda state, graph, vertices: lambda n: np.zeros((n, 2), np.int64))
    with pytest.raises(UsageError, match="only 0 of 5 queries with different ends"):
        sample(wheel(9), 5, mode="stuck")


def test_a_graph_without_a_strong_component_is_named_with_what_to_do():
    one_way = from_arcs(3, [0, 1], [1, 2], [1, 1], name="ow")
    told = r"^Graph 'ow': queries are drawn from the largest strong component .* but has 1; .* \?directed=no .*\.$"
    with pytest.raises(UsageError, match=told):
        sample(one_way, 1)
