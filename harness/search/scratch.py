"""Scratch of one search thread: numbers for each vertex that are valid for one query, and a count of work.

Each row of a `Stamped` begins with the number of the query that wrote it. Any other row counts as filled with the fill
value, so that a query does no work for vertices that it does not touch.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from aacbench.contract.method import Scratch
from aacbench.graphs.record import Array
from aacbench.util.compiled import allocation_free

INTEGER_INFINITY = 2**62  # two of them can be added


class Stamped(NamedTuple):
    """Rows of a stamp and the numbers of a vertex, the stamp of the query under way, and the fill value."""

    rows: Array
    stamp: Array
    fill: Any


class Memo(NamedTuple):
    """What a layout with a goal search keeps for a thread. `given` is what the author's functions get.

    That is `numbers`, or a record with `numbers`, `work` and the author's scratch as fields.
    """

    given: Any
    numbers: Array
    target: Array
    stamp: Array
    work: Array


def inline(function: Any) -> Any:
    return allocation_free(function, forceinline=True)


@inline
def get(scratch, v, i=0):
    """Return number i of vertex v, or the fill value if nothing of v was written in this query."""
    if scratch.rows[v, 0] == scratch.stamp[0]:
        return scratch.rows[v, i + 1]
    return scratch.fill


@inline
def put(scratch, v, i, value):
    """Set number i of vertex v for this query; if v has none yet, its others become the fill value."""
    if scratch.rows[v, 0] != scratch.stamp[0]:
        scratch.rows[v, 0] = scratch.stamp[0]
        for other in range(1, scratch.rows.shape[1]):
            scratch.rows[v, other] = scratch.fill
    scratch.rows[v, i + 1] = value


@inline
def is_set(scratch, v):
    """Return whether any number of vertex v was written in this query."""
    return scratch.rows[v, 0] == scratch.stamp[0]


@inline
def add_work(scratch, count):
    """Add to the `h_work` of this query; `scratch` is the record that start, visit and the kernel get."""
    scratch.work[0] += count


def new_memo(numbers: int, weight: np.dtype[Any], vertices: int, scratch: Mapping[str, Scratch], record: Any) -> Memo:
    """Return the memory of one thread; `record` is the class of what the functions get, None for the array alone."""
    zeros, stamp, work = np.zeros(numbers, dtype=weight), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    given: Any = zeros
    if record is not None:
        own = {name: _area(each, weight, vertices, stamp) for name, each in scratch.items()}
        given = record(**own, memo=zeros, work=work)
    return Memo(given, zeros, np.zeros(1, dtype=np.int64), stamp, work)


def scratch_bytes(scratch: Mapping[str, Scratch], vertices: int) -> int:
    """Return the bytes that one thread keeps."""
    return 8 * vertices * sum(each.per_vertex + (each.fill is not None) for each in scratch.values())


def _area(scratch: Scratch, weight: np.dtype[Any], vertices: int, stamp: Array) -> Any:
    dtype = weight if scratch.dtype == "weight" else np.dtype(np.int64)
    if scratch.fill is None:
        return np.zeros(vertices * scratch.per_vertex, dtype=dtype)
    whole = dtype.kind == "i" and math.isinf(scratch.fill)
    fill = math.copysign(INTEGER_INFINITY, scratch.fill) if whole else scratch.fill
    return Stamped(np.zeros((vertices, 1 + scratch.per_vertex), dtype=dtype), stamp, dtype.type(fill))
