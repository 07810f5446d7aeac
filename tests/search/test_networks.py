"""Stored networks equal computed ones, also after damage, and fingerprints notice changed arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from support import true_distances

from aacbench.graphs.load import load
from aacbench.labels import Direction, distances
from aacbench.search import network
from aacbench.search.networks import _FACTOR, _START, fingerprint, mixed, networks_folder, stored_network
from aacbench.search.policy import VERTEX_ORDERS

WORDS = arrays.arrays(np.uint64, st.integers(0, 40), elements=st.integers(0, 2**64 - 1))


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path))


def same(one, other) -> bool:
    both = [(net.original, net.place, *net.arcs, *net.backward) for net in (one, other)]
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(*both, strict=True))


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("order", VERTEX_ORDERS)
@pytest.mark.parametrize("name", ["p7", "road-400"])
def test_a_stored_network_is_the_computed_one(name: str, order: str) -> None:
    graph = load(name)
    first, second = stored_network(graph, order), stored_network(graph, order)
    assert same(first, network(graph, order))
    assert same(second, first)
    assert second.graph is graph
    assert np.array_equal(distances(second, 3, Direction.TO), true_distances(graph)[:, 3])
    assert (second.backward is second.arcs) == graph.symmetric
    assert all(map(np.array_equal, second.backward, network(graph, order).backward))


@pytest.mark.usefixtures("own_cache")
def test_a_stored_network_cannot_be_written_to() -> None:
    graph = load("p7")
    stored_network(graph)
    with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
        stored_network(graph).arcs.weights.flags.writeable = True


@pytest.mark.usefixtures("own_cache")
def test_a_damaged_one_is_made_anew() -> None:
    graph = load("p7")
    stored_network(graph)
    file = next(networks_folder().rglob("arcs_weights.npy"))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert same(stored_network(graph), network(graph))


@pytest.mark.usefixtures("own_cache")
def test_a_folder_that_cannot_be_written_costs_only_time() -> None:
    networks_folder().write_text("a file where the folder should be")
    assert same(stored_network(load("p7")), network(load("p7")))


@given(WORDS)
def test_the_kernel_does_what_plain_integers_do(words: np.ndarray) -> None:
    start = int(_START)
    lanes = [start, start ^ (2**64 - 1)] * 2
    whole = len(words) // 4 * 4
    for lane in range(4):
        lanes[lane] = _folded(lanes[lane], words[lane:whole:4].tolist())
    found = _folded(_folded(lanes[0], words[whole:].tolist()), lanes[1:])
    assert int(mixed(_START, words)) == found


def _folded(start: int, words: list[int]) -> int:
    for word in words:
        start = ((start ^ word) * int(_FACTOR)) % 2**64
    return start


def test_two_words_that_change_places_are_noticed() -> None:
    words = np.arange(8, dtype=np.uint64)
    swapped = [
        words[[*range(k), k + step, *range(k + 1, k + step), k, *range(k + step + 1, 8)]]
        for step in (1, 2, 4)
        for k in range(8 - step)
    ]
    assert len({fingerprint([array]) for array in [words, *swapped]}) == 1 + len(swapped)


@given(st.integers(1, 50), st.sampled_from(["i4", "i8", "f8", "u1"]), st.data())
def test_any_change_of_one_value_is_noticed(length: int, dtype: str, data: st.DataObject) -> None:
    array = np.arange(length).astype(dtype)
    at = data.draw(st.integers(0, length - 1))
    changed = array.copy()
    changed[at] += 1
    assert fingerprint([array]) != fingerprint([changed])
    assert fingerprint([array]) == fingerprint([array.copy()])


def test_shape_and_type_count() -> None:
    zeros = np.zeros(8, dtype=np.int32)
    others = [zeros.reshape(2, 4), zeros.view(np.uint32), zeros[:7], np.zeros(9, dtype=np.int32), zeros.view(np.int64)]
    assert len({fingerprint([array]) for array in [zeros, *others]}) == 6
