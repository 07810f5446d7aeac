"""The arrays and settings that a heuristic may deploy, and the leaves of a maximum that they belong to."""

from collections.abc import Iterator, Mapping
from string import ascii_lowercase
from types import MappingProxyType
from typing import Any

import numpy as np

from aacbench.contract.method import BatchHeuristic, Heuristic, LabelHeuristic, MaxHeuristic, ScalarHeuristic
from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen

_WIDEST, _DIMENSIONS = 8, 4
_LONGEST_NAME = 100  # bytes: an array is saved in a file of its name


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
