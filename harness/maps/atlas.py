"""The atlas: maps as blocks of one graph, so that one search, one byte count and one audit serve all of them."""

import numpy as np

from aacbench.errors import DataError
from aacbench.graphs.record import Array, Graph
from aacbench.maps.names import CELLS, PAPER

SCALE = 10240  # of a predicted cost: its integer is the cost in 10240ths, which tenths and 2048ths are multiples of


def whole_costs(costs: Array) -> tuple[Array, int]:
    """Return predicted costs (n, side, side) as integers, and how many had to be clipped.

    Above the limit, distances would not fit labels of 32 bits.
    """
    most = largest_cost(costs.shape[-1])
    raw = np.rint(SCALE * costs.astype(np.float64))
    return np.clip(raw, 1, most).astype(np.int32), int(((raw < 1) | (raw > most)).sum())


def largest_cost(side: int) -> int:
    return int((2**31 - 1) // (2 * side * side))


def atlas(costs: Array, edges: str = CELLS, name: str = "") -> Graph:
    """Return the graph whose block i is map i: cell c of it is the vertex i * side^2 + c.

    With the rule `cells` an edge weighs the costs of both its cells, so a path weighs twice its cells' costs less
    those of its ends; the graph is symmetric. The rule `paper` is the mean of both, times the length of the step.
    """
    maps, side, _ = costs.shape
    tails, heads = _neighbours(side)
    cells = costs.reshape(maps, side * side).astype(np.int64)
    if cells.min() < 1:
        raise DataError(f"Map {int(np.argwhere(cells < 1)[0][0])} has a cost below 1; costs must be positive.")
    weights: Array = cells[:, tails] + cells[:, heads]
    if edges == PAPER:
        diagonal = (tails // side != heads // side) & (tails % side != heads % side)
        weights = weights / 2 * np.where(diagonal, np.sqrt(2.0), 1.0)
    block = side * side * np.arange(maps)[:, None]
    degrees = np.tile(np.bincount(tails, minlength=side * side), maps)
    place = np.arange(side * side)
    across = place % side + (side + 1) * np.arange(maps)[:, None]  # maps lie side by side
    return Graph(
        indptr=np.concatenate([[0], np.cumsum(degrees)]),
        indices=(heads + block).reshape(-1),
        weights=weights.reshape(-1),
        coords=np.stack([across.reshape(-1), np.tile(place // side, maps)], axis=1),
        name=name,
        declared_directed=False,
    )


def _neighbours(side: int) -> tuple[Array, Array]:
    """Return the arcs between the cells of a map, ascending by tail, then by head."""
    rows, columns = np.divmod(np.arange(side * side), side)
    steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    row = rows[:, None] + np.array([step[0] for step in steps])
    column = columns[:, None] + np.array([step[1] for step in steps])
    inside = (row >= 0) & (row < side) & (column >= 0) & (column < side)
    tails = np.broadcast_to(np.arange(side * side)[:, None], inside.shape)[inside]
    return tails, (row * side + column)[inside]
