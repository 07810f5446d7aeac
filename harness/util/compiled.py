"""The one decorator for compiled kernels, and where their machine code is kept.

Numba's disk cache does not notice that a kernel called through an overload, or imported from another file, has
changed. So the folder is named by the digest of every file that holds kernels: change one, and all compile anew.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from aacbench.util.paths import cache_folder

_KERNEL_FOLDERS = ("graphs", "labels", "queries", "search")


@cache
def kernel_digest() -> str:
    """The digest of every source file that may hold a kernel, and of the compiler's version."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in _KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


# Numba makes its settings when imported, so type checkers do not know them.
setattr(numba.config, "CACHE_DIR", str(cache_folder() / "compiled" / kernel_digest()))  # noqa: B010


class _ForgivingCache(FunctionCache):
    """Machine code on disk that may be damaged, or may not be written: either costs a compilation, no more."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling a damaged file raises
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full or read-only disk
            super().save_overload(sig, data)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function of arrays and numbers; the machine code is cached and runs with the GIL released."""
    dispatcher = numba.njit(nogil=True, **options)(function)
    dispatcher._cache = _ForgivingCache(dispatcher.py_func)  # what cache=True sets, but for the class
    return dispatcher


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that becomes part of its caller: for the few steps of a search's inner loop."""
    return kernel(function, forceinline=True)
