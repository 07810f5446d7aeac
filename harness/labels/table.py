"""A table of distances, filled row by row: in memory or in a file, and as narrow as its distances allow."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import numpy as np

from aacbench.graphs.record import Array

_INT32_MAX = 2**31 - 1
_ROWS_AT_ONCE = 16  # when a table is widened


def fits_int32(distances: Array) -> bool:
    return int(distances.max(initial=0)) <= _INT32_MAX


class Table:
    """Rows of distances, as int32 if every distance fits, else in their own type.

    With `columns`, only these entries of each row are kept; the type is still that of the whole rows, so that it does
    not depend on the columns. With a `file`, the table is a memory map of it.
    """

    def __init__(self, rows: int, columns: Array | None = None, file: Path | None = None) -> None:
        self._rows = rows
        self._columns = columns
        self._file = file
        self._array: Array | None = None

    def put(self, k: int, row: Array) -> None:
        """Set row k, given with all its entries."""
        wanted = np.dtype(np.int32) if row.dtype.kind == "i" and fits_int32(row) else row.dtype
        if self._array is None:
            self._array = self._empty(len(row) if self._columns is None else len(self._columns), wanted)
        elif self._array.dtype == np.int32 and wanted != np.int32:
            self._array = self._widened(self._array, wanted)
        self._array[k] = row if self._columns is None else row[self._columns]

    def finished(self) -> Array:
        assert self._array is not None, "a table has at least one row"
        self._array.flags.writeable = False
        return self._array

    def _empty(self, width: int, dtype: np.dtype[np.generic]) -> Array:
        shape = (self._rows, width)
        if self._file is None:
            return np.empty(shape, dtype=dtype)
        path = self._file.with_name(f"{self._file.name}-{dtype.name}.npy")
        made = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
        if hasattr(os, "posix_fallocate"):  # a write to a page that the disk has no room for would kill the process
            with path.open("r+b") as stream:
                os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
        return made

    def _widened(self, narrow: Array, dtype: np.dtype[np.generic]) -> Array:
        wide = self._empty(narrow.shape[1], dtype)
        for start in range(0, self._rows, _ROWS_AT_ONCE):
            wide[start : start + _ROWS_AT_ONCE] = narrow[start : start + _ROWS_AT_ONCE]
        return wide


class RowStore:
    """Rows of distances that are read again and again, each as narrow as it fits.

    The first ones, up to `in_memory` bytes, are in memory; the others in a temporary file, which is deleted with the
    store.
    """

    def __init__(self, in_memory: int = 2**30) -> None:
        self._left = in_memory
        self._file: BinaryIO | None = None
        self._lock = Lock()

    def put(self, row: Array) -> Callable[[], Array]:
        """Return a function that returns the row."""
        narrow = row.astype(np.int32) if row.dtype.kind == "i" and fits_int32(row) else row
        with self._lock:
            self._left -= narrow.nbytes
            if self._left >= 0:
                return lambda: narrow
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
            offset = self._file.seek(0, os.SEEK_END)
            self._file.write(narrow.data)
        return partial(self._read, offset, len(narrow), narrow.dtype)

    def _read(self, offset: int, count: int, dtype: np.dtype[np.generic]) -> Array:
        assert self._file is not None
        with self._lock:
            self._file.seek(offset)
            return np.fromfile(self._file, dtype, count)
