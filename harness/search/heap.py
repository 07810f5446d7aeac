"""A 4-ary heap of (f, tie, sequence, vertex) records: a total order, so what leaves next does not depend on layout."""

import numpy as np

from aacbench.compiled import kernel
from aacbench.graphs.record import Array


def entry_dtype(weight: np.dtype) -> np.dtype:
    """The record a heap holds, for a graph's weight type."""
    return np.dtype([("f", weight), ("tie", weight), ("sequence", np.uint32), ("vertex", np.int32)], align=True)


@kernel
def sift_up(heap: Array, size: int, f, tie, sequence, vertex):
    """Put an entry at the end of a heap of `size` entries and let it rise."""
    hole = size
    while hole > 0:
        up = (hole - 1) >> 2
        other = heap[up]
        if other.f < f or (other.f == f and (other.tie < tie or (other.tie == tie and other.sequence < sequence))):
            break
        heap[hole] = other
        hole = up
    place = heap[hole]
    place.f = f
    place.tie = tie
    place.sequence = sequence
    place.vertex = vertex


@kernel
def sift_down(heap: Array, size: int) -> None:
    """Close the gap at the root: entry `size` (the last one) goes where it belongs among the first `size`."""
    last = heap[size]
    f, tie, sequence, vertex = last.f, last.tie, last.sequence, last.vertex
    hole = 0
    child = 1
    while child < size:
        best = child
        least = heap[child]
        for other in range(child + 1, min(child + 4, size)):
            entry = heap[other]
            if entry.f < least.f or (
                entry.f == least.f
                and (entry.tie < least.tie or (entry.tie == least.tie and entry.sequence < least.sequence))
            ):
                best = other
                least = entry
        if f < least.f or (f == least.f and (tie < least.tie or (tie == least.tie and sequence < least.sequence))):
            break
        heap[hole] = least
        hole = best
        child = 4 * hole + 1
    place = heap[hole]
    place.f = f
    place.tie = tie
    place.sequence = sequence
    place.vertex = vertex
