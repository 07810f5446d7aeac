import os

import numpy as np
import pytest

from aacbench.errors import DataError
from aacbench.graphs import from_arcs
from aacbench.graphs.readers.npz import read_npz, write_npz

WHOLE = from_arcs(3, [0, 1], [1, 2], [5, 6], name="whole \u2603\0", declared_directed=False)
REAL = from_arcs(2, [0], [1], [0.1], coords=[[0.5, 1], [2, 3]], name="")
BARE = from_arcs(1, [], [], np.empty(0, dtype=np.int64))


@pytest.mark.parametrize("graph", [WHOLE, REAL, BARE])
def test_a_graph_comes_back_as_it_was(tmp_path, graph):
    write_npz(graph, tmp_path / "g.npz")
    found = read_npz(tmp_path / "g.npz")
    assert (found.digest, found.name, found.declared_directed) == (graph.digest, graph.name, graph.declared_directed)
    assert found.weights.dtype == graph.weights.dtype
    assert read_npz(tmp_path / "g.npz", name="other").name == "other"


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "g.anything"
    write_npz(WHOLE, path)
    write_npz(REAL, path)
    assert read_npz(path).digest == REAL.digest
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    write_npz(WHOLE, path)

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(DataError, match=r"g\.npz cannot be written \(No space left on device\)"):
        write_npz(REAL, path)
    assert read_npz(path).digest == WHOLE.digest
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        write_npz(WHOLE, tmp_path / "nowhere" / "g.npz")


def test_compressed_arrays_are_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    write_npz(WHOLE, path)
    np.savez_compressed(path, **dict(np.load(path)))
    assert read_npz(path).digest == WHOLE.digest
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", "1e-7")
    with pytest.raises(DataError, match=r"^g\.npz unpacks to more than 1e-07 GiB; .* set AACBENCH_UNPACK_LIMIT"):
        read_npz(path)
    write_npz(WHOLE, path)
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
        ({"indices": None}, "it lacks indices"),
        ({"indptr": np.array([[0, 1, 2, 2]])}, "2 dimensions"),
        ({"directed": np.array(True)}, "its digest does not fit"),
        ({"format": np.frombuffer(b"aacbench.graph/2", dtype=np.uint8)}, "its format is not aacbench.graph/1"),
        ({"format": None}, "it lacks format"),
    ],
)
def test_a_changed_archive_is_an_error(tmp_path, changes, message):
    path = tmp_path / "g.npz"
    write_npz(WHOLE, path)
    change(path, **changes)
    with pytest.raises(
        DataError, match=rf"^g\.npz: this is not a graph written by aacbench, or it is damaged \(.*{message}"
    ):
        read_npz(path)


def test_another_file_is_an_error(tmp_path):
    path = tmp_path / "g.npz"
    path.write_bytes(b"p sp 1 0\n")
    with pytest.raises(DataError, match="not a graph written by aacbench"):
        read_npz(path)
