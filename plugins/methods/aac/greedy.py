"""A start for the tuned compressor: labels added one by one, each the one that prevents most of what is left."""

import heapq
from collections.abc import Sequence

import numpy as np

from aacbench.graphs.record import Array
from aacbench.plugins.methods.aac.training import Picks


def greedy(tables: Sequence[Array], weight: Array, rows: Sequence[int]) -> Picks:
    """Maximum coverage by lazy evaluation: what a label adds only falls as others are taken, so old gains are bounds.

    Of each table as many columns are taken as `rows` says; ties go to the first table and the lowest column.
    """
    left = weight
    columns = [np.ascontiguousarray(table.T) for table in tables]
    heap = [
        (-float(left[column].sum()), side, k) for side, table in enumerate(columns) for k, column in enumerate(table)
    ]
    heapq.heapify(heap)
    taken: list[list[int]] = [[] for _ in rows]
    while any(len(found) < count for found, count in zip(taken, rows, strict=True)):
        _, side, k = heapq.heappop(heap)
        if len(taken[side]) == rows[side]:
            continue
        entry = (-float(left[columns[side][k]].sum()), side, k)
        if heap and entry > heap[0]:
            heapq.heappush(heap, entry)
            continue
        taken[side].append(k)
        remaining = ~columns[side][k]  # what is prevented need not be summed again
        left, columns = left[remaining], [table[:, remaining] for table in columns]
    return tuple(tuple(found) for found in taken)
