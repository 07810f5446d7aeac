"""The two random graphs of the paper's tables, by its own recipe, and P7, the path of its worked example."""

from typing import Any

import numpy as np

from aacbench.graphs.record import Graph, from_arcs

_PAPER_SEED = 42


def sbm_10k() -> Graph:
    """The stochastic block model of the paper: five blocks of 2,000 vertices, uniform float weights."""
    import networkx  # costs a third of a second, and only two graphs need it

    inside, across = 0.05, 0.001
    chances = [[inside if a == b else across for b in range(5)] for a in range(5)]
    return _weighted(networkx.stochastic_block_model([2000] * 5, chances, seed=_PAPER_SEED), "sbm-10k")


def ba_10k() -> Graph:
    """The Barabási-Albert graph of the paper: 10,000 vertices, five edges for each new one, uniform float weights."""
    import networkx

    return _weighted(networkx.barabasi_albert_graph(10_000, 5, seed=_PAPER_SEED), "ba-10k")


def p7() -> Graph:
    """The path on seven vertices with unit weights."""
    left, right, ones = np.arange(6), np.arange(1, 7), np.ones(12, dtype=np.int64)
    ends = np.concatenate([left, right]), np.concatenate([right, left])
    return from_arcs(7, *ends, ones, name="p7", declared_directed=False)


def _weighted(edges_of: Any, name: str) -> Graph:
    """The graph with weights as the paper drew them: one per edge, in the order in which networkx lists edges."""
    ends = np.array(edges_of.edges(), dtype=np.int64)
    weights = np.random.RandomState(_PAPER_SEED).uniform(1, 10, size=len(ends))
    return from_arcs(
        edges_of.number_of_nodes(),
        np.concatenate([ends[:, 0], ends[:, 1]]),
        np.concatenate([ends[:, 1], ends[:, 0]]),
        np.concatenate([weights, weights]),
        name=name,
        declared_directed=False,
    )
