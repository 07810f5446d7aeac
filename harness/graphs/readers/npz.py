"""NumPy archives: our own format, which is the arrays of the record with their digest, and scipy's sparse matrices."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.errors import DataError, UnpackLimitError, UsageError
from aacbench.graphs.readers import ISOLATED_VERTICES, Source, open_source
from aacbench.graphs.record import Array, Graph, from_arcs
from aacbench.util.atomic_io import replace_file
from aacbench.util.unpack import check_unpacked_size

FORMAT = "aacbench.graph/1"
_MATRIX_MEMBERS = {"format", "shape"}
_MEMBERS = {"format", "name", "digest", "directed", "indptr", "indices", "weights"}


def save_graph(graph: Graph, path: str | Path) -> None:
    """Write a graph to a `.npz` file, which `file:PATH` reads back with the same digest and names."""
    if Path(path).suffix != ".npz":
        raise UsageError(f"{path}: a graph is saved to a file that ends in .npz.")
    try:
        replace_file(Path(path), graph_bytes(graph))
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}); choose another folder.") from None


def graph_bytes(graph: Graph) -> bytes:
    """Return what `save_graph` writes."""
    arrays = {key: array.astype(array.dtype.newbyteorder("<")) for key, array in graph.arrays().items()}
    arrays["directed"] = np.array(graph.declared_directed)
    for key, text in (("format", FORMAT), ("name", graph.name), ("digest", graph.digest)):
        arrays[key] = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    return archive.getvalue()


def read_npz(path: Path, *, name: str = "") -> Graph:
    """Read a graph of `save_graph` or a matrix of `scipy.sparse.save_npz`; `name` replaces the name in the file."""
    source = open_source(path)
    with _damage_explained(source), np.load(io.BytesIO(source.data), allow_pickle=False) as archive:
        packed = [member.file_size for member in archive.zip.infolist() if member.compress_type]
        check_unpacked_size(source.path, sum(packed))  # the other members are no larger than the file
        if not set(archive.files) >= _MATRIX_MEMBERS:
            return _graph(dict(archive), name)
        matrix = _matrix(source)
    return _from_matrix(source, matrix, name)


@contextmanager
def _damage_explained(source: Source) -> Iterator[None]:
    try:
        yield
    except UnpackLimitError:
        raise
    except Exception as error:  # a damaged archive raises a dozen types, from zipfile, zlib, numpy and ast
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise source.error(
            f"this is no graph of save_graph and no matrix of scipy.sparse.save_npz, or it is damaged ({reason})."
        ) from None


def _graph(arrays: Mapping[str, Array], name: str) -> Graph:
    if not arrays.keys() >= _MEMBERS:
        raise DataError(f"it lacks {', '.join(sorted(_MEMBERS - arrays.keys()))}")
    if _text(arrays["format"]) != FORMAT:
        raise DataError(f"its format is not {FORMAT}")
    graph = Graph(
        indptr=_checked(arrays["indptr"], "i8"),
        indices=_checked(arrays["indices"], "i4"),
        weights=_checked(arrays["weights"], "i8", "f8"),
        coords=_checked(arrays["coords"], "f8", dimensions=2) if "coords" in arrays else None,
        names=_names(arrays["names"]) if "names" in arrays else None,
        name=name or _text(arrays["name"]),
        declared_directed=bool(_checked(arrays["directed"], "b1", dimensions=0)),
    )
    if _text(arrays["digest"]) != graph.digest:
        raise DataError("its digest does not fit its arrays")
    return graph


def _matrix(source: Source) -> Any:
    """Return the matrix in coordinate form."""
    from scipy.sparse import load_npz  # imported late: it takes half a second

    matrix = load_npz(io.BytesIO(source.data))
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # conversions of a damaged one would leave their arrays
    matrix = matrix.tocoo()
    matrix.sum_duplicates()  # as everywhere in scipy, entries stored twice are added
    return matrix


def _from_matrix(source: Source, matrix: Any, name: str) -> Graph:
    """Return the graph of a sparse matrix: an arc from row to column for each stored entry, explicit zeros included."""
    weights, size = matrix.data, matrix.shape[0]
    if matrix.shape != (size, size):
        raise source.error(f"the matrix has the shape {matrix.shape}; a graph needs a square one.")
    if size > 2 * len(weights) + ISOLATED_VERTICES:
        raise source.error(f"the matrix has {size} rows, too many for {len(weights)} entries; leave empty rows out.")
    if weights.dtype.kind not in "biuf":
        raise source.error(f"the matrix holds values of type {weights.dtype}; weights must be numbers.")
    rows, columns = matrix.coords
    for i in np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))[:1]:
        place = f"row {rows[i]}, column {columns[i]}"
        raise source.error(f"{place}: the weight {weights[i]} is not a finite number of at least 0; correct it.")
    kind = np.float64 if weights.dtype.kind == "f" else np.int64 if weights.dtype.kind == "b" else weights.dtype
    with source.named_in_errors():
        return from_arcs(size, rows, columns, weights.astype(kind), name=name)


def _checked(array: Array, *kinds: str, dimensions: int = 1) -> Array:
    if array.dtype not in [np.dtype("<" + kind) for kind in kinds] or array.ndim != dimensions:
        raise DataError(f"an array of type {array.dtype} and {array.ndim} dimensions is unexpected")
    return array


def _names(array: Array) -> Array:
    return _checked(array, f"U{array.dtype.itemsize // 4}")


def _text(array: Array) -> str:
    return _checked(array, "u1").tobytes().decode("utf-8", "surrogatepass")
