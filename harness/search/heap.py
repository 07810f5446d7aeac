"""A 4-ary heap of (f, tie, sequence, vertex) records in a total order, so the order of pops is unique."""

from typing import Any

import numpy as np

from aacbench.util.compiled import inlined


def entry_dtype(weight: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype([("f", weight), ("tie", weight), ("sequence", np.uint32), ("vertex", np.uint32)], align=True)


# Positions are unsigned, so that indexing does not check for negative ones.
_ONE, _TWO, _FOUR = np.uint64(1), np.uint64(2), np.uint64(4)


@inlined
def put(place, f, tie, sequence, vertex):
    """Fill an entry field by field; numba copies whole records byte by byte, which is slow."""
    place.f = f
    place.tie = tie
    place.sequence = sequence
    place.vertex = vertex


@inlined
def sift_up(heap, size, f, tie, sequence, vertex):
    """Push an entry onto a heap of `size` entries."""
    hole = np.uint64(size)
    while hole > 0:
        up = (hole - _ONE) >> _TWO
        other = heap[up]
        if other.f < f or (other.f == f and (other.tie < tie or (other.tie == tie and other.sequence < sequence))):
            break
        put(heap[hole], other.f, other.tie, other.sequence, other.vertex)
        hole = up
    put(heap[hole], f, tie, sequence, vertex)


@inlined
def sift_down(heap, size):
    """Remove the root: the last entry, at position `size`, takes its place and sinks."""
    end = np.uint64(size)
    last = heap[end]
    f, tie, sequence, vertex = last.f, last.tie, last.sequence, last.vertex
    hole = np.uint64(0)
    child = _ONE
    while child < end:
        best = child
        least = heap[child]
        other, stop = child + _ONE, min(child + _FOUR, end)
        while other < stop:
            entry = heap[other]
            if entry.f < least.f or (
                entry.f == least.f
                and (entry.tie < least.tie or (entry.tie == least.tie and entry.sequence < least.sequence))
            ):
                best = other
                least = entry
            other += _ONE
        if f < least.f or (f == least.f and (tie < least.tie or (tie == least.tie and sequence < least.sequence))):
            break
        put(heap[hole], least.f, least.tie, least.sequence, least.vertex)
        hole = best
        child = _FOUR * hole + _ONE
    put(heap[hole], f, tie, sequence, vertex)
