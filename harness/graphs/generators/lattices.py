"""Square lattices: the open grid with random weights, and the maze."""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.generators.dice import Dice
from aacbench.graphs.record import Array, Graph, from_arcs

SMALLEST_SIDE, LARGEST_SIDE = 2, 2_000
HEAVIEST = 10
_WALLS_PER_OPENING = 50


def grid(side: int, seed: int = 0) -> Graph:
    """An open grid of side x side cells, each joined to its four neighbours; integer weights 1 to 10."""
    left, right = _neighbours(side)
    weights = Dice(side, seed).between(1, HEAVIEST + 1, len(left))
    return _undirected(side, left, right, weights, _name("grid", side, seed))


def maze(side: int, seed: int = 0) -> Graph:
    """A maze of side x side cells: a random spanning tree, and one wall in fifty opened; unit weights."""
    left, right = _neighbours(side)
    rank = Dice(side, seed).order(len(left))
    passage = _spanning_tree(side**2, left, right, rank)
    walls = np.flatnonzero(~passage)
    passage[walls[np.argsort(rank[walls])][: len(walls) // _WALLS_PER_OPENING]] = True
    weights = np.ones(int(passage.sum()), dtype=np.int64)
    return _undirected(side, left[passage], right[passage], weights, _name("maze", side, seed))


def _neighbours(side: int) -> tuple[Array, Array]:
    if not SMALLEST_SIDE <= side <= LARGEST_SIDE:
        raise UsageError(f"a grid or maze has between {SMALLEST_SIDE} and {LARGEST_SIDE} cells a side, not {side}.")
    cell = np.arange(side**2).reshape(side, side)
    left = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    right = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    return left, right


def _spanning_tree(cells: int, left: Array, right: Array, rank: Array) -> Array:
    """Which edges the spanning tree of least total rank has: with distinct ranks there is only one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    tree = minimum_spanning_tree(csr_array((rank + 1, (left, right)), shape=(cells, cells)))
    return np.isin(rank + 1, tree.data.astype(np.int64))


def _undirected(side: int, left: Array, right: Array, weights: Array, name: str) -> Graph:
    row, column = np.divmod(np.arange(side**2), side)
    return from_arcs(
        side**2,
        np.concatenate([left, right]),
        np.concatenate([right, left]),
        np.concatenate([weights, weights]),
        coords=np.stack([column, row], axis=1),
        name=name,
        declared_directed=False,
    )


def _name(kind: str, side: int, seed: int) -> str:
    return f"{kind}-{side}" + (f"-s{seed}" if seed else "")
