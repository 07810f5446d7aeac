"""Selectors: properties of all, the rule of each, kernels against plain twins, and stored pools."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from method_builds import road
from support import example_count, graphs, true_distances

from aacbench.contract import landmarks
from aacbench.errors import UsageError
from aacbench.graphs import components, from_arcs
from aacbench.graphs.load import load
from aacbench.graphs.record import Graph
from aacbench.labels import SELECTORS, farthest_points, of_landmarks, select
from aacbench.labels.selectors.avoid import Growing, shortest_path_tree, worst_leaf
from aacbench.labels.selectors.maxcover import exchange_gains, exchanged, owners, tight
from aacbench.labels.table import RowStore
from aacbench.run.shared import Pools
from aacbench.search import network


def with_coordinates(graph, seed=0):
    coords = np.random.default_rng(seed).integers(0, 5, size=(graph.vertices, 2))  # so that some points coincide
    fields = {name: getattr(graph, name) for name in ("indptr", "indices", "weights", "name", "declared_directed")}
    return Graph(**fields, coords=coords)


def test_every_selector_has_a_name_that_methods_offer():
    assert sorted(SELECTORS) == sorted(landmarks.SELECTORS)


# Properties of all selectors


@example_count(300)
@given(st.sampled_from(sorted(SELECTORS)), graphs(), st.integers(1, 14), st.integers(0, 3))
def test_landmarks_are_distinct_vertices_of_the_largest_component(selector, graph, count, seed):
    net = network(with_coordinates(graph))
    inside = components.largest(graph)
    pool = select(net, selector, count, seed)
    assert len(set(pool.landmarks.tolist())) == len(pool) == min(count, len(inside))
    assert set(pool.landmarks.tolist()) <= set(inside.tolist())
    again = of_landmarks(net, pool.landmarks)
    assert pool.symmetric == again.symmetric
    assert np.array_equal(pool.forward, again.forward)
    assert np.array_equal(pool.backward, again.backward)
    assert (pool.forward.dtype, pool.backward.dtype) == (again.forward.dtype, again.backward.dtype)


@pytest.mark.parametrize("selector", landmarks.GROWING)
def test_a_prefix_of_a_growing_pool_is_the_shorter_run(selector):
    long = select(road(), selector, 12, 3)
    for count in (1, 5, 11):
        assert select(road(), selector, count, 3).landmarks.tolist() == long.landmarks[:count].tolist()


@pytest.mark.parametrize("selector", sorted(SELECTORS))
def test_the_seed_changes_what_is_random_and_nothing_else(selector):
    one, again, other = (select(road(), selector, 8, seed).landmarks.tolist() for seed in (1, 1, 2))
    assert one == again
    assert (one == other) == (selector in ("fps", "degree", "planar", "boundary"))


def test_what_cannot_be_selected_is_refused():
    bare = network(from_arcs(2, [0, 1], [1, 0], [1, 1]))
    with pytest.raises(UsageError, match="Unknown selector 'fsp'"):
        select(bare, "fsp", 1)
    with pytest.raises(UsageError, match="at least one"):
        select(bare, "avoid", 0)
    for selector in landmarks.BY_COORDINATES:
        with pytest.raises(UsageError, match="no coordinates"):
            select(bare, selector, 1)


# Avoid


@given(graphs(), st.integers(0, 11))
@example_count(150)
def test_a_tree_is_one_of_shortest_paths(graph, root):
    assume(root < graph.vertices)
    distances, parents, order = shortest_path_tree(network(graph), root)
    assert distances == pytest.approx(true_distances(graph)[root], rel=1e-12)
    assert sorted(order.tolist()) == np.flatnonzero(distances >= 0).tolist()
    weights = dict(zip(zip(graph.sources.tolist(), graph.indices.tolist(), strict=True), graph.weights, strict=True))
    place = {v: k for k, v in enumerate(order.tolist())}
    for v, parent in enumerate(parents.tolist()):
        if v == root or distances[v] < 0:
            assert parent == -1
        else:
            assert distances[v] == distances[parent] + weights[parent, v]
            assert place[parent] < place[v]


def plain_worst_leaf(parents, slack, blocked):
    """By the definition: collect every subtree, sum its slack, and descend to the largest child."""
    children = {v: [u for u, parent in enumerate(parents) if parent == v] for v in range(len(parents))}

    def subtree(v):
        return [v, *itertools.chain(*(subtree(child) for child in children[v]))]

    def size(v):
        below = subtree(v)
        return 0 if any(blocked[u] for u in below) else sum(slack[u] for u in below)

    best = max(range(len(parents)), key=lambda v: (size(v), -v))
    if size(best) == 0:
        return -1
    while children[best]:
        best = max(children[best], key=lambda v: (size(v), -v))
    return best


@given(st.data())
@example_count(300)
def test_the_worst_leaf_equals_a_plain_twin(data):
    count = data.draw(st.integers(1, 12))
    parents = [-1] + [data.draw(st.integers(0, v - 1)) for v in range(1, count)]
    slack = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    blocked = data.draw(st.lists(st.sampled_from([False, False, False, True]), min_size=count, max_size=count))
    found = worst_leaf(np.arange(count), np.array(parents), np.array(slack, dtype=np.float64), np.array(blocked))
    assert found == plain_worst_leaf(parents, slack, blocked)


def grown_from(net, chosen, in_memory):
    """A pool of these landmarks, with rows beyond so many bytes in a file."""
    grown = Growing(net, store=RowStore(in_memory))
    for landmark in chosen:
        grown.add(landmark)
    return grown


@given(graphs(), st.data())
@example_count(100)
def test_a_growing_pool_knows_its_bounds(graph, data):
    net, exact = network(graph), true_distances(graph)
    vertices = st.integers(0, graph.vertices - 1)
    chosen = data.draw(st.lists(vertices, min_size=1, max_size=3, unique=True))
    root = data.draw(vertices)
    found = grown_from(net, chosen, data.draw(st.sampled_from([0, 100, 2**30]))).bounds_from(root)
    for v in range(graph.vertices):
        sides = [0.0]
        for l in chosen:
            if min(exact[l, v], exact[l, root]) >= 0:
                sides.append(exact[l, v] - exact[l, root])
            if min(exact[v, l], exact[root, l]) >= 0:
                sides.append(exact[root, l] - exact[v, l])
        assert found[v] == pytest.approx(max(sides), rel=1e-9, abs=1e-9)


@given(graphs(), st.data())
@example_count(100)
def test_a_growing_pool_knows_how_far_its_nearest_landmark_is(graph, data):
    net, exact = network(graph), true_distances(graph)
    chosen = data.draw(st.lists(st.integers(0, graph.vertices - 1), min_size=1, max_size=4, unique=True))
    grown = grown_from(net, chosen, data.draw(st.sampled_from([0, 100, 2**30])))
    for some, of in ((grown, chosen), (grown.only([0]), chosen[:1])):
        assert some.away == pytest.approx(np.where(exact[of] < 0, np.inf, exact[of]).min(axis=0), rel=1e-12)


def test_avoid_goes_behind_what_is_bounded_worst():
    """A star of three rays, and a landmark at the end of two of them: the next is at the end of the third."""
    tails, heads = [0, 1, 0, 3, 0, 5], [1, 2, 3, 4, 5, 6]
    graph = from_arcs(7, tails + heads, heads + tails, [1] * 12)
    for seed in range(5):
        chosen = select(network(graph), "avoid", 3, seed).landmarks.tolist()
        assert sorted(chosen) == [2, 4, 6]


# Maxcover


@given(st.data())
@example_count(200)
def test_gains_of_an_exchange_are_the_arcs_it_covers_more(data):
    candidates, arcs = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 12))
    wanted = data.draw(st.integers(1, candidates - 1))
    covers = np.random.default_rng(data.draw(st.integers(0, 10**6))).random((candidates, arcs)) < 0.4
    owner = np.full(arcs, -1)
    for arc in range(arcs):
        by = np.flatnonzero(covers[:wanted, arc])
        owner[arc] = -1 if not len(by) else by[0] if len(by) == 1 else -2
    assert owners(covers, np.arange(wanted)).tolist() == owner.tolist()
    gains = exchange_gains(covers, owner, wanted)
    before = covers[:wanted].any(axis=0).sum()
    for taken, place in itertools.product(range(wanted, candidates), range(wanted)):
        others = [k for k in range(wanted) if k != place]
        assert gains[taken, place] == covers[[*others, taken]].any(axis=0).sum() - before
    chosen = exchanged(covers, wanted)
    assert len(set(chosen)) == wanted
    after = covers[chosen].any(axis=0).sum()
    for taken, place in itertools.product(set(range(candidates)) - set(chosen), range(wanted)):
        others = [chosen[k] for k in range(wanted) if k != place]
        assert covers[[*others, taken]].any(axis=0).sum() <= after


@given(graphs(), st.data())
@example_count(100)
def test_an_arc_is_tight_where_a_landmarks_bound_is_its_weight(graph, data):
    net, exact = network(graph), true_distances(graph)
    landmark = data.draw(st.integers(0, graph.vertices - 1))
    pool, care = of_landmarks(net, [landmark]), 0 if graph.integral else 1e-9
    rows = (pool.forward[0].astype(graph.weights.dtype), pool.backward[0].astype(graph.weights.dtype))
    found = np.empty(graph.arcs, dtype=np.bool_)
    tight(graph.sources, graph.indices, graph.weights, *rows, graph.weights.dtype.type(care), found)
    for arc, (u, v) in enumerate(zip(graph.sources, graph.indices, strict=True)):
        bounds = [exact[landmark, v] - exact[landmark, u] if exact[landmark, u] >= 0 else -1]
        bounds += [exact[u, landmark] - exact[v, landmark] if exact[v, landmark] >= 0 else -1]
        assert found[arc] == (max(bounds) >= graph.weights[arc] - care)


def test_maxcover_makes_more_arcs_tight_than_avoid():
    def tight(pool):
        graph = road().graph
        ahead = pool.forward[:, graph.indices] == pool.forward[:, graph.sources] + graph.weights
        back = pool.backward[:, graph.sources] == pool.backward[:, graph.indices] + graph.weights
        return int((ahead | back).any(axis=0).sum())

    assert tight(select(road(), "maxcover", 6, 1)) > tight(select(road(), "avoid", 6, 1))


# The others


def test_degrees_are_taken_from_the_highest():
    graph = load("ba-10k")
    chosen = select(network(graph), "degree", 20).landmarks
    degrees = np.diff(graph.indptr)
    assert degrees[chosen].tolist() == sorted(degrees.tolist(), reverse=True)[:20]


def test_a_mixed_pool_starts_with_farthest_points():
    pool = select(road(), "mixed", 16)
    assert pool.landmarks[:8].tolist() == farthest_points(road(), 8).landmarks.tolist()


@pytest.mark.parametrize("selector", landmarks.BY_COORDINATES)
def test_landmarks_of_a_map_lie_at_its_rim_all_around(selector):
    net = network(load("grid-32"))
    x, y = net.graph.coords[select(net, selector, 16).landmarks].T
    assert (np.minimum.reduce([x, y, 31 - x, 31 - y]) <= 1).all()
    angles = np.sort(np.arctan2(y - 15.5, x - 15.5))
    assert np.diff(np.r_[angles, angles[0] + 2 * np.pi]).max() < 1.0


# Stored pools


def test_a_selected_pool_is_computed_once_and_charged_to_all(tmp_path, monkeypatch):
    first, second = Pools(road(), tmp_path), Pools(road(), tmp_path)
    pool = first.selected("avoid", 5, seed=2)
    assert pool.landmarks.tolist() == select(road(), "avoid", 5, 2).landmarks.tolist()
    monkeypatch.setitem(SELECTORS, "avoid", None)  # so that choosing again would fail
    again = second.selected("avoid", 5, seed=2)
    assert np.array_equal(again.forward, pool.forward)
    assert np.array_equal(again.backward, pool.backward)
    assert not again.forward.flags.writeable
    assert first.seconds == second.seconds == pool.seconds > 0
    for count, seed in ((4, 2), (5, 3)):
        with pytest.raises(TypeError):
            second.selected("avoid", count, seed)


def test_pools_of_several_kinds_are_all_charged_and_a_prefix_is_free(tmp_path):
    pools = Pools(road(), tmp_path)
    each = [pools.selected("random", 4).seconds, pools.selected("degree", 4).seconds, pools.of([1, 2]).seconds]
    longest = pools.farthest(8).seconds
    pools.selected("fps", 3)
    assert pools.seconds == pytest.approx(sum(each) + longest)
    assert len(pools.selected("random", 10**6)) == len(components.largest(road().graph))
