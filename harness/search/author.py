"""Label layouts from an author's own `@njit` functions: h(labels, u, t) over a NamedTuple of the author's arrays.

The name of the layout's class contains the names of the arrays and the identity of the functions: a digest of their
code and of every value they refer to. Another process can recreate the class from its name, so it finds the machine
code on disk; a changed function gets another class and is compiled again.
"""

import builtins
import dis
import hashlib
import itertools
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aacbench.contract.method import GoalSearch
from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.search.goal import bind_by, bound_by, goal_fields, memo_by, work_done
from aacbench.search.layouts import KERNELS, Kernels, Layout, no_work
from aacbench.search.networks import Network

_FIELDS = {"Layout_": ["labels", "original"], "GoalLayout_": ["labels", "original", "goal"]}
_ARRAYS, _SCRATCH, _LAYOUT, _GOAL = "Arrays_", "Scratch_", *_FIELDS
_unique = itertools.count()


class _UnknownValueError(Exception):
    """The content of a value cannot be digested."""


def author_layout(
    network: Network, arrays: Mapping[str, Array], function: Callable[..., Any], goal: GoalSearch | None = None
) -> Layout:
    """Return a layout over these arrays whose bound is `function(labels, u, t)`; u and t are the graph's own numbers.

    With a goal search the bound is `function(labels, memo, u, t)`, or `function(labels, scratch, u, t)` if it has
    scratch. The arrays may have any shape; the functions must not read beyond them.
    """
    functions = [function, *(() if goal is None else (goal.start, goal.visit))]
    if not all(each is None or hasattr(each, "py_func") for each in functions):
        raise UsageError("The kernel is not compiled; decorate it with numba's @njit.")
    for each in filter(None, functions):  # they may allocate; else they would inherit that the search may not
        each.targetoptions.setdefault("_nrt", True)
    if not arrays or not all(name.isidentifier() and name[0] != "_" and "__" not in name for name in arrays):
        raise UsageError("The names of label arrays must be plain identifiers, such as rows.")
    names = sorted(arrays)  # the order in which a bundle gives them back, so that its kernel is not compiled again
    name = _identities(functions, goal) + "__" + "__".join(names)
    labels = _class(_ARRAYS + name)(*(frozen(arrays[each], arrays[each].dtype) for each in names))
    if goal is None:
        cls = _class(_LAYOUT + name)
        KERNELS[cls] = Kernels(_bind, _bound_by(function), _memo, no_work)
        return Layout(network, cls(labels, network.original))
    cls = _class(_GOAL + name)
    memo = memo_by(goal, scratch_class(goal))
    KERNELS[cls] = Kernels(bind_by(goal.start, goal.visit), bound_by(function), memo, work_done)
    return Layout(network, cls(labels, network.original, goal_fields(network, goal)))


def scratch_class(goal: GoalSearch) -> Any:
    """Return the class of the record that a goal search with scratch gives to its functions, else None."""
    return None if goal.scratch is None else _class("__".join([_SCRATCH + "of", *sorted(goal.scratch), "memo", "work"]))


def _identities(functions: list[Any], goal: GoalSearch | None) -> str:
    each = ["none" if function is None else identity(function) for function in functions]
    if goal is None:
        return each[0]
    if goal.scratch is not None:  # the class knows its scratch, so another one needs another class
        each += [repr(sorted(goal.scratch.items()))]
    return hashlib.sha256(" ".join(each).encode()).hexdigest()[:32]


def _bind(layout, memo, arcs, work, target):
    memo[0] = layout.original[target]
    return 0


def _bound_by(function: Callable[..., Any]) -> Callable[..., Any]:
    def bound(layout, memo, u):
        return function(layout.labels, np.int64(layout.original[u]), memo[0])

    return bound


def _memo(layout: Any) -> Array:
    return np.empty(1, dtype=np.int64)


def _class(name: str) -> Any:
    """Return the class of this name, importable from this module; the same object for the same name."""
    if name not in globals():
        fields = _FIELDS.get(name.partition("_")[0] + "_") or name.split("__")[1:]
        made: Any = NamedTuple(name, [(field, Any) for field in fields])  # type: ignore[misc]
        made.__module__ = __name__
        globals()[name] = made
    return globals()[name]


def __getattr__(name: str) -> Any:
    """Recreate a class that machine code on disk refers to by name."""
    if name.startswith((_ARRAYS, _SCRATCH, *_FIELDS)):
        return _class(name)
    raise AttributeError(name)


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
    for name in sorted({name for code in _codes(function.__code__) for name in code.co_names}):
        if name in function.__globals__:
            yield name.encode()
            yield from _value(function.__globals__[name], seen)


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


def recursive_function(kernel: Callable[..., Any]) -> types.FunctionType | None:
    """Return the function that is recursive: this compiled function, or one that it calls at any depth; or None.

    Numba's cache on disk breaks recursive functions, so they cannot be kernels. Other callables are not recursive.
    """
    finished: set[types.FunctionType] = set()

    def recursive(function: types.FunctionType, callers: frozenset[types.FunctionType]) -> types.FunctionType | None:
        if function in callers:
            return function
        if function in finished:
            return None
        below = (recursive(called, callers | {function}) for called in _called(function))
        found = next(filter(None, below), None)
        finished.add(function)
        return found

    plain = _python(kernel)
    return recursive(plain, frozenset()) if isinstance(plain, types.FunctionType) else None


def module_array(kernel: Callable[..., Any]) -> tuple[str, Array] | None:
    """Return the largest array of a module that this function reads, or a compiled one that it calls; with its name.

    The function must not be recursive.
    """

    def read_by(function: types.FunctionType) -> Iterator[tuple[str, Array]]:
        yield from ((name, value) for name, value in _referred(function) if isinstance(value, np.ndarray))
        for called in _called(function):
            yield from read_by(called)

    plain = _python(kernel)
    found = read_by(plain) if isinstance(plain, types.FunctionType) else ()
    return max(found, key=lambda named: named[1].nbytes, default=None)


def _called(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Yield the Python functions of the compiled functions that a function refers to, by global, module or closure."""
    values = (getattr(value, "py_func", None) for _, value in _referred(function))
    yield from (value for value in values if isinstance(value, types.FunctionType))


def _referred(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the values that a function refers to by closure, global or module, with their names there."""
    yield from zip(
        function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()), strict=True
    )
    for code in _codes(function.__code__):
        value: Any = None
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                value = function.__globals__.get(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, types.ModuleType):
                value = getattr(value, step.argval, None)
            else:
                value = None
            yield step.argval, value


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)
