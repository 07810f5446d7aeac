"""The graph record against a dictionary of dictionaries, and what it refuses."""

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.graphs import Graph, from_arcs

integers = st.one_of(st.integers(0, 5), st.integers(2**24 - 2, 2**24 + 2), st.integers(2**53 - 2, 2**53 + 2))
floats = st.one_of(st.sampled_from([0.0, -0.0, 0.1, 1.0]), st.floats(0, 1e300))


@st.composite
def arc_lists(draw, weights=None):
    size = draw(st.integers(1, 8))
    kind = weights if weights is not None else draw(st.sampled_from([integers, floats]))
    vertex = st.integers(0, size - 1)
    return size, draw(st.lists(st.tuples(vertex, vertex, kind), max_size=40))


def build(size, arcs, **extra):
    tails, heads, weights = zip(*arcs, strict=True) if arcs else ((), (), ())
    return from_arcs(size, tails, heads, weights, **extra)


def twin(size, arcs):
    """Each vertex's arcs as {head: smallest weight}, without self-loops."""
    rows = {v: {} for v in range(size)}
    for tail, head, weight in arcs:
        if tail != head:
            rows[tail][head] = min(weight, rows[tail].get(head, weight))
    return rows


def rows_of(graph):
    rows = {}
    for v in range(graph.vertices):
        row = slice(graph.indptr[v], graph.indptr[v + 1])
        rows[v] = list(zip(graph.indices[row].tolist(), graph.weights[row].tolist(), strict=True))
    return rows


@given(arc_lists())
def test_rows_are_ascending_with_the_smallest_of_parallel_arcs_and_no_self_loops(case):
    size, arcs = case
    graph = build(size, arcs)
    assert rows_of(graph) == {v: sorted(row.items()) for v, row in twin(size, arcs).items()}
    assert (graph.vertices, graph.arcs) == (size, sum(len(row) for row in twin(size, arcs).values()))
    assert graph.sources.tolist() == [v for v, row in rows_of(graph).items() for _ in row]


@given(arc_lists(integers).filter(lambda case: case[1]))
def test_integers_stay_integers(case):
    graph = build(*case)
    assert graph.integral
    assert graph.weights.dtype == np.int64


@pytest.mark.parametrize("weight", [0, 2**24 + 1, 2**53 + 1, 2**62 - 1025])
def test_an_integer_weight_is_kept_to_the_last_digit(weight):
    assert from_arcs(2, [0], [1], [weight]).weights.tolist() == [weight]
    assert from_arcs(2, [0], [1], np.array([weight], dtype=np.uint64)).weights.tolist() == [weight]


def test_floats_stay_floats_even_where_they_are_whole():
    graph = from_arcs(2, [0], [1], np.array([3.0], dtype=np.float32))
    assert not graph.integral
    assert graph.weights.dtype == np.float64


def test_a_zero_weight_is_an_arc():
    assert rows_of(from_arcs(2, [0], [1], [0])) == {0: [(1, 0)], 1: []}


@given(arc_lists(st.integers(0, 2)), st.booleans())
def test_symmetric_means_every_arc_has_an_equal_reverse(case, both_ways):
    size, arcs = case
    if both_ways:
        arcs = arcs + [(head, tail, weight) for tail, head, weight in arcs]
    rows = twin(size, arcs)
    wanted = all(rows[head].get(tail) == weight for tail, row in rows.items() for head, weight in row.items())
    assert build(size, arcs).symmetric == wanted
    assert wanted or not both_ways


@given(arc_lists())
def test_reverse_turns_every_arc_and_back(case):
    size, arcs = case
    graph = build(size, arcs, coords=np.arange(2 * size).reshape(size, 2), name="n", declared_directed=False)
    turned = graph.reverse
    assert rows_of(turned) == rows_of(build(size, [(head, tail, weight) for tail, head, weight in arcs]))
    assert turned.reverse is graph
    assert (turned is graph) == graph.symmetric
    assert (turned.name, turned.declared_directed) == ("n", False)
    assert np.array_equal(turned.coords, graph.coords)


@given(arc_lists(), st.randoms())
def test_digest_ignores_the_order_of_arcs_and_the_name(case, random):
    size, arcs = case
    shuffled = random.sample(arcs, len(arcs))
    assert build(size, shuffled, name="other").digest == build(size, arcs, name="one").digest


@given(arc_lists(), arc_lists())
def test_digests_are_equal_exactly_where_graphs_are(one, other):
    same = one[0] == other[0] and twin(*one) == twin(*other)
    graphs = build(*one), build(*other)
    assert (graphs[0].digest == graphs[1].digest) == (same and graphs[0].integral == graphs[1].integral)


BASE = {"vertices": 3, "sources": [0, 1, 2], "targets": [1, 2, 0], "weights": [4, 5, 6]}


@pytest.mark.parametrize(
    "changes",
    [
        {"vertices": 4},
        {"sources": [0, 1, 1], "targets": [1, 2, 0]},
        {"targets": [1, 2, 1]},
        {"weights": [4, 5, 7]},
        {"weights": [4.0, 5.0, 6.0]},
        {"coords": [[0, 0], [1, 1], [2, 2]]},
        {"declared_directed": False},
    ],
)
def test_digest_changes_with_any_value(changes):
    assert from_arcs(**{**BASE, **changes}).digest != from_arcs(**BASE).digest


def test_digest_changes_with_a_coordinate():
    one, other = (from_arcs(**BASE, coords=[[0, 0], [1, 1], [2, y]]) for y in (2.0, np.nextafter(2.0, 3.0)))
    assert one.digest != other.digest


def test_digest_is_of_little_endian_bytes_after_a_format_tag():
    head = '{"declared_directed": true, "indices": ["<i4", [3]], "indptr": ["<i8", [4]], "weights": ["<i8", [3]]}'
    values = struct.pack("<4q", 0, 1, 2, 3) + struct.pack("<3i", 1, 2, 0) + struct.pack("<3q", 4, 5, 6)
    wanted = hashlib.sha256(b"aacbench.graph/1\0" + head.encode() + b"\0" + values)
    assert from_arcs(**BASE).digest == wanted.hexdigest()


def test_digest_takes_minus_zero_for_zero():
    assert from_arcs(2, [0], [1], [-0.0]).digest == from_arcs(2, [0], [1], [0.0]).digest


def test_arrays_are_read_only_and_nobody_elses():
    weights, coords = np.array([4, 5, 6]), np.zeros((3, 2))
    graph = from_arcs(**{**BASE, "weights": weights, "coords": coords})
    weights[:], coords[:] = 9, 9
    assert graph.weights.tolist() == [4, 5, 6]
    assert not graph.coords.any()
    turned = graph.reverse
    for array in (graph.indptr, graph.indices, graph.weights, graph.coords, graph.sources, turned.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("size", [1, 4])
def test_no_arcs_are_a_graph_too(size):
    graph = from_arcs(size, [], [], [])
    assert (graph.vertices, graph.arcs, graph.symmetric) == (size, 0, True)
    assert rows_of(graph) == {v: [] for v in range(size)}
    assert from_arcs(size, [], [], np.empty(0, dtype=np.int64)).integral


def test_a_single_vertex_may_have_only_self_loops():
    assert from_arcs(1, [0, 0], [0, 0], [1, 2]).arcs == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [4, -5, 6]}, "arc 1 has the negative weight -5"),
        ({"weights": [4.0, 5.0, -0.5]}, "arc 2 has the negative weight -0.5"),
        ({"weights": [4.0, np.nan, 6.0]}, "arc 1 has a weight that is not finite"),
        ({"weights": [np.inf, 5.0, 6.0]}, "arc 0 has a weight that is not finite"),
        ({"weights": [2**61, 2**61, 0]}, r"add up to 2\^62 or more"),
        ({"weights": np.array([1, 2, 2**63 + 1], dtype=np.uint64)}, r"add up to 2\^62 or more"),
        ({"weights": [2**62, 2**62, 2**62]}, r"add up to 2\^62 or more"),
        ({"weights": [1, 2, 2**63]}, "weights numbers of at most 64 bits"),
        ({"weights": [1, 2, 2**64]}, "weights numbers of at most 64 bits"),
        ({"weights": [1e308, 1e308, 1e308]}, "add up to infinity"),
        ({"weights": ["4", "5", "6"]}, "weights numbers"),
        ({"weights": [True, True, False]}, "weights numbers"),
        ({"weights": [4, 5]}, "3 sources, 3 targets and 2 weights do not match"),
        ({"targets": [1]}, "3 sources, 1 targets and 3 weights do not match"),
        ({"weights": [[4], [5], [6]]}, "flat lists"),
        ({"sources": 0, "targets": 1, "weights": 2}, "flat lists"),
        ({"sources": [0.0, 1.0, 2.0]}, "vertices must be integers"),
        ({"targets": [1.0, 2.0, 0.0]}, "vertices must be integers"),
        ({"targets": [1, 2, 3]}, r"but vertices are 0 to 2"),
        ({"sources": [-1, 1, 2]}, r"but vertices are 0 to 2"),
        ({"targets": np.array([1, 2, 2**64 - 1], dtype=np.uint64)}, r"but vertices are 0 to 2"),
        ({"vertices": 0}, "between 1 and"),
        ({"vertices": 2**31 - 1}, "between 1 and"),
        ({"coords": [[0, 0], [1, 1]]}, r"\(2, 2\) coordinates do not fit 3 vertices"),
        ({"coords": [[0, 0], [1, 1], [np.nan, 2]]}, "a coordinate is not finite"),
        ({"coords": [["a", "b"]] * 3}, "coordinates must be numbers"),
    ],
)
def test_what_is_no_graph_is_refused_by_name(changes, message):
    with pytest.raises(DataError, match=f"Graph 'g': .*{message}"):
        from_arcs(**{**BASE, "name": "g", **changes})


@pytest.mark.parametrize(
    ("indptr", "indices", "weights", "message"),
    [
        ([0, 2, 2], [1, 1], [1, 1], "ascending, distinct"),
        ([0, 2, 2, 2], [2, 1], [1, 1], "ascending, distinct"),
        ([0, 1, 1], [0], [1], "self-loop"),
        ([0, 1, 2], [1], [1], "indptr"),
        ([1, 1, 1], [], [], "indptr"),
        ([0, 2, 1, 2], [1, 2], [1, 1], "indptr"),
        ([0], [], [], "indptr"),
        ([0, 1, 1], [2], [1], "arc 0 names the vertex 2, but"),
        ([0, 1, 1], [2**32 + 1], [1], "4294967297"),
        ([0, 1, 1], [1.5], [1], "must be integers"),
        ([0.0, 1.0, 1.0], [1], [1], "must be integers"),
        ([0, 1, 1], [1], [1, 2], "do not match"),
    ],
)
def test_rows_given_directly_are_checked_as_well(indptr, indices, weights, message):
    empty_is_integral = [np.array(a) if a else np.empty(0, dtype=np.int64) for a in (indptr, indices, weights)]
    with pytest.raises(DataError, match=message):
        Graph(**dict(zip(("indptr", "indices", "weights"), empty_is_integral, strict=True)))


def test_rows_may_begin_below_where_the_row_before_ended_and_be_empty():
    indptr, indices = np.array([0, 0, 2, 2, 3, 3]), np.array([2, 4, 0])
    graph = Graph(indptr=indptr, indices=indices, weights=np.ones(3, dtype=np.int64))
    assert rows_of(graph) == {0: [], 1: [(2, 1), (4, 1)], 2: [], 3: [(0, 1)], 4: []}
