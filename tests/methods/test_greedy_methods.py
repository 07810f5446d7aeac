"""Greedy methods: sound bounds, the queries they may see, their selection, and the paper's oracle."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from method_builds import NEW_YORK, assert_sound, blocks, built, expanded, fitted, method, road
from support import all_pairs, example_count, graphs

from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import MEASURED, PAPER, Budget, GraphInfo
from aacbench.errors import UsageError
from aacbench.labels import select, subset
from aacbench.labels.graph_info import graph_info
from aacbench.labels.tables import greedy, label_bounds
from aacbench.queries.record import QuerySet
from aacbench.queries.sampling import sample
from aacbench.search import network

ROAD = GraphInfo("road", 1000, 3000, True, False, True, 4)


@example_count(150)
@given(
    st.sampled_from(["greedy-train", "greedy-max"]),
    graphs(max_vertices=9),
    st.sampled_from(["auto", "exact", "fixed"]),
    st.sampled_from([4, 12, 40]),
    st.sampled_from([MEASURED, PAPER]),
)
def test_every_bound_is_admissible_and_consistent(tmp_path_factory, name, graph, labels, size, convention):
    net, (sources, targets) = network(graph), all_pairs(graph)
    pairs = QuerySet(sources=sources, targets=targets)
    folder, budget = tmp_path_factory.mktemp("pools"), Budget(size, convention)
    heuristic = built(name, net, folder, budget, oracle=pairs, labels=labels, K0=6)
    if heuristic is not None:
        assert_sound(heuristic, net)


def test_labels_of_directed_graphs_are_counted_one_by_one_and_landmarks_in_pairs():
    for size, labels in ((4, 1), (20, 5), (32, 8)):
        assert fitted("greedy-train", ROAD, Budget(size))["m"] == labels
    assert fitted("greedy-max", ROAD, Budget(20))["K"] == 2
    assert [fitted("greedy-train", NEW_YORK, Budget(64, kind))["m"] for kind in (MEASURED, PAPER)] == [16, 8]
    assert [fitted("greedy-max", NEW_YORK, Budget(64, kind))["K0"] for kind in (MEASURED, PAPER)] == [64, 64]


def test_directions_are_chosen_apart(tmp_path):
    queries = sample(road().graph, 50, seed=9)
    heuristic = built("greedy-train", road(), tmp_path, 28, train=queries, K0=16)
    pool = select(road(), "mixed", 16)
    ahead, back = label_bounds(pool, queries.sources, queries.targets)
    chosen = greedy(np.concatenate((ahead, back)), 7)
    forward, rows = heuristic.settings["forward"], heuristic.arrays["rows"].T
    assert np.array_equal(rows[:forward], pool.forward[chosen[chosen < 16]])
    assert np.array_equal(rows[forward:], pool.backward[chosen[chosen >= 16] - 16])


def test_training_queries_of_the_protocol_are_used_where_there_are_some(tmp_path):
    one, other = (built("greedy-train", road(), tmp_path, 16, K0=32, seed=seed) for seed in (1, 2))
    assert not np.array_equal(one.arrays["rows"], other.arrays["rows"])
    queries = sample(road().graph, 40, seed=3)
    one, other = (built("greedy-train", road(), tmp_path, 16, K0=32, seed=seed, train=queries) for seed in (1, 2))
    assert np.array_equal(one.arrays["rows"], other.arrays["rows"])


def test_drawn_training_pairs_are_not_the_queries_reported_on():
    """A query set is drawn with the seed 42 too."""
    from aacbench.plugins.methods.greedy import _training_pairs

    class Context:
        graph, seed, params, train = road().graph, 42, {"pairs": 200}, ()

    queries = sample(road().graph, 200, seed=42)
    sources, targets = _training_pairs(Context())
    same = (sources == queries.sources) & (targets == queries.targets)
    assert len(sources) == 200
    assert same.sum() < 5


def test_only_the_oracle_is_shown_the_test_queries(tmp_path):
    assert method("greedy-max").claims.oracle
    assert not method("greedy-train").claims.oracle
    with pytest.raises(UsageError, match="needs test queries"):
        built("greedy-max", road(), tmp_path, 32)


def test_the_oracle_beats_alt_on_its_queries(tmp_path):
    queries = sample(road().graph, 100, seed=4)
    means = {}
    for name in ("alt", "greedy-max"):
        h = deploy(built(name, road(), tmp_path, 32, oracle=queries), road()).many
        means[name] = np.mean([h([s], t) for s, t in zip(queries.sources, queries.targets.tolist(), strict=True)])
    assert means["greedy-max"] > means["alt"]


@example_count(100)
@given(graphs(integral=False), st.sampled_from([4, 12, 24]))
def test_the_papers_bound_equals_a_plain_twin_in_single_precision(tmp_path_factory, graph, size):
    net, (sources, targets) = network(graph), all_pairs(graph)
    pairs = QuerySet(sources=sources, targets=targets)
    heuristic = built("greedy-max-paper", net, tmp_path_factory.mktemp("pools"), size, oracle=pairs)
    assume(heuristic is not None)
    rows, ahead = heuristic.arrays["rows"], heuristic.settings["forward"]
    everywhere = np.arange(graph.vertices)
    for t in everywhere.tolist():
        more = np.where((rows < 0) | (rows[t] < 0), np.float32(0), rows[t] - rows)
        sides = np.abs(more) if graph.symmetric else np.concatenate((more[:, :ahead], -more[:, ahead:]), axis=1)
        assert np.array_equal(deploy(heuristic, net).many(everywhere, t), sides.max(axis=1, initial=0))


def test_the_papers_oracle_on_the_stochastic_block_model(tmp_path):
    """The published means come from labels and differences in float32; double precision gives slightly others."""
    net, queries = blocks(), sample(blocks().graph, 100)
    most = select(net, "fps", 128)
    claims = method("greedy-max-paper").claims
    assert (claims.admissible, claims.consistent, claims.oracle) == (False, False, True)
    for count, published, exact in ((8, 490.53, 490.57), (16, 264.29, 264.29), (32, 135.78, 136.40)):
        pool = most.first(4 * count)
        chosen = greedy(np.maximum(*label_bounds(pool, queries.sources, queries.targets)), count)
        wide = subset(net, pool, chosen, labels="replay").arrays["rows"]
        for name, width, wanted in (("greedy-max", np.float64, exact), ("greedy-max-paper", np.float32, published)):
            heuristic = built(name, net, tmp_path, Budget(4 * count, PAPER), oracle=queries)
            assert heuristic.arrays["rows"].dtype == width
            assert np.array_equal(heuristic.arrays["rows"], wide.astype(width))
            assert round(float(expanded(net, heuristic, queries, "paper").mean()), 2) == wanted


def test_the_papers_oracle_is_for_float_weights():
    info = graph_info(road())
    assert "exact on integer weights" in fitted("greedy-max-paper", info, Budget(32)).reason
