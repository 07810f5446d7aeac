"""Labels as narrow offsets from the bases of cells: frame of reference coding of a table with a row per vertex.

A cell is a run of rows in which the labels of every column lie within the range of an offset. Its base in a column is
the least of them. The largest offset is kept for labels that are missing because there is no path.
"""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.packed import BLOCK, NIBBLE
from aacbench.util.compiled import kernel

MISSING = -1


@kernel
def cell_starts(table: Array, most: int) -> Array:
    """Return which rows begin a cell: each cell is the longest run whose labels span at most `most` in every column."""
    rows, columns = table.shape
    starts = np.zeros(rows, dtype=np.bool_)
    low = np.empty(columns, dtype=np.int64)
    high = np.empty(columns, dtype=np.int64)
    for row in range(rows):
        fits = row > 0
        for k in range(columns):
            label = np.int64(table[row, k])
            if fits and label >= 0 and low[k] >= 0 and max(high[k], label) - min(low[k], label) > most:
                fits = False
                break
        if not fits:
            starts[row] = True
            low[:] = MISSING
            high[:] = MISSING
        for k in range(columns):
            label = np.int64(table[row, k])
            if label >= 0:
                low[k] = label if low[k] < 0 else min(low[k], label)
                high[k] = max(high[k], label)
    return starts


def bases_of(table: Array, starts: Array) -> Array:
    """Return the least label of each cell and column, 0 where all are missing."""
    shown = np.where(table < 0, np.iinfo(np.int32).max, table)
    least = np.minimum.reduceat(shown, np.flatnonzero(starts), axis=0) if len(table) else shown[:0]
    return np.where(least == np.iinfo(np.int32).max, 0, least).astype(np.int32)


def offsets_of(table: Array, starts: Array, bases: Array, bits: int) -> Array:
    """Return the offsets of all labels in `bits` bits each; of 4 bits, two share a byte."""
    wide = np.dtype(f"u{max(8, bits) // 8}")
    missing = (1 << bits) - 1
    offsets = np.where(table < 0, missing, table.astype(np.int64) - bases[np.cumsum(starts) - 1]).astype(wide)
    return joined_nibbles(offsets) if bits == NIBBLE else offsets


def joined_nibbles(offsets: Array) -> Array:
    """Return columns two to a byte: column k in the low half of byte k, or in the high half of byte k - width."""
    width = (offsets.shape[1] + 1) // 2
    joined = offsets[:, :width].copy()
    joined[:, : offsets.shape[1] - width] |= offsets[:, width:] << NIBBLE
    return joined


def index_of(cover: Array, starts: Array) -> Array:
    """Return for every 64 vertices which have rows, which of these begin a cell, and how many of both come before."""
    begins = np.zeros(len(cover), dtype=bool)
    begins[np.flatnonzero(cover)[starts]] = True
    blocks = -(-len(cover) // BLOCK)
    index = np.zeros((blocks, 3), dtype=np.uint64)
    before = np.zeros((blocks, 2), dtype=np.uint64)
    for column, bits in enumerate((cover, begins)):
        padded = np.zeros(blocks * BLOCK, dtype=bool)
        padded[: len(bits)] = bits
        index[:, column] = np.packbits(padded, bitorder="little").view(np.uint64)
        counts = padded.reshape(blocks, BLOCK).sum(axis=1)
        before[1:, column] = np.cumsum(counts)[:-1]
    index[:, 2] = before[:, 0] | (before[:, 1] << np.uint64(32))
    return index


def index_bytes(vertices: int) -> int:
    return -(-vertices // BLOCK) * 3 * 8
