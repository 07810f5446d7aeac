"""Pools, tables and radii equal plain twins, bounds stay below distances, and stored pools equal computed ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import all_pairs, example_count, graphs, true_distances

from aacbench.errors import UsageError
from aacbench.graphs import components, from_arcs
from aacbench.graphs.load import load
from aacbench.labels import (
    Direction,
    alt_layout,
    covering_radius,
    distances,
    farthest_points,
    fixed_point,
    label_rows,
    of_landmarks,
    rounding_margin,
    stored_farthest_points,
    symmetric_covering_radius,
)
from aacbench.labels import pool as pools
from aacbench.search import dijkstra, network, search
from aacbench.search.bounds import bounds
from aacbench.util import array_store


def plain_farthest_points(exact, inside, count):
    chosen = [int(inside[0])]
    while len(chosen) < count:
        left = [v for v in inside.tolist() if v not in chosen]
        chosen.append(max(left, key=lambda v: (min(exact[l, v] for l in chosen), -v)))
    return chosen


@given(graphs(), st.data())
@example_count(150)
def test_pools_equal_a_plain_twin(graph, data):
    inside = components.largest(graph)
    count = data.draw(st.integers(1, len(inside)))
    exact = true_distances(graph)
    net = network(graph)
    pool = farthest_points(net, count)
    assert pool.landmarks.tolist() == plain_farthest_points(exact, inside, count)
    assert pool.symmetric == graph.symmetric
    assert pool.forward == pytest.approx(exact[pool.landmarks], rel=1e-12)
    assert pool.backward == pytest.approx(exact[:, pool.landmarks].T, rel=1e-12)
    again = of_landmarks(net, pool.landmarks)
    assert (again.forward == pool.forward).all()
    assert (again.backward == pool.backward).all()
    nearest = exact[np.ix_(pool.landmarks, inside)]
    both = np.maximum(nearest, exact[np.ix_(inside, pool.landmarks)].T)
    assert covering_radius(pool, inside) == pytest.approx(nearest.min(axis=0).max())
    assert symmetric_covering_radius(pool, inside) == pytest.approx(both.min(axis=0).max())


@given(graphs(), st.data())
@example_count(100)
def test_a_prefix_is_the_shorter_run(graph, data):
    net = network(graph)
    longest = len(components.largest(graph))
    count = data.draw(st.integers(1, longest))
    long, short = farthest_points(net, longest).first(count), farthest_points(net, count)
    assert long.landmarks.tolist() == short.landmarks.tolist()
    assert (long.forward == short.forward).all()
    assert (long.backward == short.backward).all()
    assert long.symmetric == short.symmetric
    continued = farthest_points(net, longest, shorter=short)
    assert continued.landmarks[:count].tolist() == short.landmarks.tolist()
    whole = farthest_points(net, longest)
    assert continued.landmarks.tolist() == whole.landmarks.tolist()
    for one, other in ((continued.forward, whole.forward), (continued.backward, whole.backward)):
        assert one.dtype == other.dtype
        assert (one == other).all()
    assert continued.symmetric == whole.symmetric
    assert continued.seconds > short.seconds


@given(graphs(), st.integers(0, 11), st.sampled_from(Direction), st.integers(0, 30))
@example_count(100)
def test_distances_equal_scipy_and_stop_at_the_limit(graph, vertex, direction, limit):
    assume(vertex < graph.vertices)
    exact = true_distances(graph)
    row = exact[vertex] if direction is Direction.FROM else exact[:, vertex]
    net = network(graph)
    assert distances(net, vertex, direction) == pytest.approx(row, rel=1e-12)
    near = distances(net, vertex, direction, limit)
    assert (near[row < limit * (1 - 1e-9)] >= 0)[row[row < limit * (1 - 1e-9)] >= 0].all()
    assert (near[row > limit * (1 + 1e-9)] == -1).all()


@given(graphs(), st.sampled_from(["exact", "float32"]))
@example_count(150)
def test_bounds_never_exceed_distances(graph, width):
    assume(width == "exact" or not graph.integral)
    net = network(graph)
    pool = farthest_points(net, min(3, len(components.largest(graph))))
    layout = alt_layout(net, label_rows(pool, width), len(pool))
    exact = true_distances(graph)
    limit = np.where(exact < 0, np.inf, exact * (1 if graph.integral else 1 + 1e-12))
    for target in range(graph.vertices):
        assert (bounds(net, layout, np.arange(graph.vertices), target) <= limit[:, target]).all()


def test_labels_of_far_landmarks_stay_below_tiny_distances():
    # a landmark 1e9 away: the labels of neighbours differ by less than their own rounding
    rng = np.random.default_rng(4)
    weights = np.concatenate(([1e9], rng.uniform(1e-9, 1e-6, 60)))
    ends = np.arange(61)
    graph = from_arcs(62, np.r_[ends, ends + 1], np.r_[ends + 1, ends], np.r_[weights, weights])
    net = network(graph)
    rows = label_rows(of_landmarks(net, [0]))
    sources, targets = (side.ravel() for side in np.meshgrid(np.arange(1, 62), np.arange(1, 62)))
    exact = dijkstra(net, sources, targets)
    unsound = search(net, alt_layout(net, rows, 1, margin=0.0), sources, targets)
    assert (unsound.h_source > exact.cost * (1 + 1e-12)).any(), "the case must be one where rounding shows"
    sound = search(net, alt_layout(net, rows, 1), sources, targets)
    assert (sound.h_source <= exact.cost * (1 + 1e-12)).all()
    assert sound.cost == pytest.approx(exact.cost, rel=1e-12)


def test_distances_too_large_for_float32_are_refused():
    pool = of_landmarks(network(from_arcs(2, [0, 1], [1, 0], [1e300, 1e300])), [0])
    with pytest.raises(UsageError, match="float32"):
        label_rows(pool, "float32")


@given(graphs(integral=False, max_vertices=10), st.sampled_from([1.0, 1e-9, 1e9, 3.7]))
@example_count(150)
def test_fixed_point_labels_are_sound_and_consistent(graph, size):
    graph = replace(graph, weights=graph.weights * size)
    net = network(graph)
    pool, scale = fixed_point(net, farthest_points(net, min(2, len(components.largest(graph)))).landmarks)
    rows = label_rows(pool)
    assert rows.dtype == np.int32
    layout = alt_layout(net, rows, len(pool), scale=scale)
    sources, targets = all_pairs(graph)
    found = search(net, layout, sources, targets)
    assert found.cost == pytest.approx(true_distances(graph)[sources, targets], rel=1e-12)
    h = found.h_source.reshape(graph.vertices, graph.vertices)
    exact = np.where(found.cost < 0, np.inf, found.cost).reshape(h.shape)
    assert (h <= exact * (1 + 1e-12)).all()
    if layout.labels.complete:
        through = graph.weights[:, None] + h[graph.indices]
        assert (h[graph.sources] <= through * (1 + 1e-12)).all()


def test_fixed_point_labels_lose_almost_nothing():
    rng = np.random.default_rng(2)
    tails, heads = rng.integers(0, 400, size=(2, 1600))
    weights = rng.uniform(1, 10, 1600)
    graph = from_arcs(400, np.r_[tails, heads], np.r_[heads, tails], np.r_[weights, weights])
    net = network(graph)
    exact = farthest_points(net, 4)
    pool, scale = fixed_point(net, exact.landmarks)
    assert np.abs(pool.forward * scale - exact.forward).max() < 1e-7


def test_float32_labels_without_the_margin_would_exceed_distances():
    rng = np.random.default_rng(5)
    graph = from_arcs(300, np.arange(299), np.arange(1, 300), rng.uniform(1, 10, 299))
    net = network(graph)
    pool = of_landmarks(net, [0])
    rows = label_rows(pool, "float32")[:, :1].astype(np.float64)
    exact = pool.forward[0]
    raw = rows[1:, 0] - rows[:-1, 0]
    assert (raw > np.diff(exact)).any(), "the case must be one where rounding to nearest is unsound"
    assert (raw - rounding_margin(label_rows(pool, "float32")) <= np.diff(exact)).all()


def test_labels_are_narrow_where_they_fit_and_wide_where_not():
    narrow = from_arcs(3, [0, 1], [1, 2], [2**30, 2**30 - 1])
    wide = from_arcs(3, [0, 1], [1, 2], [2**30, 2**30])
    assert farthest_points(network(narrow), 1, component=[0]).forward.dtype == np.int32
    assert farthest_points(network(wide), 1, component=[0]).forward.dtype == np.int64
    assert farthest_points(network(wide), 1, component=[0]).forward[0].tolist() == [0, 2**30, 2**31]


def test_a_pool_becomes_wide_where_the_rows_that_are_added_need_it():
    net = network(from_arcs(3, [0, 1, 1, 2], [1, 2, 0, 0], [1, 2**30, 2**30, 2**31]))
    short = farthest_points(net, 1)
    long = farthest_points(net, 3, shorter=short)
    assert (short.forward.dtype, long.forward.dtype) == (np.int32, np.int64)
    assert (long.forward == farthest_points(net, 3).forward).all()


def test_a_prefix_of_a_wide_pool_is_as_narrow_as_the_shorter_run(tmp_path):
    """Else the bytes of a cell would depend on which pools were there before."""
    net = network(from_arcs(3, [0, 1, 1, 2], [1, 2, 0, 0], [1, 2**30, 2**30, 2**31]))
    wide, short = farthest_points(net, 3), farthest_points(net, 1)
    assert (wide.forward.dtype, wide.backward.dtype) == (np.int64, np.int64)
    for pool in (wide.first(1), stored_farthest_points(tmp_path, net, 1)):
        assert (pool.forward.dtype, pool.backward.dtype) == (short.forward.dtype, short.backward.dtype)
        assert (pool.forward == short.forward).all()
        assert (pool.backward == short.backward).all()
        assert not pool.forward.flags.writeable


def test_a_longer_stored_pool_takes_the_rows_of_the_shorter_one(tmp_path, monkeypatch):
    net = network(load("grid-8"))
    stored_farthest_points(tmp_path, net, 16)
    wanted = farthest_points(net, 64).landmarks.tolist()
    searched = []
    monkeypatch.setattr(pools, "distances", lambda *asked: searched.append(asked[1]) or distances(*asked))
    assert stored_farthest_points(tmp_path, net, 40).landmarks.tolist() == wanted[:40]
    assert searched == wanted[16:]


def test_unreachable_has_its_own_code():
    graph = from_arcs(3, [0], [1], [4])
    pool = of_landmarks(network(graph), [0])
    assert pool.forward.tolist() == [[0, 4, -1]]
    assert pool.backward.tolist() == [[0, -1, -1]]


def test_impossible_pools_are_refused():
    net = network(from_arcs(3, [0, 1], [1, 0], [1, 1]))
    for count, start in ((0, None), (3, None), (1, 2)):
        with pytest.raises(UsageError):
            farthest_points(net, count, start=start)
    pool = farthest_points(net, 1)
    for count in (-1, 2):
        with pytest.raises(UsageError, match="pool of 1"):
            pool.first(count)
    for landmarks in ([], [-1], [3]):
        with pytest.raises(UsageError):
            of_landmarks(net, landmarks)
    with pytest.raises(UsageError, match="Vertex -1"):
        distances(net, -1)
    assert distances(net, 0, limit=np.inf).tolist() == [0, 1, -1]
    with pytest.raises(UsageError, match="width"):
        label_rows(pool, "int4")
    with pytest.raises(UsageError, match="float weights"):
        label_rows(pool, "float32")
    with pytest.raises(UsageError, match="float weights"):
        fixed_point(net, pool.landmarks)
    with pytest.raises(UsageError, match="do not fit"):
        alt_layout(net, label_rows(pool), 2)


@given(graphs(max_vertices=30), st.data())
@example_count(30)
def test_a_stored_pool_is_the_computed_one(tmp_path_factory, graph, data):
    root = tmp_path_factory.mktemp("pools")
    net = network(graph)
    for _ in range(3):
        count = data.draw(st.integers(1, len(components.largest(graph))))
        stored, computed = stored_farthest_points(root, net, count), farthest_points(net, count)
        assert stored.landmarks.tolist() == computed.landmarks.tolist()
        assert (stored.forward == computed.forward).all()
        assert (stored.backward == computed.backward).all()
        assert stored.symmetric == computed.symmetric
        assert not stored.forward.flags.writeable


def test_a_damaged_pool_is_made_anew(tmp_path):
    net = network(from_arcs(3, [0, 1, 2, 1], [1, 0, 1, 2], [1, 1, 1, 1]))
    before = stored_farthest_points(tmp_path, net, 2).forward.tolist()
    (table,) = tmp_path.glob("*/*/forward.npy")
    content = bytearray(table.read_bytes())
    content[-1] ^= 1
    table.write_bytes(content)
    assert stored_farthest_points(tmp_path, net, 2).forward.tolist() == before
    assert array_store.read(tmp_path, next(tmp_path.glob("*/[0-9a-f]*")).name) is not None


def test_a_disk_that_takes_nothing_costs_only_time(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.save", full)
    net = network(from_arcs(3, [0, 1, 2, 1], [1, 0, 1, 2], [1, 1, 1, 1]))
    assert stored_farthest_points(tmp_path, net, 2).landmarks.tolist() == [0, 2]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
