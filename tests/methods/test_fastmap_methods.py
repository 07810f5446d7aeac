"""FastMap and its variants: sound bounds, plain twins of the published steps, and the paper's inadmissible one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_builds import assert_sound, built, fitted, method, road
from support import example_count, graphs, true_distances

from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import PAPER, Budget
from aacbench.graphs import components, from_arcs
from aacbench.graphs.load import load
from aacbench.labels.embedding import ALTERNATIONS, ResidualArcs, fastmap, least_of_both_ways, residual
from aacbench.labels.graph_info import graph_info
from aacbench.queries.sampling import sample
from aacbench.search import dijkstra, network, parse, search


@example_count(120)
@given(
    st.sampled_from(["fastmap", "fastmap-min", "residual-dh"]), graphs(max_vertices=9), st.sampled_from([4, 12, 40, 80])
)
def test_every_bound_is_admissible_and_consistent(tmp_path_factory, name, graph, size):
    net = network(graph)
    heuristic = built(name, net, tmp_path_factory.mktemp("pools"), size)
    assert (heuristic is None) == (graph_info(net).label_bytes > size or (name == "fastmap" and not graph.symmetric))
    if heuristic is not None:
        assert_sound(heuristic, net)


def plain_fastmap(graph, dimensions, rng):
    """The published steps on all distances at once."""
    inside, columns = components.largest(graph), []
    while len(columns) < dimensions:
        exact = true_distances(graph)
        b = int(rng.choice(inside))
        for _ in range(ALTERNATIONS + 1):
            a, b = b, int(inside[np.argmax(exact[b, inside])])
            if exact[b, inside].max() <= exact[a, b]:
                break
        if exact[a, b] == 0:
            break
        column = np.floor((exact[a] + exact[a, b] - exact[b]) / 2).astype(np.int64)
        column[exact[a] < 0] = 0
        columns.append(column)
        left = graph.weights - np.abs(column[graph.sources] - column[graph.indices])
        graph = from_arcs(graph.vertices, graph.sources, graph.indices, left)
    return np.stack(columns, axis=1) if columns else np.zeros((graph.vertices, 1))


@example_count(150)
@given(graphs(symmetric=True, integral=True), st.integers(1, 6), st.integers(0, 9))
def test_coordinates_equal_a_plain_twin(graph, dimensions, seed):
    found = fastmap(network(graph), dimensions, np.random.default_rng(seed))
    assert np.array_equal(found, plain_fastmap(graph, dimensions, np.random.default_rng(seed)))


def plain_residual(graph, dimensions, rng):
    """The same on all distances at once, with a new graph for what each label leaves."""
    inside, columns = components.largest(graph), []
    for _ in range(dimensions):
        exact = true_distances(graph)
        far = int(inside[np.argmax(exact[rng.choice(inside), inside])])
        column = exact[:, far].astype(np.int64)
        column[column < 0] = column.max()
        columns.append(column)
        left = graph.weights - np.maximum(column[graph.sources] - column[graph.indices], 0)
        graph = from_arcs(graph.vertices, graph.sources, graph.indices, left)
    return np.stack(columns, axis=1)


@example_count(150)
@given(graphs(integral=True), st.integers(1, 6), st.integers(0, 9))
def test_residual_labels_equal_a_plain_twin(graph, dimensions, seed):
    found = residual(network(graph), dimensions, np.random.default_rng(seed))
    assert np.array_equal(found, plain_residual(graph, dimensions, np.random.default_rng(seed)))


def test_no_arc_gives_more_than_it_has():
    net = network(load("grid-32"))
    left = ResidualArcs(net, net.arcs)
    left.lower(net.arcs.weights)
    assert left.distances(0).max() == 0
    with pytest.raises(ArithmeticError, match="became negative"):
        left.lower(net.arcs.weights)


@pytest.mark.parametrize("build", [fastmap, residual])
def test_what_coordinates_leave_is_not_taken_off_the_network(build):
    net = network(load("grid-32"))
    before = net.arcs.weights.copy()
    first = build(net, 4, np.random.default_rng(1))
    assert np.array_equal(net.arcs.weights, before)
    assert np.array_equal(build(net, 4, np.random.default_rng(1)), first)


@example_count(100)
@given(graphs(integral=True), st.integers(1, 6), st.integers(0, 9))
def test_residual_labels_never_take_more_off_an_arc_than_there_is(graph, dimensions, seed):
    rows = residual(network(graph), dimensions, np.random.default_rng(seed))
    steps = rows[graph.sources] - rows[graph.indices]
    assert rows.shape[1] == dimensions
    assert (np.maximum(steps, 0).sum(axis=1) <= graph.weights).all()


def test_every_residual_label_has_something_to_say(tmp_path):
    rows = built("residual-dh", road(), tmp_path, 64, d=16).arrays["rows"]
    assert (np.ptp(rows, axis=0) > 0).sum() >= 8
    assert np.array_equal(built("residual-dh", road(), tmp_path, 64, d=5).arrays["rows"], rows[:, :5])


@example_count(100)
@given(graphs())
def test_the_lesser_of_both_ways_is_undirected_and_no_longer(graph):
    least = least_of_both_ways(graph)
    assert least.symmetric
    exact, shorter = true_distances(graph), true_distances(least)
    reached = exact >= 0
    assert (shorter[reached] >= 0).all()
    assert (shorter[reached] <= exact[reached] * (1 + 1e-12)).all()


def test_more_coordinates_tell_more(tmp_path):
    net = network(load("grid-32"))
    queries = sample(net.graph, 50)
    for name in ("fastmap", "fastmap-min", "residual-dh"):
        means = []
        for count in (1, 4, 16):
            h = deploy(built(name, net, tmp_path, 64, d=count), net).many
            means.append(np.mean([h([s], t) for s, t in zip(queries.sources, queries.targets.tolist(), strict=True)]))
        assert means[0] < means[1] <= means[2], name


def test_one_way_streets_are_for_the_relatives():
    info = graph_info(road())
    assert "undirected" in fitted("fastmap", info, Budget(32)).reason
    assert [fitted(name, info, Budget(32))["d"] for name in ("fastmap-min", "residual-dh")] == [8, 8]
    assert "do not fit" in fitted("fastmap-min", info, Budget(32), d=9).reason


def test_the_papers_fastmap_claims_nothing_and_finds_longer_paths(tmp_path):
    claims = method("fastmap-paper").claims
    assert not claims.admissible
    assert not claims.consistent
    net = network(load("grid-32"))
    queries = sample(net.graph, 100)
    heuristic = built("fastmap-paper", net, tmp_path, Budget(32, PAPER))
    assert heuristic.arrays["rows"].shape == (1024, 8)
    ends = (queries.sources, queries.targets)
    found = search(net, deploy(heuristic, net).searched, *ends, parse("paper"))
    assert (found.cost > dijkstra(net, *ends).cost).any()


@pytest.mark.data
def test_new_york_paths_are_shortest(tmp_path):
    net = network(load("dimacs:NY"))
    queries = sample(net.graph, 40)
    ends = (queries.sources, queries.targets)
    heuristic = built("fastmap", net, tmp_path, 16)
    assert heuristic.arrays["rows"].dtype == np.int32
    found = search(net, deploy(heuristic, net).searched, *ends, parse("paper"), threads=2)
    plain = dijkstra(net, *ends, policy=parse("paper"), threads=2)
    assert np.array_equal(found.cost, plain.cost)
    assert found.expanded.mean() < 0.6 * plain.expanded.mean()
