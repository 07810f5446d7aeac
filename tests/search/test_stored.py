"""Networks from the cache: the same arrays as computed ones, also after damage."""

import numpy as np
import pytest
from support import true_distances

from aacbench.graphs.load import load
from aacbench.labels import Direction, distances
from aacbench.search import network
from aacbench.search.networks import ORDERS
from aacbench.search.stored import networks_folder, stored_network


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path))


def same(one, other) -> bool:
    arrays = [(net.original, net.place, *net.arcs, *net.backward) for net in (one, other)]
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(*arrays, strict=True))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["p7", "road-400"])
def test_a_stored_network_is_the_computed_one(name: str, order: str) -> None:
    graph = load(name)
    first, second = stored_network(graph, order), stored_network(graph, order)
    assert same(first, network(graph, order))
    assert same(second, first)
    assert second.graph is graph
    assert np.array_equal(distances(second, 3, Direction.TO), true_distances(graph)[:, 3])


def test_a_stored_network_cannot_be_written_to() -> None:
    graph = load("p7")
    stored_network(graph)
    with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
        stored_network(graph).arcs.weights.flags.writeable = True


def test_a_damaged_one_is_made_anew() -> None:
    graph = load("p7")
    stored_network(graph)
    file = next(networks_folder().rglob("arcs_weights.npy"))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert same(stored_network(graph), network(graph))


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path) -> None:
    networks_folder().write_text("a file where the folder should be")
    assert same(stored_network(load("p7")), network(load("p7")))
