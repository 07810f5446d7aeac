"""Heuristics made ready to be searched and audited, in whichever of the three forms they were given."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError

from aacbench.bundle.arrays import Leaf, checked_arrays, checked_scratch, checked_settings, leaves, read_only
from aacbench.bundle.built_in import BUILT_IN
from aacbench.bundle.compile_errors import in_words, why_not
from aacbench.contract.method import (
    BatchHeuristic,
    GoalSearch,
    Heuristic,
    LabelHeuristic,
    MaxHeuristic,
)
from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.author import author_layout, module_array, recursive_function
from aacbench.search.batch import checked_vertices
from aacbench.search.bounds import bounds
from aacbench.search.goal import DISTANCES
from aacbench.search.layouts import max_of
from aacbench.search.networks import Network
from aacbench.search.policy import LABEL_LAYOUTS

Many = Callable[[npt.ArrayLike, int], Array]

TIERS = ("compiled", "batch", "scalar")
MEMO_LIMIT = 4096  # numbers a goal search may keep: scratch, and no place to build an index in
CONSTANTS_LIMIT = 256  # bytes of an array of its module that a kernel may read, such as powers of ten
_BLOCK = 2**16  # bounds the search's callable asks a batch function for at once


@dataclass(frozen=True, eq=False, slots=True)
class Deployed:
    """What `search` takes, the same bound for many vertices and one target, and the tier: how fast that is."""

    searched: Any
    many: Many
    tier: str


def deploy(heuristic: Heuristic, network: Network, label_layout: str = LABEL_LAYOUTS[0]) -> Deployed:
    """Make a heuristic ready for this network, and compile its kernel."""
    parts = [(part, deploy_leaf(part, network, label_layout)) for part in leaves(heuristic).values()]
    forms = [form for _, form in parts]
    whole = _maximum(forms, network) if isinstance(heuristic, MaxHeuristic) else forms[0]
    _check_compiles(parts, whole, network)
    return whole


def deploy_leaf(part: Leaf, network: Network, label_layout: str = LABEL_LAYOUTS[0]) -> Deployed:
    """Make one leaf ready; its kernel is not compiled yet."""
    if label_layout != LABEL_LAYOUTS[0] and getattr(part, "kernel", None) != "differential":
        raise UsageError(f"label_layout={label_layout} is for the built-in kernel `differential`, and this is another.")
    if isinstance(part, LabelHeuristic):
        layout = _layout(part, network, label_layout)
        return Deployed(layout, _compiled_many(layout, network), "compiled")
    if isinstance(part, BatchHeuristic):
        batch = _batch_many(part, network)
        return Deployed(_blockwise(batch, network.graph.vertices), batch, "batch")
    if not callable(part.h):
        raise UsageError("A scalar heuristic needs a function h(u, t).")
    one = _scalar(part.h)
    return Deployed(one, _scalar_many(one, network), "scalar")


def _check_compiles(parts: list[tuple[Leaf, Deployed]], whole: Deployed, network: Network) -> None:
    """Compile authors' kernels now, as the search will call them: a maximum of compiled leaves all at once."""
    own = [(part, form) for part, form in parts if isinstance(part, LabelHeuristic) and callable(part.kernel)]
    for form in [whole] if own and whole.tier == "compiled" else [form for _, form in own]:
        try:
            form.many([0], 0)
        except NumbaError as problem:
            reasons = (why_not(form.searched, part.kernel, part.goal) for part, form in own)
            raise UsageError(f"{next(filter(None, reasons), None) or in_words(problem)}.") from problem


def first_difference(mine: Array, yours: Array) -> int | None:
    """The first position at which two arrays of bounds differ, or None; NaN equals NaN."""
    both_odd = np.isnan(mine) & np.isnan(yours)
    apart = np.flatnonzero((mine != yours) & ~both_odd)
    return int(apart[0]) if len(apart) else None


def _maximum(parts: list[Deployed], network: Network) -> Deployed:
    tier = max((part.tier for part in parts), key=TIERS.index)
    if tier == "compiled":
        layout = max_of([part.searched for part in parts])
        return Deployed(layout, _compiled_many(layout, network), tier)

    def many(us: npt.ArrayLike, t: int) -> Array:
        found: Array = np.maximum.reduce([part.many(us, t) for part in parts])
        return found

    if tier == "batch":
        return Deployed(_blockwise(many, network.graph.vertices), many, tier)
    single = [
        part.searched if callable(part.searched) else _blockwise(part.many, network.graph.vertices) for part in parts
    ]

    def h(u: int, t: int) -> Any:
        values = [one(u, t) for one in single]
        return next((value for value in values if value != value), max(values))

    return Deployed(h, many, tier)


def _layout(heuristic: LabelHeuristic, network: Network, label_layout: str) -> Any:
    arrays, settings = checked_arrays(heuristic.arrays), checked_settings(heuristic.settings)
    if isinstance(heuristic.kernel, str):
        if heuristic.kernel not in BUILT_IN:
            raise UsageError(f"Unknown kernel {heuristic.kernel!r}; the built-in ones are {', '.join(BUILT_IN)}.")
        if heuristic.goal is not None:
            raise UsageError("A built-in kernel has no goal search; write a kernel of your own for one.")
        return BUILT_IN[heuristic.kernel].layout(arrays, settings, network, label_layout)
    if not callable(heuristic.kernel):
        raise UsageError("The kernel of a label heuristic must be the name of a built-in one or an @njit function.")
    _check_kernel(heuristic.kernel)
    if heuristic.goal is not None:
        _check_goal(heuristic.goal)
    return author_layout(network, _named(arrays, settings), heuristic.kernel, heuristic.goal)


def _named(arrays: Mapping[str, Array], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays, read-only, and the settings, under names of their own."""
    clash = set(arrays) & set(settings)
    if clash:
        raise UsageError(f"{min(clash)!r} names both an array and a setting; rename one.")
    return {**read_only(arrays), **settings}


def _check_kernel(kernel: Callable[..., Any]) -> None:
    """Refuse a kernel with data that no budget counts, or whose machine code on disk could not be found again."""
    plain = getattr(kernel, "py_func", kernel)
    if getattr(plain, "__closure__", None):
        inside = ", ".join(plain.__code__.co_freevars)
        raise UsageError(f"The kernel closes over {inside}; pass it as an array or a setting.")
    recursive = recursive_function(kernel)
    if recursive is not None:
        name = recursive.__name__
        raise UsageError(f"The function {name} is recursive, which numba's cache on disk breaks. Write it as a loop.")
    name, array = module_array(kernel) or ("", None)
    if array is not None and array.nbytes > CONSTANTS_LIMIT:
        raise UsageError(
            f"The kernel reads {name}, an array of {array.nbytes} bytes at the top of a module, which no budget "
            f"counts; pass it in the heuristic's arrays."
        )
    module = getattr(plain, "__module__", None)
    if module not in sys.modules:
        raise UsageError(f"The kernel's module {module} is not imported under its name, so it cannot be found again.")


def _check_goal(goal: Any) -> None:
    if not isinstance(goal, GoalSearch):
        raise UsageError(f"The goal of a heuristic must be a GoalSearch, not a {type(goal).__name__}.")
    if goal.start is None:
        raise UsageError("A GoalSearch needs a function start(labels, memo, t), even one that does nothing.")
    for function in (goal.start, goal.visit):
        if function is not None:
            _check_kernel(function)
    if type(goal.memo) is not int or not 0 <= goal.memo <= MEMO_LIMIT:
        raise UsageError(f"The memo of a goal search must be 0 to {MEMO_LIMIT} numbers, not {goal.memo!r}.")
    if goal.distances not in DISTANCES:
        raise UsageError(f"The distances of a goal search are {', '.join(DISTANCES)}, not {goal.distances!r}.")
    checked_scratch(goal.scratch)


def _compiled_many(layout: Any, network: Network) -> Many:
    def many(us: npt.ArrayLike, t: int) -> Array:
        return bounds(network, layout, checked_vertices(network, us), _vertex(t, network))

    return many


def _batch_many(heuristic: BatchHeuristic, network: Network) -> Many:
    if not callable(heuristic.many):
        raise UsageError("A batch heuristic needs a function many(arrays, us, t).")
    arrays = MappingProxyType(_named(checked_arrays(heuristic.arrays), checked_settings(heuristic.settings)))

    def many(us: npt.ArrayLike, t: int) -> Array:
        vertices = checked_vertices(network, us)
        return _numbers(heuristic.many(arrays, vertices, _vertex(t, network)), len(vertices))

    return many


def _scalar_many(one: Callable[[int, int], Any], network: Network) -> Many:
    def many(us: npt.ArrayLike, t: int) -> Array:
        vertices, target = checked_vertices(network, us).tolist(), _vertex(t, network)
        found = [one(u, target) for u in vertices]
        whole = all(isinstance(value, int | np.integer) for value in found)
        return _numbers(np.array(found, dtype=None if found and whole else np.float64), len(vertices))

    return many


def _scalar(h: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
    def one(u: int, t: int) -> Any:
        value = h(u, t)
        if not isinstance(value, Real) or isinstance(value, bool):
            raise UsageError(f"h({u}, {t}) must be a number, not a {type(value).__name__}.")
        return value

    return one


def _blockwise(many: Many, vertices: int) -> Callable[[int, int], Any]:
    """h(u, t) for the Python tier: a search asks for one vertex at a time, a batch function is asked for many."""
    latest = -1
    known: dict[int, list[Any]] = {}

    def h(u: int, t: int) -> Any:
        nonlocal latest
        if t != latest:
            known.clear()
            latest = t
        block, row = divmod(u, _BLOCK)
        if block not in known:
            known[block] = many(np.arange(block * _BLOCK, min((block + 1) * _BLOCK, vertices)), t).tolist()
        return known[block][row]

    return h


def _numbers(found: Any, count: int) -> Array:
    if not isinstance(found, np.ndarray) or found.shape != (count,) or found.dtype.kind not in "iuf":
        what = f"shape {found.shape} and type {found.dtype}" if isinstance(found, np.ndarray) else type(found).__name__
        raise UsageError(f"A heuristic asked for {count} vertices must return an array of {count} numbers, not {what}.")
    return found


def _vertex(t: int, network: Network) -> int:
    return int(checked_vertices(network, t)[0])
