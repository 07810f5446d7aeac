"""The one decorator for compiled kernels, and where their machine code is kept.

Numba's disk cache does not notice that a kernel called through an overload, or imported from another file, has
changed. So the folder is named by the digest of every file that holds kernels: change one, and all compile anew.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from aacbench.locations import cache_folder

_KERNEL_FOLDERS = ("graphs", "labels", "queries", "search")


@cache
def kernel_digest() -> str:
    """The digest of every source file that may hold a kernel, and of the compiler's version."""
    root = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in _KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


# Numba makes its settings when imported, so type checkers do not know them.
setattr(numba.config, "CACHE_DIR", str(cache_folder() / "compiled" / kernel_digest()))  # noqa: B010


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays and numbers; the machine code is cached and runs with the GIL released."""
    return numba.njit(cache=True, nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that becomes part of its caller: for the few steps of a search's inner loop."""
    return numba.njit(cache=True, nogil=True, forceinline=True)(function)
