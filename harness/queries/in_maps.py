"""Queries within the maps of an atlas: from corner to corner of each map, and random pairs of its cells."""

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Graph
from aacbench.queries.record import QuerySet
from aacbench.queries.sampling import MODES, draw_pairs, random_state


def block_size(graph: Graph) -> int:
    """Return the vertices of each block of a graph that is made of equal, contiguous blocks."""
    found = components.labels(graph, "strong")
    size = int(np.bincount(found).max())
    blocks = found.reshape(-1, size) if graph.vertices % size == 0 else np.empty((0, 2))
    if not len(blocks) or (blocks != blocks[:, :1]).any():
        raise UsageError(f"Graph {graph.name!r} is not made of maps of one size.")
    return size


def corner_queries(graph: Graph) -> QuerySet:
    """Return one query a map, from its first cell to its last."""
    size = block_size(graph)
    first = np.arange(0, graph.vertices, size)
    return QuerySet(sources=first, targets=first + size - 1, name=graph.name, mode="corner")


def random_queries(graph: Graph, each: int, mode: str = "uniform", seed: int = 42, skip: int = 0) -> QuerySet:
    """Return `each` queries a map with different ends; those of the first maps do not depend on how many there are.

    With `hotspot` the preferred cells are the same on every map. `skip` leaves out the first pairs of the draw.
    """
    if mode not in MODES:
        raise UsageError(f"Queries on maps cannot have the mode {mode!r}; choose one of {', '.join(sorted(MODES))}.")
    size = block_size(graph)
    maps = graph.vertices // size
    pairs = draw_pairs(MODES[mode](random_state(seed), graph, np.arange(size)), skip + maps * each, strict=False)[skip:]
    block = np.repeat(size * np.arange(maps), each)
    return QuerySet(sources=pairs[:, 0] + block, targets=pairs[:, 1] + block, name=graph.name, mode=mode, seed=seed)
