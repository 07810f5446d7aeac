"""Textbook graphs: the paper's two random graphs and its path of seven vertices, open grids, and mazes."""

from typing import Any

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.generators.dice import Dice
from aacbench.graphs.record import Array, Graph, from_edges

_PAPER_SEED = 42
SMALLEST_SIDE, LARGEST_SIDE = 2, 2_000
HEAVIEST = 10
_WALLS_PER_OPENING = 50


def sbm_10k() -> Graph:
    """The stochastic block model of the paper: five blocks of 2,000 vertices, uniform float weights."""
    import networkx  # takes a third of a second, and only two graphs need it

    inside, across = 0.05, 0.001
    chances = [[inside if a == b else across for b in range(5)] for a in range(5)]
    return _weighted(networkx.stochastic_block_model([2000] * 5, chances, seed=_PAPER_SEED), "sbm-10k")


def ba_10k() -> Graph:
    """The Barabási-Albert graph of the paper: 10,000 vertices, five edges for each new one, uniform float weights."""
    import networkx

    return _weighted(networkx.barabasi_albert_graph(10_000, 5, seed=_PAPER_SEED), "ba-10k")


def p7() -> Graph:
    return from_edges(7, np.arange(6), np.arange(1, 7), np.ones(6, dtype=np.int64), name="p7")


def grid(side: int, seed: int = 0) -> Graph:
    """An open grid of side x side cells, each joined to its four neighbours; integer weights 1 to 10."""
    left, right = _neighbours(side)
    weights = Dice(side, seed).between(1, HEAVIEST + 1, len(left))
    return _lattice("grid", side, seed, left, right, weights)


def maze(side: int, seed: int = 0) -> Graph:
    """A maze of side x side cells: a random spanning tree, and one wall in fifty removed; unit weights."""
    left, right = _neighbours(side)
    rank = Dice(side, seed).order(len(left))
    passage = _spanning_tree(side**2, left, right, rank)
    walls = np.flatnonzero(~passage)
    passage[walls[np.argsort(rank[walls])][: len(walls) // _WALLS_PER_OPENING]] = True
    weights = np.ones(int(passage.sum()), dtype=np.int64)
    return _lattice("maze", side, seed, left[passage], right[passage], weights)


def _weighted(edges_of: Any, name: str) -> Graph:
    """Return the graph with the paper's weights: one draw per edge, in the order in which networkx lists edges."""
    left, right = np.array(edges_of.edges(), dtype=np.int64).T
    weights = np.random.RandomState(_PAPER_SEED).uniform(1, 10, size=len(left))
    return from_edges(edges_of.number_of_nodes(), left, right, weights, name=name)


def _neighbours(side: int) -> tuple[Array, Array]:
    if not SMALLEST_SIDE <= side <= LARGEST_SIDE:
        raise UsageError(
            f"A grid or maze must have between {SMALLEST_SIDE} and {LARGEST_SIDE} cells a side, not {side}."
        )
    cell = np.arange(side**2).reshape(side, side)
    left = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    right = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    return left, right


def _spanning_tree(cells: int, left: Array, right: Array, rank: Array) -> Array:
    """Return which edges are in the spanning tree of least total rank, which is unique as ranks are distinct."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    tree = minimum_spanning_tree(csr_array((rank + 1, (left, right)), shape=(cells, cells)))
    return np.isin(rank + 1, tree.data.astype(np.int64))


def _lattice(kind: str, side: int, seed: int, left: Array, right: Array, weights: Array) -> Graph:
    row, column = np.divmod(np.arange(side**2), side)
    name = f"{kind}-{side}" + (f"-s{seed}" if seed else "")
    return from_edges(side**2, left, right, weights, coords=np.stack([column, row], axis=1), name=name)
