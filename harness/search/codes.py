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

_CODE, _ONE = np.uint64(LEVELS), np.uint64(1)


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
    # Rows are read by threes of bytes, beyond the end of the last one.
    placed = np.append(np.take(np.asarray(rows), network.original, axis=0).ravel(), np.zeros(2, np.uint8))
    least, greatest = np.append(low, -np.inf), np.append(high + margin, np.inf)
    for array in (placed, least, greatest):
        array.flags.writeable = False
    kind = WholeCodes if network.graph.integral else FloatCodes
    return Layout(network, kind(placed, width_of(columns), least, greatest, both, forward, columns))


@inlined
def four_codes(layout, u, k):
    """Return the codes of four columns, of which k is the first, in the lowest bits of a word."""
    byte = np.uint64(u) * np.uint64(layout.width) + np.uint64(3) * (k >> np.uint64(2))
    low, middle = np.uint64(layout.rows[byte]), np.uint64(layout.rows[byte + np.uint64(1)])
    return low | (middle << np.uint64(8)) | (np.uint64(layout.rows[byte + np.uint64(2)]) << np.uint64(16))


@inlined
def shown(layout, there, k, code):
    """Return the distance that the code of a column shows, at the least."""
    return max(there[0, k] - layout.high[code & _CODE], layout.low[code & _CODE] - there[1, k])


@inlined
def difference(layout, there, u):
    best = 0.0
    for k in range(np.uint64(0), np.uint64(there.shape[1]), np.uint64(4)):
        codes = four_codes(layout, u, k)
        one = max(shown(layout, there, k, codes), shown(layout, there, k + _ONE, codes >> np.uint64(6)))
        two = shown(layout, there, k + np.uint64(2), codes >> np.uint64(12))
        other = max(two, shown(layout, there, k + np.uint64(3), codes >> np.uint64(18)))
        best = max(best, max(one, other))
    return best


def _bind(layout, memo, arcs, work, target):
    """Write the levels of the target's codes, with infinity where a column bounds one way only or there is none."""
    both, columns = layout.both, layout.columns
    turn = both + layout.forward
    for k in range(memo.shape[1]):
        code = (four_codes(layout, target, np.uint64(k - k % 4)) >> np.uint64(k % 4 * BITS)) & _CODE
        memo[0, k] = layout.low[code] if k < turn else -np.inf
        memo[1, k] = layout.high[code] if k < both or turn <= k < columns else np.inf
    return 0


def _bound(layout, memo, u):
    return difference(layout, memo, u)


def _whole_bound(layout, memo, u):
    return np.int64(difference(layout, memo, u))


def _memo(layout: Any) -> Array:
    return np.empty((2, -(-layout.columns // 4) * 4), dtype=np.float64)


KERNELS[FloatCodes] = Kernels(_bind, _bound, _memo, no_work)
KERNELS[WholeCodes] = Kernels(_bind, _whole_bound, _memo, no_work)
