"""Arrays of more than 2^31 entries, in sparse files that take no room; and weights near 2^31."""

import numpy as np
import pytest
from method_builds import assert_sound, built
from numba import njit

from aacbench.graphs import from_arcs
from aacbench.labels import Direction, alt_layout, distances, farthest_points, label_rows, of_landmarks
from aacbench.labels.exact import one_to_all
from aacbench.labels.graph_info import graph_info
from aacbench.search import astar, dijkstra, network, search
from aacbench.search.batch import search_rows
from aacbench.search.bounds import find_violations
from aacbench.search.heap import entry_dtype
from aacbench.search.layouts import Differential, bind, bound, memo_for, no_labels
from aacbench.search.networks import Arcs, Workspace, reverse_weights, state_dtype
from aacbench.search.policy import parse

FAR = 2**31 + 5  # an entry beyond those that 32 bits with a sign can count
HEAVY = 2**31 - 1


def sparse(path, shape, dtype):
    """An array of zeros in a file without contents."""
    array = np.memmap(path, dtype=dtype, mode="w+", shape=shape)
    assert path.stat().st_blocks * 512 < 2**20
    return array


def frozen(array):
    plain = np.asarray(array)
    plain.flags.writeable = False
    return plain


@njit
def ask(layout, memo, u, target):
    bind(layout, memo, 0, 0, target)
    return bound(layout, memo, u)


@pytest.mark.parametrize("complete", [True, False])
def test_a_bound_reads_the_right_row_beyond_2_31_labels(tmp_path, complete):
    columns = 16
    vertices = FAR // columns + 100
    rows = sparse(tmp_path / "rows", (vertices, columns), np.int32)
    u, target = vertices - 1, vertices - 2
    assert u * columns > 2**31
    rows[u], rows[target] = np.arange(columns), 3 * np.arange(columns)
    labels = Differential(frozen(rows), columns, 0, complete, np.int64(0), np.int64(1), np.int64(0))
    assert ask(labels, memo_for(labels), np.uint32(u), np.int64(target)) == 2 * (columns - 1)


@pytest.fixture(scope="module")
def far_arcs(tmp_path_factory):
    """Three vertices in a row, whose arcs stand behind 2^31 others."""
    folder = tmp_path_factory.mktemp("arcs")
    heads, weights, back = (
        sparse(folder / name, (FAR + 10,), kind)
        for name, kind in (("heads", np.uint32), ("weights", np.int64), ("back", np.int64))
    )
    heads[FAR : FAR + 2], weights[FAR : FAR + 2], back[FAR : FAR + 2] = (1, 2), (4, 9), -1
    indptr = np.array([FAR, FAR + 1, FAR + 2, FAR + 2], dtype=np.uint32)
    return Arcs(*map(frozen, (indptr, heads, weights, back)))


def test_dijkstra_follows_arcs_beyond_2_31(far_arcs):
    found, heap = np.empty(3, dtype=np.int64), np.empty(16, dtype=entry_dtype(np.dtype(np.int64)))
    assert one_to_all(far_arcs, np.int32(0), np.int64(2**62), found, heap) == 3
    assert found.tolist() == [0, 4, 13]


def test_a_search_follows_arcs_beyond_2_31(far_arcs):
    kind = np.dtype(np.int64)
    work = Workspace(
        np.zeros(3, state_dtype(kind)), np.empty(16, entry_dtype(kind)), np.empty(3, np.uint32), np.zeros(1, np.uint32)
    )
    small = network(from_arcs(3, [0, 1], [1, 2], [4, 9]))
    layout = no_labels(small)
    costs, counts = (np.empty((1, len(columns)), np.int64) for columns in (astar.COSTS, astar.COUNTS))
    ends = np.array([0]), np.array([2])
    search_rows(
        far_arcs,
        layout.labels,
        layout.borrow(),
        work,
        astar.rules(parse("modern")),
        astar.numbers(kind),
        *ends,
        costs,
        counts,
    )
    expected = dijkstra(small, [0], [2])
    assert costs[0, 0] == expected.cost[0] == 13


def test_an_audit_looks_at_arcs_beyond_2_31(far_arcs):
    original = frozen(np.arange(3, dtype=np.int32))
    h, known, distance = np.array([13, 2, 0]), np.ones(3, dtype=bool), np.array([13, 9, 0])
    found = find_violations(far_arcs, original, h, known, distance, np.int64(0))
    assert found[2] == 1  # 13 > 4 + 2
    assert (found[3], found[4], found[5]) == (0, 1, 6)


def test_pairs_of_vertices_are_told_apart_where_their_product_exceeds_32_bits():
    vertices = 70_000
    tails, heads = np.array([vertices - 1, vertices - 2, 0]), np.array([vertices - 2, vertices - 1, 1])
    graph = from_arcs(vertices, tails, heads, [3, 5, 7])
    assert reverse_weights(graph, graph.reverse).tolist() == [-1, 3, 5]  # of the arcs in the order of their tails


@pytest.fixture(scope="module")
def heavy():
    """A ring of 24 vertices with a few chords: arcs of nearly 2^31, so that distances do not fit 32 bits."""
    tails = np.concatenate([np.arange(24), np.arange(0, 24, 5)])
    heads = np.concatenate([(np.arange(24) + 1) % 24, (np.arange(0, 24, 5) + 7) % 24])
    return network(from_arcs(24, tails, heads, HEAVY - np.arange(len(tails)) % 3))


def test_distances_of_heavy_arcs_are_exact(heavy):
    graph = heavy.graph
    expected = [0] + [2**62] * (graph.vertices - 1)
    for _ in range(graph.vertices):
        for u, v, w in zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True):
            expected[v] = min(expected[v], expected[u] + w)
    assert distances(heavy, 0, Direction.FROM).tolist() == expected
    assert max(expected) > 2**33


def test_labels_of_heavy_arcs_are_wide_and_bound_every_search(heavy):
    pool = farthest_points(heavy, 4)
    assert pool.forward.dtype == np.int64
    assert graph_info(heavy).label_bytes == 8
    sources, targets = np.repeat(np.arange(24), 24), np.tile(np.arange(24), 24)
    found = search(heavy, alt_layout(heavy, label_rows(pool), 4), sources, targets)
    expected = dijkstra(heavy, sources, targets)
    assert found.cost.tolist() == expected.cost.tolist()
    assert found.expanded.sum() < expected.expanded.sum()


@pytest.mark.parametrize("name", ["alt", "greedy-train", "residual-dh"])
def test_methods_are_sound_on_heavy_arcs(heavy, tmp_path, name):
    given = {"K0": 6} if name == "greedy-train" else {}
    heuristic = built(name, heavy, tmp_path, 64, **given)
    assert heuristic is not None
    assert_sound(heuristic, heavy)


def test_an_arc_beyond_32_bits_is_exact_too():
    net = network(from_arcs(3, [0, 1, 2], [1, 2, 0], [2**40, 2**41, 1]))
    assert of_landmarks(net, [0]).forward.tolist() == [[0, 2**40, 2**40 + 2**41]]
