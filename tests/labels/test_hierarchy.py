"""Contraction hierarchies: contraction against slow twins, numbering, packing, limits, and bounds that hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labels.hierarchy_twin import distances_from, distances_up, overlay
from method_builds import assert_sound
from numba import njit
from support import example_count, graphs, graphs_to_compile_for, true_distances

from aacbench.bundle.deploy import deploy
from aacbench.graphs import from_arcs
from aacbench.graphs.load import load
from aacbench.labels.hierarchy import packed as packing
from aacbench.labels.hierarchy.contraction import DENSE, NONE, contract
from aacbench.labels.hierarchy.deployed import core_graph, core_labels, packed_heuristic, plain_heuristic
from aacbench.labels.hierarchy.fields import low_bits, packed, window
from aacbench.labels.hierarchy.numbering import hierarchy
from aacbench.labels.hierarchy.weights import whole_weights
from aacbench.search import network

PLENTY = 10**9


def made_of(graph):
    weights, unit = whole_weights(network(graph))
    return contract(graph, weights, PLENTY), unit


def rows_of(made):
    """The arcs upwards of each vertex, as the twins have them."""
    found = {}
    for i, v in enumerate(made.order.tolist()):
        arcs = range(made.first[i], made.first[i + 1])
        lengths = [[np.inf if w == NONE else int(w) for w in side[arcs]] for side in (made.out, made.into)]
        found[v] = list(zip(made.heads[arcs].tolist(), *lengths, strict=True))
    return found


# Contraction


@given(graphs(integral=True))
def test_every_distance_is_in_the_hierarchy(graph):
    made, _ = made_of(graph)
    rows, exact = rows_of(made), true_distances(graph)
    assert sorted(made.order.tolist()) == list(range(graph.vertices))
    for t in range(graph.vertices):
        found = distances_up(made.order.tolist(), rows, graph, t)
        assert [-1 if np.isinf(d) else d for d in found] == exact[:, t].tolist()


def test_distances_of_dense_graphs_are_in_the_hierarchy():
    vertices, sparse = 180, 20
    rng = np.random.default_rng(5)
    linked = rng.random((vertices, vertices)) < 0.95
    linked[:sparse], linked[:, :sparse] = False, False
    linked[np.arange(sparse), sparse + np.arange(sparse)] = True
    linked[sparse + np.arange(sparse), np.arange(sparse)] = True
    np.fill_diagonal(linked, False)
    tails, heads = np.nonzero(linked)
    graph = from_arcs(vertices, tails, heads, rng.integers(1, 1000, len(tails)))
    made, _ = made_of(graph)
    assert np.diff(made.first).max() > DENSE
    assert set(made.order[:sparse].tolist()) == set(range(sparse))
    rows, exact = rows_of(made), true_distances(graph)
    for t in (0, 50, int(made.order[-1])):
        assert distances_up(made.order.tolist(), rows, graph, t) == exact[:, t].tolist()


@given(graphs(integral=True))
def test_shortcuts_are_among_those_of_the_twin_without_witnesses(graph):
    made, _ = made_of(graph)
    every = overlay(graph, graph.weights, made.order.tolist())
    for v, row in rows_of(made).items():
        allowed = {x: (out, into) for x, out, into in every[v]}
        assert {x for x, _, _ in row} <= allowed.keys()
        assert all(out >= allowed[x][0] and into >= allowed[x][1] for x, out, into in row)


def test_witnesses_save_shortcuts():
    graph = load("grid-16")
    made, _ = made_of(graph)
    every = overlay(graph, graph.weights, made.order.tolist())
    assert len(made.heads) < 0.8 * sum(map(len, every.values()))
    assert made.shortcuts > 0


@given(graphs(integral=True, max_vertices=10), st.data())
def test_what_is_left_keeps_the_distances_between_its_vertices(graph, data):
    made, _ = made_of(graph)
    cut = hierarchy(made, data.draw(st.integers(0, graph.vertices - 1)))
    exact, tails = true_distances(graph), zip(*(side.tolist() for side in cut.core_arcs), strict=True)
    arcs = list(tails)
    inside = np.flatnonzero(cut.place < cut.core)
    for u in inside:
        found = distances_from(arcs, cut.place[u])
        assert [found.get(cut.place[v], -1) for v in inside] == exact[u, inside].tolist()


def test_a_graph_that_explodes_is_stopped_and_says_how_far_it_came():
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 400, (2, 4000))
    weights = rng.integers(1, 1000, 4000)
    tails, heads = np.concatenate([ends, ends[::-1]], axis=1)
    graph = from_arcs(400, tails, heads, np.tile(weights, 2))
    made = contract(graph, graph.weights, 12 * graph.vertices)
    assert made.stopped == "it has too many shortcuts"
    assert 0 < len(made.order) < 400
    assert made.bytes_reached >= 8 * 12 * 400
    refused = contract(graph, graph.weights, 4 * graph.vertices)
    assert (len(refused.order), refused.stopped) == (0, "it has too many shortcuts")


# Numbering and packing


@given(graphs(integral=True), st.data())
def test_arcs_lead_to_smaller_numbers_and_the_core_has_the_smallest(graph, data):
    made, _ = made_of(graph)
    cut = hierarchy(made, data.draw(st.integers(0, graph.vertices)))
    assert sorted(cut.place) == list(range(graph.vertices))
    assert set(np.flatnonzero(cut.place < cut.core)) == set(range(graph.vertices)) - set(
        made.order[: graph.vertices - cut.core].tolist()
    )
    for rows in (cut.up, cut.down):
        for row in range(graph.vertices - cut.core):
            heads = [row + cut.core, *rows.heads[rows.first[row] : rows.first[row + 1]].tolist()]
            assert heads == sorted(set(heads), reverse=True)


@given(st.lists(st.integers(0, 2**40), max_size=40))
def test_fields_of_one_width_are_read_back(values):
    words, width = packed(np.array(values, dtype=np.int64))
    step = np.uint64(width)
    found = [int(low_bits.py_func(window.py_func(words, np.uint64(k) * step), step)) for k in range(len(values))]
    assert found == values


@given(st.lists(st.integers(0, 2**61), max_size=30))
def test_bits_of_values_are_counted(values):
    assert packing.bit_lengths(np.array(values, dtype=np.int64)).tolist() == [value.bit_length() for value in values]


@given(st.lists(st.tuples(st.integers(0, 24), st.integers(1, 9)), min_size=1, max_size=60))
def test_widths_hold_every_field_in_few_bits(fields):
    sizes, counts = zip(*fields, strict=True)
    widths = packing.class_widths(np.array(sizes), np.array(counts))
    total = sum(count * min(width for width in widths if width >= size) for size, count in fields)
    assert widths == sorted(set(widths))
    assert len(widths) <= packing.CLASSES
    if len(set(sizes)) <= packing.CLASSES:
        assert total == sum(size * count for size, count in fields)
    else:  # no worse than leaving out the others of every second width
        some = sorted(set(sizes))[::-2]
        assert total <= sum(count * min(width for width in some if width >= size) for size, count in fields)


@example_count(60)
@given(graphs(integral=True, max_vertices=40), st.data())
def test_the_packed_form_has_exactly_the_arcs(graph, data):
    cut = hierarchy(made_of(graph)[0], data.draw(st.integers(0, graph.vertices)))
    arrays, _ = packing.packed_arrays(cut)
    for name, rows in (("up", cut.up), ("down", cut.down)):
        stored = [arrays[f"{name}_{part}"] for part in ("bits", "block", "rel", "wide")]
        for row in range(graph.vertices - cut.core):
            found = record(*stored, arrays["widths"], np.uint64(row), np.uint64(cut.core))
            arcs = slice(rows.first[row], rows.first[row + 1])
            assert found == list(zip(rows.heads[arcs].tolist(), rows.weights[arcs].tolist(), strict=True))


@njit
def record(bits, block, rel, wide, widths, row, core):
    """The arcs of a record, as the kernels read them."""
    found = [(np.int64(0), np.int64(0))][:0]
    at, end, head_width, weight_width = packing.record_of(bits, block, rel, wide, widths, row)
    head, step = row + core, max(head_width + weight_width, np.uint64(8))
    while at + step <= end:
        head, weight = packing.arc_at(bits, at, head_width, weight_width, head)
        found.append((np.int64(head), weight))
        at += step
    return found


def test_blocks_of_long_records_have_their_own_offsets():
    begin = np.concatenate([[0], np.cumsum(np.random.default_rng(1).integers(0, 60, 200))])
    found = packing._offsets(begin)
    assert len(found["wide"])
    assert len(found["wide"]) < len(begin)
    where = [
        int(packing.begins.py_func(found["block"], found["rel"], found["wide"], np.uint64(k)))
        for k in range(len(begin))
    ]
    assert where == (8 * begin).tolist()
    assert packing.all_begins({f"up_{part}": array for part, array in found.items()}, "up").tolist() == begin.tolist()


# Bounds


@example_count(40)
@given(graphs_to_compile_for(max_vertices=12), st.sampled_from([plain_heuristic, packed_heuristic]))
def test_the_bound_is_the_distance(graph, form):
    made, unit = made_of(graph)
    heuristic = form(hierarchy(made), unit)
    exact, net = true_distances(graph), network(graph)
    if graph.weights.max(initial=0) >= 2**31:
        return  # 8-byte arrays, whose kernels the conformance suite compiles
    many = deploy(heuristic, net).many
    for t in range(graph.vertices):
        found, reaches = many(np.arange(graph.vertices), t), exact[:, t] >= 0
        if graph.integral:
            assert found[reaches].tolist() == exact[reaches, t].tolist()
        else:
            assert found[reaches] == pytest.approx(exact[reaches, t], abs=1e-6)
        assert (found[~reaches] == heuristic.settings["beyond"] * unit).all()
    assert_sound(heuristic, net)


@example_count(40)
@given(graphs_to_compile_for(max_vertices=12), st.data())
def test_the_bound_with_a_core_is_admissible_and_consistent(graph, data):
    made, unit = made_of(graph)
    cut = hierarchy(made, data.draw(st.integers(0, graph.vertices - 1)))
    labels = core_labels(core_graph(cut), data.draw(st.integers(1, 3)), graph.symmetric)
    if labels.rows.dtype == np.int32:
        assert_sound(packed_heuristic(cut, unit, labels), network(graph))


def test_a_landmark_at_every_core_vertex_gives_the_distance():
    graph = load("grid-16")
    made, unit = made_of(graph)
    cut = hierarchy(made, 200)
    many = deploy(packed_heuristic(cut, unit, core_labels(core_graph(cut), 56, True)), network(graph)).many
    exact = true_distances(graph)
    for t in (0, 77, 255):
        assert many(np.arange(256), t).tolist() == exact[:, t].tolist()
