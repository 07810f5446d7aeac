"""The layout of labels in narrow offsets from the bases of cells, with rows for some vertices only.

A vertex without a row has all its neighbours' rows, so its labels are minima over its arcs. Vertices are in the
network's depth-first order. `words` has three words for every 64 vertices: a bit for each vertex that has a row, a bit
for each row that begins a cell, and how many rows (low half) and cells (high half) come before.
"""

from typing import Any, NamedTuple

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.layouts import KERNELS, Kernels, Layout, no_work
from aacbench.search.networks import Arcs, Network, degrees
from aacbench.util.compiled import inlined

FAR = 2**30  # no label is as large, so that a label and an arc's weight add up within 32 bits
BLOCK = 64  # vertices described by one row of the index
NIBBLE = 4  # bits of the narrowest label: two share a byte

_FAR, _SIX, _LAST = np.int32(FAR), np.uint64(6), np.uint64(63)
_ONE, _HALF = np.uint64(1), np.uint64(32)
_NEXT = np.uint32(1)


class Packed(NamedTuple):
    """Labels in narrow offsets; columns are `both`, `forward`, then backward ones, as those of `Differential`.

    A label is the base of its cell and column plus an offset; the largest offset stands for no path. With `nibbles`,
    column k is in the low half of byte k, or in the high half of byte k - width. No `words` mean that every vertex
    has a row and that there is one cell. `per_unit` converts weights to label units, `scale` converts back.
    """

    offsets: Array
    bases: Array
    words: Array
    both: int
    forward: int
    complete: bool
    nibbles: bool
    none: int
    ahead: Arcs
    behind: Arcs
    per_unit: Any
    scale: Any


def packed(
    network: Network,
    offsets: Array,
    bases: Array,
    index: Array,
    *,
    both: int = 0,
    forward: int = 0,
    nibbles: bool = False,
    scale: float | None = None,
    per_unit: float | None = None,
) -> Layout:
    """Return the layout; the arcs it decodes by are those of this network, whatever network is searched later."""
    if network.order != "dfs":
        raise UsageError("Packed labels are in depth-first order; use a network in that order.")
    integral = network.graph.integral
    unit = np.int64(1) if scale is None else np.float64(scale)
    inverse = np.int64(1) if integral else np.float64(1.0 if per_unit is None else per_unit)
    none = top_code(offsets, nibbles)
    complete = not offsets.size or _largest_code(offsets, nibbles) < none
    complete = complete and _all_have_arcs(network, index)
    labels = Packed(
        offsets, bases, index, both, forward, complete, nibbles, none, network.arcs, network.backward, inverse, unit
    )
    return Layout(network, labels)


def stored_rows(index: Array, vertices: int) -> Array:
    """Return which vertices have rows, in the network's order."""
    if not len(index):
        return np.ones(vertices, dtype=bool)
    bits = np.unpackbits(np.ascontiguousarray(index[:, 0]).view(np.uint8), bitorder="little")
    return bits[:vertices].astype(bool)


def _all_have_arcs(network: Network, index: Array) -> bool:
    """Return whether every vertex without a row has neighbours to take its labels from."""
    without = ~stored_rows(index, network.graph.vertices)
    return all(bool((degrees(arcs)[without] > 0).all()) for arcs in (network.arcs, network.backward))


def top_code(offsets: Array, nibbles: bool) -> int:
    """Return the offset that stands for no path."""
    return 15 if nibbles else int(np.iinfo(offsets.dtype).max)


def _largest_code(offsets: Array, nibbles: bool) -> int:
    return int(max((offsets & 15).max(), (offsets >> NIBBLE).max()) if nibbles else offsets.max())


@inlined
def ones(word):
    """Return how many bits of a 64-bit word are set; compiled to one instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def has_row(layout, u):
    if len(layout.words) == 0:
        return True
    at = np.uint64(u)
    return (layout.words[at >> _SIX, 0] >> (at & _LAST)) & _ONE == _ONE


@inlined
def place_of(layout, u):
    """Return the row of a vertex that has one, and its cell."""
    if len(layout.words) == 0:
        return np.uint64(u), np.uint64(0)
    at = np.uint64(u)
    block = at >> _SIX
    upto = ~np.uint64(0) >> (_LAST - (at & _LAST))  # the bits of the block's vertices up to u
    before = layout.words[block, 2]
    row = (before & np.uint64(0xFFFFFFFF)) + ones(layout.words[block, 0] & upto) - _ONE
    return row, (before >> _HALF) + ones(layout.words[block, 1] & upto) - _ONE


@inlined
def label_of(layout, row, cell, k):
    """Return one label; FAR if there is no path."""
    if layout.nibbles:
        width = np.uint64(layout.offsets.shape[1])
        code = layout.offsets[row, k] & 15 if k < width else layout.offsets[row, k - width] >> 4
    else:
        code = layout.offsets[row, k]
    return _FAR if np.int64(code) == layout.none else np.int32(layout.bases[cell, k] + np.int32(code))


@inlined
def exact_label(layout, place, k):
    """Return one label of a complete layout without nibbles, plus a weight."""
    row, cell, weight = place
    return np.int32(layout.bases[cell, k] + np.int32(layout.offsets[row, k]) + weight)


@inlined
def merge_row(layout, place, first, last, labels, fresh):
    """Lower the columns from `first` to `last` of `labels` to the labels of a row plus a weight.

    If `fresh`, nothing is in `labels` yet.
    """
    if layout.complete and not layout.nibbles:
        for k in range(first, last):
            label = exact_label(layout, place, k)
            labels[k] = label if fresh else min(labels[k], label)
    else:
        row, cell, weight = place
        for k in range(first, last):
            label = np.int32(min(label_of(layout, row, cell, k) + np.int64(weight), FAR))
            labels[k] = label if fresh else min(labels[k], label)


@inlined
def head_of(layout, arcs, arc):
    """Return the row and cell of the vertex an arc leads to, and the arc's weight in units of the labels."""
    row, cell = place_of(layout, arcs.heads[arc])
    return row, cell, np.int32(min(arcs.weights[arc] * layout.per_unit, FAR))


@inlined
def over_arcs(layout, arcs, u, first, last, labels):
    """Write the columns from `first` to `last` of a vertex without a row: minima over the neighbours along arcs."""
    arc, end = arcs.indptr[u], arcs.indptr[u + _NEXT]
    if arc == end:
        for k in range(first, last):
            labels[k] = _FAR
        return
    merge_row(layout, head_of(layout, arcs, arc), first, last, labels, True)
    for other in range(arc + _NEXT, end):
        merge_row(layout, head_of(layout, arcs, other), first, last, labels, False)


@inlined
def read_labels(layout, u, labels):
    """Write the labels of any vertex; FAR stands for no path."""
    turn, total = np.uint64(layout.both + layout.forward), np.uint64(len(labels))
    if has_row(layout, u):
        row, cell = place_of(layout, u)
        for k in range(total):
            labels[k] = label_of(layout, row, cell, k)
        return
    over_arcs(layout, layout.behind, u, np.uint64(0), turn, labels)
    if turn < total:
        over_arcs(layout, layout.ahead, u, turn, total, labels)


def _bind(layout, memo, arcs, work, target):
    read_labels(layout, np.uint32(target), memo[0])
    return 0


@inlined
def gap(here, there, way):
    """Return what two labels of a column bound: those of both directions by 0, forward ones by -1, others by 1."""
    if way == 0:
        return abs(np.int32(here - there))  # in 32 bits: a difference alone would have 64
    return np.int32(there - here) if way < 0 else np.int32(here - there)


@inlined
def by_row(layout, place, there, first, last, way, best):
    """Return the bound of some columns from the labels of a row plus a weight, if it is more than the best so far."""
    for k in range(first, last):
        best = max(best, gap(exact_label(layout, place, k), there[k], way))
    return best


@inlined
def by_arcs(layout, arcs, u, memo, first, last, way, best):
    """Return the same of a vertex without a row, in one pass if it has at most four arcs, as nearly all of them do.

    Of two arcs the second is read twice, since another branch takes longer.
    """
    there, here = memo
    if first == last:
        return best
    arc, end = arcs.indptr[u], arcs.indptr[u + _NEXT]
    if end - arc == 1:
        return by_row(layout, head_of(layout, arcs, arc), there, first, last, way, best)
    if end - arc > 4:
        over_arcs(layout, arcs, u, first, last, here)
        for k in range(first, last):
            best = max(best, gap(here[k], there[k], way))
        return best
    one, two = head_of(layout, arcs, arc), head_of(layout, arcs, arc + _NEXT)
    three = head_of(layout, arcs, min(arc + _NEXT + _NEXT, end - _NEXT))
    if end - arc == 4:
        four = head_of(layout, arcs, end - _NEXT)
        for k in range(first, last):
            label = min(exact_label(layout, one, k), exact_label(layout, two, k))
            rest = min(exact_label(layout, three, k), exact_label(layout, four, k))
            best = max(best, gap(min(label, rest), there[k], way))
        return best
    for k in range(first, last):
        label = min(exact_label(layout, one, k), exact_label(layout, two, k))
        best = max(best, gap(min(label, exact_label(layout, three, k)), there[k], way))
    return best


def _bound(layout, memo, u):
    there, here = memo
    best = np.int32(0)
    both, total = np.uint64(layout.both), np.uint64(len(there))
    turn = both + np.uint64(layout.forward)
    if layout.complete and not layout.nibbles:
        if has_row(layout, u):
            row, cell = place_of(layout, u)
            place = row, cell, np.int32(0)
            best = by_row(layout, place, there, np.uint64(0), both, 0, best)
            best = by_row(layout, place, there, both, turn, -1, best)
            best = by_row(layout, place, there, turn, total, 1, best)
        else:
            best = by_arcs(layout, layout.behind, u, memo, np.uint64(0), both, 0, best)
            best = by_arcs(layout, layout.behind, u, memo, both, turn, -1, best)
            best = by_arcs(layout, layout.ahead, u, memo, turn, total, 1, best)
        return best * layout.scale
    read_labels(layout, u, here)
    for k in range(total):
        if here[k] < _FAR and there[k] < _FAR:
            if k < turn:
                best = max(best, np.int32(there[k] - here[k]))
            if k < both or k >= turn:
                best = max(best, np.int32(here[k] - there[k]))
    return best * layout.scale


def _memo(layout: Any) -> tuple[Array, Array]:
    columns = layout.bases.shape[1]
    return np.zeros(columns, np.int32), np.zeros(columns, np.int32)


KERNELS[Packed] = Kernels(_bind, _bound, _memo, no_work)
