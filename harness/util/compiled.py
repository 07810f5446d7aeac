"""The decorators for compiled kernels, and the folder of their machine code.

Numba's cache on disk does not notice a change of a kernel that is called through an overload or imported from another
file. So the folder's name contains a digest of this file and all files with kernels: any change recompiles all of them.
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
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode() + b"\0" + Path(__file__).read_bytes())
    for folder in _KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


# Numba creates its settings at import, so type checkers do not know them.
setattr(numba.config, "CACHE_DIR", str(cache_folder() / "compiled" / kernel_digest()))  # noqa: B010


class _ForgivingCache(FunctionCache):
    """A cache of machine code whose damaged or unwritable files only cost a compilation."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling a damaged file may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full or read-only disk
            super().save_overload(sig, data)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function of arrays and numbers; its machine code is cached on disk and runs without the GIL."""
    dispatcher = numba.njit(nogil=True, **options)(function)
    dispatcher._cache = _ForgivingCache(dispatcher.py_func)  # cache=True would set a plain FunctionCache
    return dispatcher


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
