"""A plugin file: random graphs of the paper's two kinds in other sizes and with other seeds than the paper's."""

from functools import partial

from aacbench.plugins import GraphSource, hookimpl

SEED = 7


def blocks():
    """Eight blocks of 1,500 vertices."""
    import networkx

    chances = [[0.05 if a == b else 0.001 for b in range(8)] for a in range(8)]
    return networkx.stochastic_block_model([1500] * 8, chances, seed=SEED)


def preferential():
    """15,000 vertices, four edges for each new one."""
    import networkx

    return networkx.barabasi_albert_graph(15_000, 4, seed=SEED)


def weighted(name, draw):
    """The graph with a weight from 1 to 10 for each edge."""
    import numpy as np

    from aacbench.graphs import from_arcs

    edges = draw()
    tails, heads = np.array(edges.edges(), dtype=np.int64).T
    weights = np.random.default_rng(SEED).uniform(1, 10, len(tails))
    arcs = [np.concatenate(ends) for ends in ((tails, heads), (heads, tails), (weights, weights))]
    return from_arcs(edges.number_of_nodes(), *arcs, name=name, declared_directed=False)


@hookimpl
def aacbench_graphs():
    """A block model and a preferential-attachment graph."""
    yield GraphSource("heldout:sbm-12k", "eight blocks", partial(weighted, "heldout:sbm-12k", blocks))
    yield GraphSource("heldout:ba-15k", "preferential attachment", partial(weighted, "heldout:ba-15k", preferential))
