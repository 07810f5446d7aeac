"""The packed form: each arc in a few bits, without loss.

The arcs of a vertex are a record, which begins at a whole byte. An arc is two tags, which say how wide its two fields
are, then the difference of its head to the head before it (at first, to the vertex itself), less one, then its weight.
The widths of the classes that tags name are chosen for the graph. Where records begin is known for every block of 16,
and for a record from there in one byte; a block that is longer than that has its own four bytes for each record.
"""

from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.hierarchy.fields import empty_words, low_bits, packed, window, write
from aacbench.labels.hierarchy.numbering import Hierarchy, Rows
from aacbench.search.scratch import inline
from aacbench.util.compiled import kernel

BLOCK, MOST_CLASSES, LONG = 16, 8, np.uint32(1 << 31)
_BLOCK_BITS, _IN_BLOCK = 4, 15
_BYTE, _NONE = np.uint64(8), np.uint64(0)


def packed_arrays(made: Hierarchy) -> tuple[dict[str, Array], dict[str, int]] | None:
    """Return what the packed form deploys, arrays and settings; None if an arc would need more than 64 bits."""
    words, width = packed(made.place)
    sides = [made.up] if made.down is made.up else [made.up, made.down]
    gaps = [_gaps(rows, made.core) for rows in sides]
    head_tag, weight_tag, widths = _classes(np.concatenate(gaps), np.concatenate([rows.weights for rows in sides]))
    if head_tag + weight_tag + int(widths[:MOST_CLASSES].max() + widths[MOST_CLASSES:].max()) > 64:
        return None
    records = [_records(rows, gap, head_tag, weight_tag, widths) for rows, gap in zip(sides, gaps, strict=True)]
    arrays = {"place": words, "widths": widths}
    for name, found in (("up", records[0]), ("down", records[-1])):
        arrays |= {f"{name}_{part}": array for part, array in found.items()}
    return arrays, {"width": width, "head_tag": head_tag, "weight_tag": weight_tag, "core": made.core}


def _gaps(rows: Rows, core: int) -> Array:
    """The difference of each head to the head or vertex before it, less one."""
    before = np.empty(len(rows.heads), dtype=np.int64)
    before[1:] = rows.heads[:-1]
    degrees = np.diff(rows.first)
    before[rows.first[:-1][degrees > 0]] = np.flatnonzero(degrees) + core
    return before - rows.heads - 1


def _classes(gaps: Array, weights: Array) -> tuple[int, int, Array]:
    """Return the bits of both tags, and the widths of the classes: those of gaps, then those of weights."""
    best: tuple[int, int, int, Array] | None = None
    for head_tag in (1, 2, 3):
        for weight_tag in (1, 2, 3):
            widths = np.zeros(2 * MOST_CLASSES, dtype=np.uint64)
            # An arc takes a byte or more, so that the bits that fill a record up are no arc.
            taken, heads = _widths(gaps, 1 << head_tag, 0)
            more, lengths = _widths(weights, 1 << weight_tag, max(0, 8 - head_tag - weight_tag))
            widths[: len(heads)], widths[MOST_CLASSES : MOST_CLASSES + len(lengths)] = heads, lengths
            total = taken + more + len(gaps) * (head_tag + weight_tag)
            if best is None or total < best[0]:
                best = total, head_tag, weight_tag, widths
    assert best is not None
    return best[1:]


def _widths(values: Array, classes: int, least: int) -> tuple[int, list[int]]:
    """Return the bits of all values, each in the narrowest of so many widths, and the widths that need the fewest."""
    counts = np.bincount(np.maximum(bit_lengths(values), least), minlength=least + 1)
    used = np.flatnonzero(counts).tolist() or [least]
    below = np.concatenate([[0], np.cumsum(counts)])
    cost = {width: int(below[width + 1]) * width for width in used}  # all values up to this width, in one class
    choice = {width: [width] for width in used}
    for _ in range(1, min(classes, len(used))):
        previous, chosen = dict(cost), {width: list(choice[width]) for width in used}
        for k, width in enumerate(used):
            for lower in used[:k]:
                total = previous[lower] + int(below[width + 1] - below[lower + 1]) * width
                if total < cost[width]:
                    cost[width], choice[width] = total, [*chosen[lower], width]
    return cost[used[-1]], choice[used[-1]]


def bit_lengths(values: Array) -> Array:
    """The number of bits of each value, which are not negative and below 2^62."""
    high, low = np.frexp((values >> 31).astype(np.float64))[1], np.frexp((values & 0x7FFFFFFF).astype(np.float64))[1]
    return np.where(high > 0, high + 31, low).astype(np.int64)


def _records(rows: Rows, gaps: Array, head_tag: int, weight_tag: int, widths: Array) -> dict[str, Array]:
    heads = _class_of(gaps, widths[:MOST_CLASSES], 1 << head_tag)
    lengths = _class_of(rows.weights, widths[MOST_CLASSES:], 1 << weight_tag)
    bits = widths[heads] + widths[MOST_CLASSES + lengths] + np.uint64(head_tag + weight_tag)
    total = np.concatenate([[0], np.cumsum(bits.astype(np.int64))])
    begin = np.concatenate([[0], np.cumsum((np.diff(total[rows.first]) + 7) // 8)])
    words = empty_words(8 * int(begin[-1]))
    tags = (heads | (lengths << head_tag)).astype(np.uint64)
    write_records(
        *(words, rows.first, begin, tags, gaps.astype(np.uint64), rows.weights.astype(np.uint64)),
        *(widths[heads], widths[MOST_CLASSES + lengths], np.uint64(head_tag + weight_tag)),
    )
    return {**_offsets(begin), "bits": words}


def _class_of(values: Array, widths: Array, classes: int) -> Array:
    """The first class that is wide enough for each value."""
    used = widths[: max(1, min(classes, int((widths > 0).sum() + (widths[0] == 0))))].astype(np.int64)
    return np.searchsorted(used, np.maximum(bit_lengths(values), used[0]))


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


@kernel
def write_records(
    words: Any,
    first: Any,
    begin: Any,
    tags: Any,
    gaps: Any,
    weights: Any,
    head_widths: Any,
    weight_widths: Any,
    tag_width: Any,
) -> None:
    for row in range(len(first) - 1):
        at = np.uint64(begin[row]) * _BYTE
        for arc in range(first[row], first[row + 1]):
            write(words, at, tags[arc], tag_width)
            at += tag_width
            write(words, at, gaps[arc], head_widths[arc])
            at += head_widths[arc]
            write(words, at, weights[arc], weight_widths[arc])
            at += weight_widths[arc]


@inline
def begins(block: Any, rel: Any, wide: Any, row: Any) -> Any:
    """The bit at which a record begins."""
    base = block[row >> _BLOCK_BITS]
    if base >= LONG:
        return np.uint64(wide[np.int64(base - LONG) + (row & _IN_BLOCK)]) * _BYTE
    return (np.uint64(base) + np.uint64(rel[row])) * _BYTE


@inline
def arc_at(bits: Any, at: Any, head_tag: Any, weight_tag: Any, widths: Any, before: Any) -> Any:
    """The head and weight of the arc at a bit, and the bit behind it; `before` is the head or vertex before it."""
    found = window(bits, at)
    head_width = widths[low_bits(found, head_tag)]
    weight_width = widths[low_bits(found >> head_tag, weight_tag) + _BYTE]
    found >>= head_tag + weight_tag
    head = max(
        np.int64(0), before - np.int64(1) - np.int64(low_bits(found, head_width))
    )  # even if the bits are damaged
    weight = np.int64(low_bits(found >> head_width, weight_width))
    return head, weight, at + head_tag + weight_tag + head_width + weight_width
