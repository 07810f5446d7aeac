"""What makes two compiled functions the same: their code, and every value they refer to, however deep."""

import builtins
import hashlib
import itertools
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_never_twice = itertools.count()


class _UnknownValueError(Exception):
    """A value that cannot be told from another by its content."""


def identity(dispatcher: Callable[..., Any]) -> str:
    """A digest that two functions share only if they compute the same.

    A function that refers to something whose content cannot be read gets a digest of its own in every process.
    """
    try:
        pieces = list(_function(_python(dispatcher), set()))
    except _UnknownValueError:
        return f"unknown{next(_never_twice)}x{id(dispatcher):x}x{np.random.SeedSequence().entropy:x}"
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8, "little") + piece)
    return digest.hexdigest()[:32]


def _python(function: Any) -> types.FunctionType:
    plain: types.FunctionType = getattr(function, "py_func", function)
    return plain


def _function(function: types.FunctionType, seen: set[int]) -> Iterator[bytes]:
    if id(function) in seen:
        return
    seen.add(id(function))
    # Machine code on disk imports the module it was made from, so the same source under another name is another kernel.
    yield f"{function.__module__}.{function.__qualname__}".encode()
    yield from _code(function.__code__)
    for cell in function.__closure__ or ():
        yield from _value(cell.cell_contents, seen)
    for value in function.__defaults__ or ():
        yield from _value(value, seen)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name.encode()
            yield from _value(function.__globals__[name], seen)


def _names(code: types.CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*(_names(each) for each in inner))


def _code(code: types.CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)).encode()
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _code(const)
        else:
            yield repr(sorted(const, key=repr) if isinstance(const, frozenset) else const).encode()


def _value(value: Any, seen: set[int]) -> Iterator[bytes]:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        yield repr((type(value).__name__, value)).encode()
    elif isinstance(value, tuple):
        for item in value:
            yield from _value(item, seen)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        yield repr((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, types.ModuleType):
        yield from _module(value)
    elif isinstance(_python(value), types.FunctionType):
        yield from _function(_python(value), seen)
    elif getattr(builtins, getattr(value, "__name__", ""), None) is value or isinstance(value, np.ufunc | type):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}".encode()
    else:
        raise _UnknownValueError


def _module(module: types.ModuleType) -> Iterator[bytes]:
    """Its name and version, or its source where it has none; what it imports in turn is not looked at."""
    yield f"{module.__name__} {getattr(module, '__version__', '')}".encode()
    file = getattr(module, "__file__", None)
    if not hasattr(module, "__version__") and file is not None:
        yield Path(file).read_bytes()
