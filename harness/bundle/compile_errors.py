"""Why an author's kernel does not compile: the function, the line and the reason, without the search around it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.errors import NumbaError

from aacbench.contract.method import GoalSearch
from aacbench.search.layouts import Layout

_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_LABELS = re.compile(r"Arrays_\w+\([^()]*(\([^()]*\)[^()]*)*\)")  # the record that a kernel is given
_CAUSE = re.compile(r"^\s*\w*(?:Error|Exception): (.+)$", re.MULTILINE)  # what numba itself ran into, deep in its text


def why_not(layout: Layout, kernel: Any, goal: GoalSearch | None) -> str:
    """Name the first of the author's functions that cannot be used, and why; empty where all can."""
    for function, arguments, numeric in _functions(layout, kernel, goal):
        name = function.py_func.__name__
        try:
            alone = numba.njit(function.py_func)
            alone.compile(arguments)
        except NumbaError as error:
            return f"The kernel {name} does not compile{_place(error)}: {_reason(error)}"
        except TypeError:
            return f"The kernel {name} must take {len(arguments)} arguments"
        (made,) = alone.overloads.values()
        given = made.signature.return_type
        if numeric and not isinstance(given, numba.types.Number | numba.types.Boolean):
            return f"The kernel {name} must return a number, not {given}"
    return ""


def in_words(problem: NumbaError) -> str:
    """Why a kernel does not compile whose functions compile one by one."""
    return f"The heuristic's kernel does not compile{_place(problem)}: {_reason(problem)}"


def _functions(layout: Layout, kernel: Any, goal: GoalSearch | None) -> Iterator[tuple[Any, tuple[Any, ...], bool]]:
    """Each function, the types it is called with, and whether it must return a number."""
    labels, vertex = numba.typeof(layout.labels.labels), numba.int64
    if goal is None:
        yield kernel, (labels, vertex, vertex), True
        return
    number = numba.typeof(layout.network.graph.weights).dtype
    memo = numba.typeof(layout.borrow().given)
    yield goal.start, (labels, memo, vertex), False
    if goal.visit is not None:
        yield goal.visit, (labels, memo, vertex, number, numba.boolean), True
    yield kernel, (labels, memo, vertex, vertex), True


def _reason(error: NumbaError) -> str:
    text = _LABELS.sub("labels", _COLOURS.sub("", str(error)))
    cause = _CAUSE.search(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    return (cause[1] if cause else lines[0] if lines else type(error).__name__).strip().rstrip(".")


def _place(error: NumbaError) -> str:
    where = getattr(error, "loc", None)
    return f" ({Path(where.filename).name}, line {where.line})" if where is not None else ""
