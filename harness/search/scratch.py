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

INFINITY = {8: 2**62, 4: 2**30}  # by the bytes of whole numbers: two of them can be added
QUERIES = 2**30  # of one memory: a stamp of 4 bytes must not come twice
_BYTES = {"int": 8, "int32": 4, "weight": 8}


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
    sizes = [_BYTES[each.dtype] * (each.per_vertex + (each.fill is not None)) for each in scratch.values()]
    return vertices * sum(sizes)


def used_up(memo: Any) -> bool:
    """Return whether this memory of a thread has served so many queries that another one must take its place."""
    return isinstance(memo, Memo) and int(memo.stamp[0]) >= QUERIES


def _area(scratch: Scratch, weight: np.dtype[Any], vertices: int, stamp: Array) -> Any:
    dtype = weight if scratch.dtype == "weight" else np.dtype(f"i{_BYTES[scratch.dtype]}")
    if scratch.fill is None:
        return np.zeros(vertices * scratch.per_vertex, dtype=dtype)
    whole = dtype.kind == "i" and math.isinf(scratch.fill)
    fill = math.copysign(INFINITY[dtype.itemsize], scratch.fill) if whole else scratch.fill
    return Stamped(np.zeros((vertices, 1 + scratch.per_vertex), dtype=dtype), stamp, dtype.type(fill))
