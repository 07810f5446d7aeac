"""The layout of labels as codes of six bits, each for the distances between two levels; all columns share the levels.

A row has its codes one after the other, the first in the lowest bits of the first byte. `low` and `high` are the least
and the greatest distance of each code, so two labels show a difference of at least low - high. The last code stands
for no path, from minus to plus infinity, and so shows nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.layouts import KERNELS, Kernels, Layout, no_work
from aacbench.search.networks import Network
from aacbench.util.compiled import inlined

BITS = 6
LEVELS = (1 << BITS) - 1  # and the code for no path

_BITS, _THREE, _SEVEN, _EIGHT, _NEXT = (np.uint64(number) for number in (BITS, 3, 7, 8, 1))


class FloatCodes(NamedTuple):
    """Labels in codes; the columns are `both`, `forward`, then backward ones, as those of `Differential`."""

    rows: Array
    width: int
    low: Array
    high: Array
    both: int
    forward: int
    columns: int


class WholeCodes(NamedTuple):
    """The same for integer weights, where bounds are whole numbers."""

    rows: Array
    width: int
    low: Array
    high: Array
    both: int
    forward: int
    columns: int


def width_of(columns: int) -> int:
    """Return the bytes of a row."""
    return -(-columns * BITS // 8)


def codes(
    network: Network, rows: Array, low: Array, high: Array, *, columns: int, both: int, forward: int, margin: float
) -> Layout:
    """Return the layout of rows in the graph's own vertex order; the margin is subtracted from each difference."""
    if both and not network.graph.symmetric:
        raise UsageError("One label for both directions needs a symmetric graph, where every arc has an equal reverse.")
    # The byte after a row is read with the row's last and not used, so one more byte at the very end will do.
    placed = np.append(np.take(np.asarray(rows), network.original, axis=0).ravel(), np.uint8(0))
    least, greatest = np.append(low, -np.inf), np.append(high + margin, np.inf)
    for array in (placed, least, greatest):
        array.flags.writeable = False
    kind = WholeCodes if network.graph.integral else FloatCodes
    return Layout(network, kind(placed, width_of(columns), least, greatest, both, forward, columns))


@inlined
def code_of(layout, u, k):
    at = k * _BITS
    byte = np.uint64(u) * np.uint64(layout.width) + (at >> _THREE)
    pair = np.uint64(layout.rows[byte]) | (np.uint64(layout.rows[byte + _NEXT]) << _EIGHT)
    return (pair >> (at & _SEVEN)) & np.uint64(LEVELS)


@inlined
def difference(layout, there, u):
    best = 0.0
    both, total = np.uint64(layout.both), np.uint64(layout.columns)
    turn = both + np.uint64(layout.forward)
    for k in range(turn):
        best = max(best, there[0, k] - layout.high[code_of(layout, u, k)])
    for k in range(both):
        best = max(best, layout.low[code_of(layout, u, k)] - there[1, k])
    for k in range(turn, total):
        best = max(best, layout.low[code_of(layout, u, k)] - there[1, k])
    return best


def _bind(layout, memo, arcs, work, target):
    for k in range(np.uint64(layout.columns)):
        code = code_of(layout, target, k)
        memo[0, k], memo[1, k] = layout.low[code], layout.high[code]
    return 0


def _bound(layout, memo, u):
    return difference(layout, memo, u)


def _whole_bound(layout, memo, u):
    return np.int64(difference(layout, memo, u))


def _memo(layout: Any) -> Array:
    return np.empty((2, layout.columns), dtype=np.float64)


KERNELS[FloatCodes] = Kernels(_bind, _bound, _memo, no_work)
KERNELS[WholeCodes] = Kernels(_bind, _whole_bound, _memo, no_work)
