import os

import numpy as np
import pytest

from aacbench.errors import DataError, UsageError
from aacbench.graphs import from_arcs, save_graph
from aacbench.graphs.load import load
from aacbench.graphs.readers.npz import read_npz

WHOLE = from_arcs(3, [0, 1], [1, 2], [5, 6], name="whole \u2603\0", declared_directed=False)
REAL = from_arcs(2, [0], [1], [0.1], coords=[[0.5, 1], [2, 3]], name="")
NAMED = from_arcs(2, [0], [1], [4], names=["Bad Ischl", "\u2603"])
BARE = from_arcs(1, [], [], np.empty(0, dtype=np.int64))


@pytest.mark.parametrize("graph", [WHOLE, REAL, NAMED, BARE])
def test_a_graph_comes_back_as_it_was(tmp_path, graph):
    save_graph(graph, tmp_path / "g.npz")
    found = read_npz(tmp_path / "g.npz")
    assert (found.digest, found.name, found.declared_directed) == (graph.digest, graph.name, graph.declared_directed)
    assert found.weights.dtype == graph.weights.dtype
    assert found.vertex_by_name == graph.vertex_by_name
    assert read_npz(tmp_path / "g.npz", name="other").name == "other"


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "other.npz"
    save_graph(WHOLE, path)
    save_graph(REAL, path)
    assert read_npz(path).digest == REAL.digest
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    save_graph(WHOLE, path)

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(DataError, match=r"g\.npz cannot be written \(No space left on device\)"):
        save_graph(REAL, path)
    assert read_npz(path).digest == WHOLE.digest
    assert list(tmp_path.iterdir()) == [path]


def test_a_saved_graph_is_loaded_by_its_path_and_kept_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    save_graph(NAMED, tmp_path / "g.npz")
    for _ in range(2):
        found = load(f"mine=file:{tmp_path / 'g.npz'}")
        assert (found.digest, found.name, found.names.tolist()) == (NAMED.digest, "mine", ["Bad Ischl", "\u2603"])
    assert (found.vertex_name(0), WHOLE.vertex_name(0)) == ("Bad Ischl", "0")


def test_another_suffix_is_refused_since_it_would_not_be_found_again(tmp_path):
    with pytest.raises(UsageError, match=r"g\.bin: a graph is saved to a file that ends in \.npz"):
        save_graph(WHOLE, tmp_path / "g.bin")


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        save_graph(WHOLE, tmp_path / "nowhere" / "g.npz")


def test_compressed_arrays_are_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    save_graph(WHOLE, path)
    np.savez_compressed(path, **dict(np.load(path)))
    assert read_npz(path).digest == WHOLE.digest
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", "1e-7")
    with pytest.raises(DataError, match=r"^g\.npz unpacks to more than 1e-07 GiB; .* set AACBENCH_UNPACK_LIMIT"):
        read_npz(path)
    save_graph(WHOLE, path)
    assert read_npz(path).digest == WHOLE.digest


def change(path, **changes):
    """Write the archive again with some arrays changed, and those that are None left out."""
    arrays = dict(np.load(path)) | changes
    with path.open("wb") as file:
        np.savez(file, **{key: array for key, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": np.array([5, 7])}, "its digest does not fit its arrays"),
        ({"weights": np.array([5, -7])}, "negative weight"),
        ({"weights": np.array([5.0, 6.0])}, "its digest does not fit"),
        ({"weights": np.array([5, 6], dtype=np.int32)}, "type int32"),
        ({"weights": np.array(["5", {}], dtype=object)}, "Object arrays"),
        ({"names": np.array([1, 2, 3])}, "type int64"),
        ({"names": np.array(["a", "b"])}, "names do not fit 3 vertices"),
        ({"names": np.array(["a", "b", "a"])}, "two vertices have the same name"),
        ({"indices": None}, "it lacks indices"),
        ({"indptr": np.array([[0, 1, 2, 2]])}, "2 dimensions"),
        ({"directed": np.array(True)}, "its digest does not fit"),
        ({"format": np.frombuffer(b"aacbench.graph/2", dtype=np.uint8)}, "its format is not aacbench.graph/1"),
        ({"format": None}, "it lacks format"),
    ],
)
def test_a_changed_archive_is_an_error(tmp_path, changes, message):
    path = tmp_path / "g.npz"
    save_graph(WHOLE, path)
    change(path, **changes)
    with pytest.raises(
        DataError, match=rf"^g\.npz: this is no graph of save_graph and no matrix of .*, or it is damaged \(.*{message}"
    ):
        read_npz(path)


def test_another_file_is_an_error(tmp_path):
    path = tmp_path / "g.npz"
    path.write_bytes(b"p sp 1 0\n")
    with pytest.raises(DataError, match="this is no graph of save_graph"):
        read_npz(path)
