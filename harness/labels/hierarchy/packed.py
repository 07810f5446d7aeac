"""The packed form: each arc in a few bits, without loss.

The arcs of a vertex are a record, which begins at a whole byte. Its first byte names two of 16 classes each: how wide
the fields of its arcs are. An arc is the difference of its head to the head before it (at first, to the vertex itself),
less one, then its weight. All arcs of a record are equally wide, so that reading one need not wait for the one before.
The widths of the classes are chosen for the graph. Where records begin is known for every block of 16,
and for a record from there in one byte; a block that is longer than that has its own four bytes for each record.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.hierarchy.fields import empty_words, low_bits, packed, window, write
from aacbench.labels.hierarchy.numbering import Hierarchy, Rows
from aacbench.search.scratch import inline
from aacbench.util.compiled import kernel

BLOCK, LONG = 16, np.uint32(1 << 31)
CLASSES, _CLASS_BITS = 16, 4
_BLOCK_BITS, _IN_BLOCK = np.uint64(4), np.uint64(15)
_BYTE, _NONE, _ONE = np.uint64(8), np.uint64(0), np.uint64(1)
_OTHER, _CLASS = np.uint64(CLASSES), np.uint64(_CLASS_BITS)


def packed_arrays(made: Hierarchy) -> tuple[dict[str, Array], dict[str, int]] | None:
    """Return what the packed form deploys, arrays and settings; None if an arc would need more than 64 bits."""
    words, width = packed(made.place)
    sides = [made.up] if made.down is made.up else [made.up, made.down]
    gaps = [_gaps(rows, made.core) for rows in sides]
    degrees = np.concatenate([np.diff(rows.first) for rows in sides])
    needed = [
        np.concatenate([_widest(rows, values) for rows, values in zip(sides, fields, strict=True)])
        for fields in (gaps, [rows.weights for rows in sides])
    ]
    if max(bits.max(initial=0) for bits in needed) > 63 or sum(int(bits.max(initial=0)) for bits in needed) > 64:
        return None
    widths = np.zeros(2 * CLASSES, dtype=np.uint8)
    for k, bits in enumerate(needed):
        chosen = class_widths(bits, degrees)
        widths[k * CLASSES : k * CLASSES + len(chosen)] = chosen
    records = [_records(rows, gap, widths) for rows, gap in zip(sides, gaps, strict=True)]
    arrays = {"place": words, "widths": widths}
    for name, found in (("up", records[0]), ("down", records[-1])):
        arrays |= {f"{name}_{part}": array for part, array in found.items()}
    return arrays, {"width": width, "core": made.core}


def _gaps(rows: Rows, core: int) -> Array:
    """The difference of each head to the head or vertex before it, less one."""
    before = np.empty(len(rows.heads), dtype=np.int64)
    before[1:] = rows.heads[:-1]
    degrees = np.diff(rows.first)
    before[rows.first[:-1][degrees > 0]] = np.flatnonzero(degrees) + core
    return before - rows.heads - 1


def _widest(rows: Rows, values: Array) -> Array:
    """The bits of the largest of the values of each record, one value for each arc; 0 where there are no arcs."""
    found = np.zeros(len(rows.first) - 1, dtype=np.int64)
    filled = np.diff(rows.first) > 0
    if filled.any():
        found[filled] = np.maximum.reduceat(bit_lengths(values), rows.first[:-1][filled])
    return found


def class_widths(bits: Array, counts: Array) -> list[int]:
    """Return at most 16 widths such that fields of the narrowest one that holds them take the fewest bits in all.

    `bits` is what the fields of a record need, `counts` how many they are. Found by dynamic programming.
    """
    sums = np.bincount(bits, weights=counts, minlength=1)
    used = np.flatnonzero(np.bincount(bits)).tolist() or [0]
    below = np.concatenate([[0], np.cumsum(sums)])
    cost = {width: int(below[width + 1]) * width for width in used}  # all fields up to this width, in one class
    choice = {width: [width] for width in used}
    for _ in range(1, min(CLASSES, len(used))):
        previous, chosen = dict(cost), {width: list(choice[width]) for width in used}
        for k, width in enumerate(used):
            for lower in used[:k]:
                total = previous[lower] + int(below[width + 1] - below[lower + 1]) * width
                if total < cost[width]:
                    cost[width], choice[width] = total, [*chosen[lower], width]
    return choice[used[-1]]


def bit_lengths(values: Array) -> Array:
    """The number of bits of each value, which are not negative and below 2^62."""
    high, low = np.frexp((values >> 31).astype(np.float64))[1], np.frexp((values & 0x7FFFFFFF).astype(np.float64))[1]
    return np.where(high > 0, high + 31, low).astype(np.int64)


def _records(rows: Rows, gaps: Array, widths: Array) -> dict[str, Array]:
    heads = _class_of(_widest(rows, gaps), widths[:CLASSES])
    lengths = _class_of(_widest(rows, rows.weights), widths[CLASSES:])
    head_widths, weight_widths = widths[heads].astype(np.uint64), widths[CLASSES + lengths].astype(np.uint64)
    step = np.maximum(head_widths + weight_widths, _BYTE).astype(np.int64)
    degrees = np.diff(rows.first)
    begin = np.concatenate([[0], np.cumsum(np.where(degrees > 0, 1 + (degrees * step + 7) // 8, 0))])
    words = empty_words(8 * int(begin[-1]))
    classes = (heads | (lengths << _CLASS_BITS)).astype(np.uint64)
    values = gaps.astype(np.uint64), rows.weights.astype(np.uint64)
    write_records(words, rows.first, begin, classes, *values, head_widths, weight_widths)
    return {**_offsets(begin), "bits": words}


def _class_of(bits: Array, widths: Array) -> Array:
    """The first class that is wide enough for each record."""
    return np.searchsorted(widths[: 1 + int(widths.argmax())], bits)


def _offsets(begin: Array) -> dict[str, Array]:
    """Where each record begins, and the last one ends: the first of each block, and in one byte the others from it."""
    rows = len(begin)
    blocks = -(-rows // BLOCK)
    filled = np.concatenate([begin, np.full(blocks * BLOCK - rows, begin[-1])]).reshape(blocks, BLOCK)
    within = filled - filled[:, :1]
    long = within[:, -1] > 255
    block = filled[:, 0].astype(np.uint32)
    block[long] = np.arange(long.sum()) * BLOCK + LONG
    relative = np.where(long[:, None], 0, within).astype(np.uint8).reshape(-1)[:rows]
    return {"block": block, "rel": relative, "wide": filled[long].astype(np.uint32).reshape(-1)}


def all_begins(arrays: Mapping[str, Array], side: str) -> Array:
    """The byte at which each record of a side begins, and the last one ends: what `_offsets` was given."""
    block, relative, wide = (arrays[f"{side}_{part}"] for part in ("block", "rel", "wide"))
    base = np.repeat(block, BLOCK)[: len(relative)].astype(np.int64)
    begin, long = base + relative, base >= LONG
    begin[long] = wide[base[long] - int(LONG) + np.flatnonzero(long) % BLOCK]
    return begin


@kernel
def write_records(
    words: Any, first: Any, begin: Any, classes: Any, gaps: Any, weights: Any, head_widths: Any, weight_widths: Any
) -> None:
    for row in range(len(first) - 1):
        at = np.uint64(begin[row]) * _BYTE
        if first[row] < first[row + 1]:
            write(words, at, classes[row], _BYTE)
        at += _BYTE
        for arc in range(first[row], first[row + 1]):
            write(words, at, gaps[arc], head_widths[row])
            write(words, at + head_widths[row], weights[arc], weight_widths[row])
            at += max(head_widths[row] + weight_widths[row], _BYTE)


@inline
def begins(block: Any, rel: Any, wide: Any, row: Any) -> Any:
    """The bit at which a record begins; all numbers are uint64."""
    base = block[row >> _BLOCK_BITS]
    if base >= LONG:
        return np.uint64(wide[np.uint64(base - LONG) + (row & _IN_BLOCK)]) * _BYTE
    return (np.uint64(base) + np.uint64(rel[row])) * _BYTE


@inline
def record_of(bits: Any, block: Any, rel: Any, wide: Any, widths: Any, row: Any) -> Any:
    """The bit of the first arc of a record, the bit where it ends, and the widths of its fields.

    An arc takes a byte or more, so that the bits that fill a record up are no arc. A record without arcs has no bytes.
    """
    at, end = begins(block, rel, wide, row), begins(block, rel, wide, row + _ONE)
    classes = window(bits, at)
    head_width = np.uint64(widths[low_bits(classes, _CLASS)])
    weight_width = np.uint64(widths[low_bits(classes >> _CLASS, _CLASS) + _OTHER])
    return at + _BYTE, end, head_width, weight_width


@inline
def arc_at(bits: Any, at: Any, head_width: Any, weight_width: Any, before: Any) -> Any:
    """The head and weight of the arc at a bit; `before` is the head or vertex before it."""
    found = window(bits, at)
    head = before - _ONE - low_bits(found, head_width)
    weight = np.int64(low_bits(found >> head_width, weight_width))
    return head if head < before else _NONE, weight  # damaged bits lead to a smaller number, too
