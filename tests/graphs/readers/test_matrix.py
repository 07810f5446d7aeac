"""Sparse matrices that scipy saved are graphs: a row is a tail, a column a head, and a stored entry an arc."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aacbench.errors import DataError
from aacbench.graphs.readers.npz import read_npz

KINDS = ("csr", "csc", "coo", "dia", "bsr")


def saved(folder, matrix):
    path = folder / "m.npz"
    scipy.sparse.save_npz(path, matrix)
    return path


def arcs(graph):
    return {
        (u, v): w
        for u, v, w in zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True)
    }


@given(
    dense=st.integers(1, 6).flatmap(
        lambda n: arrays(
            st.sampled_from([np.int32, np.uint8, np.float64, np.bool_]),
            (n, n),
            elements={"min_value": 0, "max_value": 100},
        )
    ),
    kind=st.sampled_from(KINDS),
    make=st.sampled_from([scipy.sparse.coo_array, scipy.sparse.coo_matrix]),
)
def test_every_format_gives_the_arcs_of_the_dense_matrix(tmp_path_factory, dense, kind, make):
    graph = read_npz(saved(tmp_path_factory.getbasetemp(), make(dense).asformat(kind)), name="m")
    found = np.zeros(dense.shape)
    found[graph.sources, graph.indices] = graph.weights
    off_diagonal = dense.astype(float) * (1 - np.eye(len(dense)))
    assert np.array_equal(found, off_diagonal)
    assert graph.symmetric == np.array_equal(off_diagonal, off_diagonal.T)
    assert (graph.integral, graph.name) == (dense.dtype.kind != "f", "m")


def test_an_explicit_zero_is_an_arc_and_entries_stored_twice_are_added(tmp_path):
    matrix = scipy.sparse.coo_array(([0, 2, 3], ([0, 1, 1], [1, 2, 2])), shape=(3, 3))
    assert arcs(read_npz(saved(tmp_path, matrix))) == {(0, 1): 0, (1, 2): 5}


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            scipy.sparse.csr_array([[0, 1, 2]]),
            r"^m\.npz: the matrix has the shape \(1, 3\); a graph needs a square one",
        ),
        (scipy.sparse.csr_array([[0, -1], [0, 0]]), r"^m\.npz: row 0, column 1: the weight -1 is not a finite number"),
        (scipy.sparse.csr_array([[0, np.nan], [0, 0]]), r"row 0, column 1: the weight nan is not"),
        (scipy.sparse.csr_array([[0, 1j], [0, 0]]), r"values of type complex128; weights must be numbers"),
        (
            scipy.sparse.coo_array(([1], ([0], [1])), shape=(2**30, 2**30)),
            r"has 1073741824 rows, too many for 1 entries",
        ),
        (scipy.sparse.coo_array((0, 0)), r"a graph must have between 1 and"),
        (scipy.sparse.coo_array([1, 2]), r"has the shape \(2,\)"),
    ],
)
def test_a_matrix_that_is_no_graph_is_refused_with_the_reason(tmp_path, matrix, message):
    with pytest.raises(DataError, match=message):
        read_npz(saved(tmp_path, matrix))


@pytest.mark.parametrize(
    "changes", [{"indices": [0, 9]}, {"indices": [-1, 0]}, {"indptr": [0, 9, 2]}, {"indptr": [0, 2]}]
)
def test_indices_outside_the_matrix_are_damage(tmp_path, changes):
    path = saved(tmp_path, scipy.sparse.csr_array([[0, 1], [2, 0]]))
    members = dict(np.load(path)) | {key: np.array(value, dtype=np.int32) for key, value in changes.items()}
    np.savez(path, **members)
    with pytest.raises(DataError, match=r"^m\.npz: this is no graph .* or it is damaged \("):
        read_npz(path)
