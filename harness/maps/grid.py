"""Shortest paths on a grid of cell costs: eight neighbours, and a path costs the sum of its cells, both ends included.

The order of ties is that of the original data set's labels: the heap compares cost, then row, then column, and a cell's
predecessor changes only for a lower cost.
"""

import heapq
from typing import NamedTuple

import numpy as np

from aacbench.graphs.record import Array
from aacbench.util.compiled import allocation_free, kernel


class Solutions(NamedTuple):
    """The cost of the shortest path from corner to corner of each map, and its cells (0 or 1)."""

    optima: Array
    paths: Array


def solve(costs: Array) -> Solutions:
    """Solve each map of an integer array (n, side, side) from the first to the last cell."""
    grids = np.ascontiguousarray(costs, dtype=np.int64)
    found = Solutions(np.empty(len(grids), dtype=np.int64), np.zeros(grids.shape, dtype=np.uint8))
    solve_all(grids, found.optima, found.paths)
    return found


def reach(costs: Array, source: int) -> tuple[Array, Array]:
    """Return for each cell of a map, by number, the cost of the shortest path from a cell, and its predecessor."""
    flat = np.ascontiguousarray(costs, dtype=np.int64).reshape(-1)
    total, parent = np.empty(len(flat), dtype=np.int64), np.empty(len(flat), dtype=np.int64)
    tree(flat, len(costs), source, total, parent, np.empty(8 * len(flat) + 1, dtype=np.int64))
    return total, parent


def distance_gradient(costs: Array, source: int, gradient: Array) -> tuple[Array, Array]:
    """Return the distances of all cells from one on the atlas of a map, and a derivative by the costs of the cells.

    `gradient` is the derivative of something by each distance. By the envelope theorem, a distance changes with the
    costs along its shortest path, and with no other; where several are shortest, one of them is taken.
    """
    flat = np.ascontiguousarray(costs, dtype=np.int64).reshape(-1)
    total, parent = reach(costs, source)
    by_cost = np.zeros(len(flat))
    back_through(total, parent, source, np.ascontiguousarray(gradient, dtype=np.float64), by_cost)
    return 2 * total - flat - flat[source], by_cost


@kernel
def back_through(total: Array, parent: Array, source: int, gradient: Array, by_cost: Array) -> None:
    """Add to `by_cost` the derivative of 2 * total - both ends, summed along each cell's path to the source."""
    carried = gradient.copy()
    for cell in np.argsort(total)[::-1]:
        by_cost[cell] += 2 * carried[cell] - gradient[cell]
        by_cost[source] -= gradient[cell]
        if parent[cell] >= 0:
            carried[parent[cell]] += carried[cell]


@kernel
def solve_all(costs: Array, optima: Array, paths: Array) -> None:
    maps, side, _ = costs.shape
    cells = side * side
    total, parent = np.empty(cells, dtype=np.int64), np.empty(cells, dtype=np.int64)
    heap = np.empty(8 * cells + 1, dtype=np.int64)
    for k in range(maps):
        tree(costs[k].reshape(cells), side, 0, total, parent, heap)
        optima[k] = total[cells - 1]
        cell = cells - 1
        while cell >= 0:
            paths[k, cell // side, cell % side] = 1
            cell = parent[cell]


@allocation_free
def tree(costs: Array, side: int, source: int, total: Array, parent: Array, heap: Array) -> None:
    """Fill the cost of the shortest path to each cell and its predecessor, -1 for the source.

    A heap entry is cost * cells + cell, so its order is that of cost, row and column.
    """
    cells = side * side
    total[:] = -1
    parent[:] = -1
    total[source] = costs[source]
    heap[0] = costs[source] * cells + source
    size = 1
    while size > 0:
        entry = heap[0]
        size -= 1
        _sink(heap, size)
        cell = entry % cells
        if entry // cells > total[cell]:
            continue
        row, column = cell // side, cell % side
        for r in range(max(0, row - 1), min(side, row + 2)):
            for c in range(max(0, column - 1), min(side, column + 2)):
                other = r * side + c
                through = total[cell] + costs[other]
                if total[other] < 0 or through < total[other]:
                    total[other] = through
                    parent[other] = cell
                    _rise(heap, size, through * cells + other)
                    size += 1


@allocation_free
def _rise(heap: Array, at: int, entry: int) -> None:
    while at > 0 and heap[(at - 1) // 2] > entry:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = entry


@allocation_free
def _sink(heap: Array, size: int) -> None:
    """Put the last entry, at `size`, in the place of the first."""
    entry, at = heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry


def reach_slowly(costs: Array, source: int) -> tuple[Array, Array]:
    """The twin of `reach` in plain Python."""
    grid, side = costs.tolist(), len(costs)
    total: dict[tuple[int, int], int] = {}
    parent: dict[tuple[int, int], int] = {}
    start = divmod(source, side)
    total[start], parent[start] = grid[start[0]][start[1]], -1
    queue = [(total[start], start)]
    while queue:
        cost, (row, column) = heapq.heappop(queue)
        if cost > total[row, column]:
            continue
        for r in range(max(0, row - 1), min(side, row + 2)):
            for c in range(max(0, column - 1), min(side, column + 2)):
                through = cost + grid[r][c]
                if (r, c) not in total or through < total[r, c]:
                    total[r, c], parent[r, c] = through, row * side + column
                    heapq.heappush(queue, (through, (r, c)))
    cells = [divmod(cell, side) for cell in range(side * side)]
    return np.array([total[cell] for cell in cells]), np.array([parent[cell] for cell in cells])
