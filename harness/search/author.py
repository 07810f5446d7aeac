"""Label layouts from an author's own `@njit` function: h(labels, u, t) over a NamedTuple of the author's arrays.

The class of such a layout is named by its fields and by the identity of the function: its code and every value it
refers to. So it can be made again from its name alone, which lets another process find the machine code on disk, and
a function that differs in anything never does.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.search.identity import identity
from aacbench.search.layouts import Kernels, Layout, register
from aacbench.search.networks import Network

_ARRAYS, _LAYOUT = "Arrays_", "Layout_"


def author_layout(network: Network, arrays: Mapping[str, Array], function: Callable[..., Any]) -> Layout:
    """A layout over these arrays whose bound is `function(labels, u, t)`, with u and t in the graph's own numbers.

    What shapes the arrays have is between the author and the function, which must not read beyond them.
    """
    if not hasattr(function, "py_func"):
        raise UsageError("the bound kernel must be compiled: decorate it with numba's @njit.")
    if not arrays or not all(name.isidentifier() and name[0] != "_" and "__" not in name for name in arrays):
        raise UsageError("label arrays need names that are plain identifiers, such as rows.")
    name = identity(function) + "__" + "__".join(arrays)
    cls = _class(_LAYOUT + name)
    register(cls, Kernels(_bind, _bound_by(function), _memo))
    labels = _class(_ARRAYS + name)(*(frozen(array, array.dtype) for array in arrays.values()))
    return Layout(network, cls(labels, network.original))


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
    """The class of this name: the same object for the same name, importable from this module."""
    if name not in globals():
        fields = name.split("__")[1:] if name.startswith(_ARRAYS) else ["labels", "original"]
        made: Any = NamedTuple(name, [(field, Any) for field in fields])  # type: ignore[misc]
        made.__module__ = __name__
        globals()[name] = made
    return globals()[name]


def __getattr__(name: str) -> Any:
    """Make a class that a cache on disk mentions by name."""
    if name.startswith((_ARRAYS, _LAYOUT)):
        return _class(name)
    raise AttributeError(name)
