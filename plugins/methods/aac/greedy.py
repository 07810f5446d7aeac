"""A start for the tuned compressor: labels added one by one, each the one that prevents most of what is left."""

from collections.abc import Sequence

import numpy as np

from aacbench.graphs.record import Array
from aacbench.plugins.methods.aac.training import Picks

AT_ONCE = 4096  # examples in a product: the whole table as floats would be eight times its size


def greedy(tables: Sequence[Array], weight: Array, rows: Sequence[int]) -> Picks:
    """Maximum coverage: what a landmark adds is what it prevents less what others have, so each example is seen twice.

    Of each table as many columns are taken as `rows` says; ties go to the first table and the lowest column.
    """
    left = np.arange(len(weight))
    gains = _prevented(tables, weight, left)
    taken: list[list[int]] = [[] for _ in rows]
    while open_sides := [side for side, count in enumerate(rows) if len(taken[side]) < count]:
        side = max(open_sides, key=lambda one: gains[one].max())  # the first of equals
        best = int(gains[side].argmax())
        taken[side].append(best)
        hit = tables[side][left, best]
        for gain, lost in zip(gains, _prevented(tables, weight, left[hit]), strict=True):
            gain -= lost
        gains[side][best] = -np.inf
        left = left[~hit]
    return tuple(tuple(found) for found in taken)


def _prevented(tables: Sequence[Array], weight: Array, examples: Array) -> list[Array]:
    """How much of some examples each column of each table prevents."""
    totals = [np.zeros(table.shape[1]) for table in tables]
    for start in range(0, len(examples), AT_ONCE):
        some = examples[start : start + AT_ONCE]
        for total, table in zip(totals, tables, strict=True):
            total += weight[some] @ table[some]
    return totals
