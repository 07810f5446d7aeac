"""Label layouts from an author's own `@njit` functions: h(labels, u, t) over a NamedTuple of the author's arrays.

The name of the layout's class contains the names of the arrays and the identity of the functions: a digest of their
code and of every value they refer to. Another process can recreate the class from its name, so it finds the machine
code on disk; a changed function gets another class and is compiled again.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from aacbench.contract.method import GoalSearch
from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.search.goal import bind_by, bound_by, goal_fields, goal_memo
from aacbench.search.identity import identity
from aacbench.search.layouts import Kernels, Layout, register
from aacbench.search.networks import Network

_FIELDS = {"Layout_": ["labels", "original"], "GoalLayout_": ["labels", "original", "goal"]}
_ARRAYS, _LAYOUT, _GOAL = "Arrays_", *_FIELDS


def author_layout(
    network: Network, arrays: Mapping[str, Array], function: Callable[..., Any], goal: GoalSearch | None = None
) -> Layout:
    """Return a layout over these arrays whose bound is `function(labels, u, t)`; u and t are the graph's own numbers.

    With a goal search the bound is `function(labels, memo, u, t)`. The arrays may have any shape; the functions must
    not read beyond them.
    """
    functions = [function, *(() if goal is None else (goal.start, goal.visit))]
    if not all(each is None or hasattr(each, "py_func") for each in functions):
        raise UsageError("The kernel is not compiled; decorate it with numba's @njit.")
    if not arrays or not all(name.isidentifier() and name[0] != "_" and "__" not in name for name in arrays):
        raise UsageError("The names of label arrays must be plain identifiers, such as rows.")
    name = _identities(functions) + "__" + "__".join(arrays)
    labels = _class(_ARRAYS + name)(*(frozen(array, array.dtype) for array in arrays.values()))
    if goal is None:
        cls = _class(_LAYOUT + name)
        register(cls, Kernels(_bind, _bound_by(function), _memo))
        return Layout(network, cls(labels, network.original))
    cls = _class(_GOAL + name)
    register(cls, Kernels(bind_by(goal.start, goal.visit), bound_by(function), goal_memo))
    return Layout(network, cls(labels, network.original, goal_fields(network, goal)))


def _identities(functions: list[Any]) -> str:
    each = ["none" if function is None else identity(function) for function in functions]
    return each[0] if len(each) == 1 else hashlib.sha256(" ".join(each).encode()).hexdigest()[:32]


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
    if name.startswith((_ARRAYS, *_FIELDS)):
        return _class(name)
    raise AttributeError(name)
