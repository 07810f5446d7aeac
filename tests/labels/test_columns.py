"""Pools at some vertices: the same landmarks and distances as whole pools, and methods choose the same from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_builds import assert_sound, blocks, built, road, the_same
from support import example_count, graphs

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.load import load
from aacbench.labels import SELECTORS, Direction, distances, farthest_points, of_landmarks, select
from aacbench.labels import pool as pools
from aacbench.labels.exact import distance_rows
from aacbench.labels.table import RowStore, Table
from aacbench.queries.sampling import sample
from aacbench.run import shared
from aacbench.run.shared import Pools
from aacbench.search import network
from aacbench.util import array_store

SOME = np.array([7, 3, 499, 3, 120])


def assert_cut(found, whole, vertices):
    """The pool is the whole one at these vertices."""
    assert found.landmarks.tolist() == whole.landmarks.tolist()
    assert found.vertices.tolist() == sorted(set(vertices.tolist()))
    assert found.forward.dtype == whole.forward.dtype
    assert found.symmetric == whole.symmetric
    for one, other in ((found.forward, whole.forward), (found.backward, whole.backward)):
        assert np.array_equal(one[:, found.columns_of(vertices)], other[:, vertices])


@pytest.fixture
def large(monkeypatch):
    """Every pool counts as a large one."""
    monkeypatch.setattr(shared, "LARGE", 0)


@given(graphs(), st.data())
@example_count(60)
def test_columns_are_those_of_the_whole_pool(graph, data):
    net = network(graph)
    vertices = np.array(data.draw(st.lists(st.integers(0, graph.vertices - 1), min_size=1, max_size=4)))
    landmarks = data.draw(st.lists(st.integers(0, graph.vertices - 1), min_size=1, max_size=3))
    assert_cut(of_landmarks(net, landmarks, at=vertices), of_landmarks(net, landmarks), vertices)
    assert_cut(farthest_points(net, 1, at=vertices), farthest_points(net, 1), vertices)
    assert_cut(of_landmarks(net, landmarks).at(vertices), of_landmarks(net, landmarks), vertices)


@pytest.mark.parametrize("selector", SELECTORS)
def test_selectors_choose_the_same_landmarks_at_some_vertices(selector):
    assert_cut(select(road(), selector, 12, seed=3, at=SOME), select(road(), selector, 12, seed=3), SOME)


def test_the_type_of_columns_is_that_of_whole_rows():
    net = network(from_arcs(3, [0, 1, 2], [1, 2, 0], [2**30, 2**31, 5]))
    assert of_landmarks(net, [0], at=np.array([1])).forward.dtype == np.int64


def test_a_vertex_without_a_column_is_refused():
    with pytest.raises(UsageError, match="no column of some"):
        of_landmarks(road(), [0], at=SOME).columns_of(np.array([8]))


@pytest.mark.parametrize("ask", [lambda p: p.farthest(9, at=SOME), lambda p: p.selected("mixed", 9, 1, at=SOME)])
def test_a_large_pool_is_stored_at_its_vertices_only(large, tmp_path, monkeypatch, ask):
    whole = ask(Pools(road()))
    first = Pools(road(), tmp_path)
    assert_cut(ask(first), whole_of(ask), SOME)
    assert max(path.stat().st_size for path in tmp_path.rglob("*.npy")) < 4 * 500
    assert first.seconds > 0
    again = Pools(road(), tmp_path)
    monkeypatch.setattr(pools, "farthest_points", lambda *_, **__: pytest.fail("computed again"))
    assert np.array_equal(ask(again).forward, whole.forward)
    assert again.seconds == first.seconds


def whole_of(ask):
    """The pool that a question is about, with all its columns."""

    class Whole(Pools):
        def farthest(self, count, start=None, *, at=None):
            return farthest_points(road(), count)

        def selected(self, selector, count, seed=0, *, at=None):
            return select(road(), selector, count, seed)

    return ask(Whole(road()))


def test_columns_of_other_vertices_need_no_new_selection(large, tmp_path, monkeypatch):
    Pools(road(), tmp_path).selected("avoid", 6, at=SOME)
    expected = select(road(), "avoid", 6).at(SOME - 1)
    monkeypatch.setattr("aacbench.labels.selectors.select", lambda *_, **__: pytest.fail("selected again"))
    assert np.array_equal(Pools(road(), tmp_path).selected("avoid", 6, at=SOME - 1).forward, expected.forward)


@pytest.mark.parametrize("is_large", [True, False])
def test_rows_of_chosen_landmarks_are_whole(tmp_path, monkeypatch, is_large):
    monkeypatch.setattr(shared, "LARGE", 0 if is_large else 2**30)
    service = Pools(road(), tmp_path)
    found = service.rows(service.selected("random", 8, at=SOME), [5, 2])
    whole = select(road(), "random", 8)
    assert found.landmarks.tolist() == whole.landmarks[[5, 2]].tolist()
    assert np.array_equal(found.backward, whole.backward[[5, 2]])
    assert found.vertices is None


@pytest.mark.parametrize("name", ["greedy-train", "greedy-max"])
@pytest.mark.parametrize("net", [road, blocks])
def test_greedy_methods_choose_the_same_from_a_large_pool(tmp_path, monkeypatch, name, net):
    queries = sample(net().graph, 40, seed=5)
    given = {"pairs": 200} if name == "greedy-train" else {"oracle": queries}
    expected = built(name, net(), tmp_path / "small", 32, K0=16, **given)
    monkeypatch.setattr(shared, "LARGE", 0)
    assert the_same(built(name, net(), tmp_path / "large", 32, K0=16, **given), expected)


def test_the_tuned_compressor_is_built_from_a_large_pool(large, tmp_path):
    net = network(load("road-120"))
    given = {"K0": 20, "pairs": 80, "epochs": 20, "validation": sample(net.graph, 20)}
    first = built("aac-tuned", net, tmp_path / "one", 32, **given)
    assert_sound(first, net)
    assert the_same(first, built("aac-tuned", net, tmp_path / "two", 32, **given))
    assert first.facts["expanded"] <= first.facts["expanded_at_start"]


def test_rows_come_in_order_and_few_are_computed_ahead():
    computed = []

    def vertices():
        for vertex in range(10):
            computed.append(vertex)
            yield vertex

    rows = distance_rows(road(), vertices(), Direction.TO, threads=2)
    for vertex in range(10):
        assert np.array_equal(next(rows), distances(road(), vertex, Direction.TO))
        assert len(computed) <= vertex + 3
    assert list(rows) == []


@pytest.mark.parametrize("file", [None, "table"])
def test_a_table_becomes_wide_when_a_row_needs_it(tmp_path, file):
    table = Table(3, None, tmp_path / file if file else None)
    for k, row in enumerate(([0, 1, -1], [2**31, 5, 0], [7, 8, 9])):
        table.put(k, np.array(row))
    assert table.finished().tolist() == [[0, 1, -1], [2**31, 5, 0], [7, 8, 9]]
    assert table.finished().dtype == np.int64
    assert not table.finished().flags.writeable


def test_a_stored_table_beyond_a_size_is_computed_in_its_file(tmp_path, monkeypatch):
    expected = farthest_points(road(), 16)
    monkeypatch.setattr(pools, "_IN_MEMORY", 0)
    written = []
    monkeypatch.setattr(np, "save", lambda stream, array, **_: written.append(array.shape) or real(stream, array))
    found = pools.stored_farthest_points(tmp_path, road(), 16)
    assert np.array_equal(found.forward, expected.forward)
    assert np.array_equal(found.backward, expected.backward)
    assert written == [(16,)]  # the landmarks; the tables were moved
    assert not list((tmp_path / "scratch").iterdir())


real = np.save


def test_a_full_disk_costs_memory_and_not_the_pool(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pools, "_IN_MEMORY", 0)
    monkeypatch.setattr("os.posix_fallocate", full)
    found = pools.stored_farthest_points(tmp_path, road(), 16)
    assert np.array_equal(found.forward, farthest_points(road(), 16).forward)


def test_a_part_of_a_scratch_table_is_written_and_not_moved(tmp_path):
    with array_store.scratch(tmp_path) as folder:
        table = np.lib.format.open_memmap(folder / "t.npy", mode="w+", dtype=np.int32, shape=(4, 3))
        table[:] = np.arange(12).reshape(4, 3)
        array_store.write(tmp_path, "ab", {"t": table[1:3]}, {})
        assert (folder / "t.npy").exists()
    assert array_store.read(tmp_path, "ab").arrays["t"].tolist() == [[3, 4, 5], [6, 7, 8]]


@given(st.lists(st.lists(st.integers(-1, 2**40), min_size=3, max_size=3), min_size=1, max_size=5), st.integers(0, 60))
@example_count(40)
def test_rows_in_memory_and_in_a_file_are_read_as_they_were_put(rows, in_memory):
    store = RowStore(in_memory)
    read = [store.put(np.array(row)) for row in rows]
    for _ in range(2):
        assert [one().tolist() for one in read] == rows
