"""The layout of labels in whole steps, rounded down: one byte or two for each label, and a step for each column.

A label q of a column with step s stands for a distance from b + s q to below b + s (q + 1), where b is the same for
all vertices. Two labels thus show a difference of at least s |q - q'| - s, and of one more on whole numbers. A distance
outside the range of labels has the nearest label: it is then only known from one side, and only that side is used.
"""

from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.layouts import KERNELS, Kernels, Layout, no_work
from aacbench.search.networks import Network
from aacbench.util.compiled import inlined


class FloatSteps(NamedTuple):
    """Labels in steps; the columns are `both`, `forward`, then backward ones, as those of `Differential`.

    `none` is the label for no path, and `complete` says that there is none. `less` is subtracted from each difference.
    Differences are computed in the type of `steps`.
    """

    rows: Array
    steps: Array
    less: Array
    both: int
    forward: int
    none: Any
    complete: bool


class WholeSteps(NamedTuple):
    """The same for integer weights, where bounds are whole numbers."""

    rows: Array
    steps: Array
    less: Array
    both: int
    forward: int
    none: Any
    complete: bool


def steps(
    network: Network, rows: Array, sizes: Array, *, both: int = 0, forward: int = 0, margin: float = 0.0
) -> Layout:
    """Return the layout of label rows in the graph's own vertex order, with the step of each column."""
    if both and not network.graph.symmetric:
        raise UsageError("One label for both directions needs a symmetric graph, where every arc has an equal reverse.")
    placed = np.take(np.asarray(rows), network.original, axis=0)
    placed.flags.writeable = False
    integral, none = network.graph.integral, int(np.iinfo(rows.dtype).max)
    # A product with a label is below 2^53, thus exact as a float; 32-bit numbers are faster where they suffice.
    number = np.int32 if integral and sizes.max(initial=0) * none < 2**31 else np.float64
    taken: Any = sizes.astype(number)
    less = taken - number(1) if integral else taken + margin
    for array in (taken, less):
        array.flags.writeable = False
    complete = not placed.size or bool(placed.max() < none)
    kind = WholeSteps if integral else FloatSteps
    return Layout(network, kind(placed, taken, less, both, forward, number(none), complete))


@inlined
def shown(layout, k, apart):
    """Return the distance that a difference of labels shows in a column, at the least."""
    return layout.steps.dtype.type(layout.steps[k] * apart - layout.less[k])


@inlined
def difference(layout, there, u):
    number = layout.steps.dtype.type
    best = number(0)
    both, total = np.uint64(layout.both), np.uint64(len(there))
    turn = both + np.uint64(layout.forward)
    if layout.complete:
        for k in range(both):
            best = max(best, shown(layout, k, abs(number(number(layout.rows[u, k]) - there[k]))))
        for k in range(both, turn):
            best = max(best, shown(layout, k, number(there[k] - number(layout.rows[u, k]))))
        for k in range(turn, total):
            best = max(best, shown(layout, k, number(number(layout.rows[u, k]) - there[k])))
        return best
    for k in range(total):
        here = number(layout.rows[u, k])
        if here != layout.none and there[k] != layout.none:
            if k < turn:
                best = max(best, shown(layout, k, number(there[k] - here)))
            if k < both or k >= turn:
                best = max(best, shown(layout, k, number(here - there[k])))
    return best


def _bind(layout, memo, arcs, work, target):
    for k in range(np.uint64(len(memo))):
        memo[k] = layout.rows[target, k]
    return 0


def _bound(layout, memo, u):
    return difference(layout, memo, u)


def _whole_bound(layout, memo, u):
    return np.int64(difference(layout, memo, u))


def _memo(layout: Any) -> Array:
    return np.empty_like(layout.steps)


KERNELS[FloatSteps] = Kernels(_bind, _bound, _memo, no_work)
KERNELS[WholeSteps] = Kernels(_bind, _whole_bound, _memo, no_work)
