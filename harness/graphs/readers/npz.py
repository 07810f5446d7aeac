"""Graphs in our own file format: the arrays of the record in a NumPy archive, with their digest."""

import io
from pathlib import Path

import numpy as np

from aacbench.errors import DataError, UnpackLimitError, UsageError
from aacbench.graphs.readers import open_source
from aacbench.graphs.record import Array, Graph
from aacbench.util.atomic_io import replace_file
from aacbench.util.unpack import check_unpacked_size

FORMAT = "aacbench.graph/1"
_MEMBERS = {"format", "name", "digest", "directed", "indptr", "indices", "weights"}


def save_graph(graph: Graph, path: str | Path) -> None:
    """Write a graph to a `.npz` file, which `file:PATH` reads back with the same digest and names."""
    if Path(path).suffix != ".npz":
        raise UsageError(f"{path}: a graph is saved to a file that ends in .npz.")
    arrays = {key: array.astype(array.dtype.newbyteorder("<")) for key, array in graph.arrays().items()}
    arrays["directed"] = np.array(graph.declared_directed)
    for key, text in (("format", FORMAT), ("name", graph.name), ("digest", graph.digest)):
        arrays[key] = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    try:
        replace_file(Path(path), archive.getvalue())
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}); choose another folder.") from None


def read_npz(path: Path, *, name: str = "") -> Graph:
    """Read a graph that `save_graph` wrote; `name` replaces the name in the file."""
    source = open_source(path)
    try:
        with np.load(io.BytesIO(source.data), allow_pickle=False) as archive:
            packed = [member.file_size for member in archive.zip.infolist() if member.compress_type]
            check_unpacked_size(source.path, sum(packed))  # the other members are no larger than the file
            arrays = dict(archive)
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
    except UnpackLimitError:
        raise
    except Exception as error:  # a damaged archive raises a dozen types, from zipfile, zlib, numpy and ast
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise source.error(f"this is not a graph written by aacbench, or it is damaged ({reason}).") from None
    return graph


def _checked(array: Array, *kinds: str, dimensions: int = 1) -> Array:
    if array.dtype not in [np.dtype("<" + kind) for kind in kinds] or array.ndim != dimensions:
        raise DataError(f"an array of type {array.dtype} and {array.ndim} dimensions is unexpected")
    return array


def _names(array: Array) -> Array:
    return _checked(array, f"U{array.dtype.itemsize // 4}")


def _text(array: Array) -> str:
    return _checked(array, "u1").tobytes().decode("utf-8", "surrogatepass")
