"""The decorators for compiled kernels, and the folder of their machine code, which is checked before it is run.

Numba's cache on disk does not notice a change of a kernel that is called through an overload or imported from another
file. So the folder's name contains a digest of this file and all files with kernels: any change recompiles all of them.
Nor does it know NUMBA_BOUNDSCHECK=1, so code that checks its indexes has a folder of its own.
"""

import hashlib
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import dispatcher
from numba.core.caching import FunctionCache, IndexDataCacheFile

from aacbench.util.input_file import open_input
from aacbench.util.paths import cache_folder, is_own

_KERNEL_FOLDERS = ("graphs", "labels", "maps", "queries", "search")


@cache
def kernel_digest() -> str:
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode() + b"\0" + Path(__file__).read_bytes())
    for folder in _KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _folder() -> str:
    checked = getattr(numba.config, "BOUNDSCHECK", None)
    return str(cache_folder() / "compiled" / (kernel_digest() + ("-boundscheck" if checked else "")))


# Numba creates its settings at import, so type checkers do not know them.
setattr(numba.config, "CACHE_DIR", _folder())  # noqa: B010


class _CheckedFile(IndexDataCacheFile):
    """Index and code of one function, each followed by a digest of its name and content.

    Numba takes an empty index, or code that cannot be read, for a function to compile. It numbers the files of code, so
    that two processes may give one number to two signatures; here each file has a name of its own, and is there before
    the index names it. Pickle does not read on behind its own end, where the digest is.
    """

    def save(self, key: Any, data: Any) -> None:
        name = f"{Path(self._index_name).stem}.{secrets.token_hex(8)}.nbc"
        self._save_data(name, data)
        known = self._load_index()
        self._save_index({**known, key: name})
        if key in known:
            Path(self._data_path(known[key])).unlink(missing_ok=True)

    def _load_index(self) -> Any:
        return super()._load_index() if _is_sound(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_sound(self._data_path(name)):
            raise OSError(f"{name} is damaged")
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        data = content.getvalue()
        with super()._open_for_write(filepath) as file:
            os.fchmod(file.fileno(), 0o644)  # whatever the umask: what others could write is not loaded
            file.write(data + _digest(filepath, data))


def _digest(path: str, data: bytes) -> bytes:
    return hashlib.sha256(Path(path).name.encode() + b"\0" + data).digest()


def _is_sound(path: str) -> bool:
    """Return whether a file is as it was written, by this user."""
    with suppress(OSError), open_input(Path(path)) as file:
        found, data = os.fstat(file.fileno()), file.read()
        size = len(data) - hashlib.sha256().digest_size
        return is_own(found) and size > 0 and _digest(path, data[:size]) == data[size:]
    return False


class _ForgivingCache(FunctionCache):
    """A cache of machine code whose damaged or unwritable files only cost a compilation."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # code may refer to a module that is gone
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full or read-only disk
            super().save_overload(sig, data)


# What an author compiles with cache=True is kept in the same folder.
setattr(dispatcher, "FunctionCache", _ForgivingCache)  # noqa: B010


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function of arrays and numbers; its machine code is cached on disk and runs without the GIL."""
    compiled: Callable[..., Any] = numba.njit(nogil=True, cache=True, **options)(function)
    return compiled


def allocation_free(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a kernel that allocates no array; one that does is refused with "NRT required".

    Numba then counts no references to arrays, which took a fifth of a search, and half of one with CDH. The option is
    numba's own, used in its sources and not documented.
    """
    return kernel(function, _nrt=False, **options)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that is inlined into its callers, for the inner loop of a search."""
    return inner(function, forceinline=True)


def inner(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a kernel that only other kernels call, which saves the time to compile a way in from Python."""
    return allocation_free(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
