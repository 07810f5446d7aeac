"""Properties of an author's compiled functions: their identity, and whether they are recursive."""

import builtins
import dis
import hashlib
import itertools
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_unique = itertools.count()


class _UnknownValueError(Exception):
    """The content of a value cannot be digested."""


def identity(dispatcher: Callable[..., Any]) -> str:
    """Return a digest of a function's code and of every value it refers to, at any depth.

    Two functions share it only if they compute the same. A function that refers to a value whose content cannot be
    digested gets a new one in every process.
    """
    try:
        pieces = list(_function(_python(dispatcher), set()))
    except _UnknownValueError:
        return f"unknown{next(_unique)}x{id(dispatcher):x}x{np.random.SeedSequence().entropy:x}"
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
    # Machine code on disk imports the module it was compiled from, so the module's name is part of the identity.
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
    return {name for each in _codes(code) for name in each.co_names}


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
    """Yield its name and version, or its source if it has no version; its own imports are not followed."""
    yield f"{module.__name__} {getattr(module, '__version__', '')}".encode()
    file = getattr(module, "__file__", None)
    if not hasattr(module, "__version__") and file is not None:
        yield Path(file).read_bytes()


def reaches_itself(kernel: Callable[..., Any]) -> bool:
    """Return whether a compiled function is recursive, or calls a compiled function that is, at any depth.

    Numba's cache on disk breaks recursive functions, so they cannot be kernels. Other callables are not recursive.
    """
    finished: set[types.FunctionType] = set()

    def recursive(function: types.FunctionType, callers: frozenset[types.FunctionType]) -> bool:
        if function in callers:
            return True
        if function in finished:
            return False
        below = any(recursive(called, callers | {function}) for called in _called(function))
        finished.add(function)
        return below

    plain = _python(kernel)
    return isinstance(plain, types.FunctionType) and recursive(plain, frozenset())


def _called(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Yield the Python functions of the compiled functions that a function refers to, by global, module or closure."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    for code in _codes(function.__code__):
        value: Any = None
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                value = function.__globals__.get(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, types.ModuleType):
                value = getattr(value, step.argval, None)
            else:
                value = None
            values.append(value)
    yield from (value.py_func for value in values if isinstance(getattr(value, "py_func", None), types.FunctionType))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)
