"""The arrays, settings and scratch that a heuristic may have, and the leaves of a maximum that they belong to."""

import math
from collections.abc import Iterator, Mapping
from string import ascii_lowercase
from types import MappingProxyType
from typing import Any

import numpy as np

from aacbench.contract.method import BatchHeuristic, Heuristic, LabelHeuristic, MaxHeuristic, ScalarHeuristic, Scratch
from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen

_WIDEST, _DIMENSIONS = 8, 4
_LONGEST_NAME = 100  # bytes: an array is saved in a file of its name
SCRATCH_LIMIT = 16  # numbers for each vertex that a goal search may have


def checked_arrays(arrays: Any) -> Mapping[str, Array]:
    """The arrays; refuse what could not be saved and read back as it is."""
    if not isinstance(arrays, Mapping):
        raise UsageError(f"A heuristic's arrays must be a mapping from names to arrays, not a {type(arrays).__name__}.")
    for name, array in arrays.items():
        check_name(name, "array")
        if len(name.encode()) > _LONGEST_NAME:
            raise UsageError(f"The name of the array {name[:20]!r}... is too long; use at most {_LONGEST_NAME} bytes.")
        if not isinstance(array, np.ndarray):
            raise UsageError(f"The array {name!r} must be a NumPy array, not a {type(array).__name__}.")
        if array.ndim > _DIMENSIONS:
            raise UsageError(f"The array {name!r} has {array.ndim} dimensions; at most {_DIMENSIONS} are allowed.")
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > _WIDEST or not array.dtype.isnative:
            raise UsageError(f"The array {name!r} has the type {array.dtype}; use plain numbers of at most 8 bytes.")
    return arrays


def checked_settings(settings: Any) -> dict[str, np.int64 | np.float64]:
    if not isinstance(settings, Mapping):
        raise UsageError(
            f"A heuristic's settings must be a mapping from names to numbers, not a {type(settings).__name__}."
        )
    return {name: _number(name, value) for name, value in settings.items()}


def checked_scratch(scratch: Any) -> Mapping[str, Scratch]:
    """The scratch of a goal search, nothing for None; refuse what no search could have."""
    if scratch is None:
        return {}
    if not isinstance(scratch, Mapping) or not all(isinstance(each, Scratch) for each in scratch.values()):
        raise UsageError("The scratch of a goal search must be a mapping from names to Scratch records.")
    for name, each in scratch.items():
        check_name(name, "area of scratch")
        if name in ("memo", "work"):
            raise UsageError(f"Scratch cannot be named {name!r}, which the record has already; rename it.")
        if type(each.per_vertex) is not int or each.per_vertex < 1:
            raise UsageError(f"The scratch {name!r} must have 1 or more numbers per vertex, not {each.per_vertex!r}.")
        if each.dtype not in ("int", "int32", "weight"):
            raise UsageError(
                f"The scratch {name!r} must have the dtype 'int', 'int32' or 'weight', not {each.dtype!r}."
            )
        if each.fill is not None and not _can_fill(each.fill, each.dtype):
            raise UsageError(f"The scratch {name!r} must be filled with a whole number or inf, not {each.fill!r}.")
    if sum(each.per_vertex for each in scratch.values()) > SCRATCH_LIMIT:
        raise UsageError(f"A goal search has at most {SCRATCH_LIMIT} numbers of scratch per vertex in all.")
    return scratch


def _can_fill(fill: Any, dtype: str) -> bool:
    """Return whether integers and floats can have the value, since weights may be either."""
    if isinstance(fill, bool) or not isinstance(fill, int | float) or math.isnan(fill):
        return False
    return math.isinf(fill) or (fill == int(fill) and abs(fill) < 2 ** (31 if dtype == "int32" else 63))


def read_only(arrays: Mapping[str, Array]) -> Mapping[str, Array]:
    """The arrays as a loaded bundle has them: contiguous and read-only."""
    return MappingProxyType({name: sealed(array) for name, array in arrays.items()})


def sealed(array: Array) -> Array:
    """A read-only contiguous view; a copy where the array is not contiguous."""
    view = np.ascontiguousarray(array).reshape(array.shape).view(np.ndarray)
    view.flags.writeable = False
    return frozen(view, view.dtype)


def check_name(name: Any, what: str) -> None:
    """Refuse a name that could not be a field of a layout and a file."""
    if not isinstance(name, str) or not name.isidentifier() or name[0] == "_" or "__" in name:
        raise UsageError(f"The name of an {what} must be a plain identifier such as rows, not {name!r}.")


def _number(name: Any, value: Any) -> np.int64 | np.float64:
    check_name(name, "setting")
    try:
        if isinstance(value, bool | int | np.integer | np.bool_):
            return np.int64(value)
        if isinstance(value, float | np.floating) and np.isfinite(value):
            return np.float64(value)
    except OverflowError:
        pass
    raise UsageError(f"The setting {name!r} must be a finite number of at most 8 bytes, not {value!r}.")


Leaf = LabelHeuristic | BatchHeuristic | ScalarHeuristic


def leaves(heuristic: Heuristic) -> dict[str, Leaf]:
    """The leaves of a maximum under the names a, b and so on; any other heuristic under the empty name."""
    found = list(_flat(heuristic))
    if not isinstance(heuristic, MaxHeuristic):
        return {"": found[0]}
    if not 0 < len(found) <= len(ascii_lowercase):
        raise UsageError(f"A maximum has 1 to {len(ascii_lowercase)} heuristics, not {len(found)}.")
    return dict(zip(ascii_lowercase, found, strict=False))


def arrays_of(heuristic: Heuristic) -> dict[str, Array]:
    """Every array under the name it is saved by: `rows`, or in a maximum `a.rows`."""
    return {
        dotted(part, name): array
        for part, leaf in leaves(heuristic).items()
        if not isinstance(leaf, ScalarHeuristic)
        for name, array in checked_arrays(leaf.arrays).items()
    }


def dotted(part: str, name: str) -> str:
    return f"{part}.{name}" if part else name


def _flat(heuristic: Heuristic) -> Iterator[Leaf]:
    if isinstance(heuristic, MaxHeuristic):
        if not isinstance(heuristic.parts, tuple):
            raise UsageError(f"The parts of a maximum must be a tuple, not a {type(heuristic.parts).__name__}.")
        for part in heuristic.parts:
            yield from _flat(part)
    elif isinstance(heuristic, Leaf):
        yield heuristic
    else:
        raise UsageError(
            f"A build must return a heuristic record, such as LabelHeuristic, not a {type(heuristic).__name__}."
        )
