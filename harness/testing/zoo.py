"""The zoo: small graphs, each with a feature that has broken a heuristic before; the same in every process."""

from functools import cache
from types import MappingProxyType

import numpy as np

from aacbench.graphs.generators import grid, road
from aacbench.graphs.record import Graph, from_arcs

Arc = tuple[int, int, int | float]

# float32 does not hold every whole number above 2^24; int32 holds none above 2^31.
_LARGE, _HUGE = 2**24 + 1, 2**31 + 1

# One graph of each kind, for checks that build many times.
REPRESENTATIVE = frozenset({"path", "one-way-streets", "components", "float-weights", "float-one-way", "grid"})


@cache
def zoo() -> MappingProxyType[str, Graph]:
    """Every graph by name, small ones first, so that the first failure is easy to read."""
    graphs = [
        _graph("single-vertex", 1, []),
        _graph("no-arcs", 3, []),
        _graph("path", 7, _both_ways([(v, v + 1, 1) for v in range(6)])),
        _graph("star", 8, _both_ways([(0, v, v) for v in range(1, 8)])),
        _graph("directed-cycle", 6, [(v, (v + 1) % 6, v + 1) for v in range(6)]),
        _graph("one-way-path", 6, [(v, v + 1, 2) for v in range(5)]),
        _graph("one-way-streets", 16, _one_way_streets()),
        _graph("components", 12, _both_ways([*_ring(5, 3), *_ring(4, 2, first=5), (9, 10, 7)])),
        _graph("one-way-components", 11, [*_ring(5, 3), *_ring(4, 2, first=6), (4, 6, 1), (10, 9, 4)]),
        _graph("zero-weights", 12, _random_arcs(12, 40, 1, [0, 0, 0, 1, 5])),
        _graph("parallel-arcs", 9, [*_ring(9, 4), *_ring(9, 9), *_ring(9, 1), *_both_ways(_ring(9, 6)), (2, 2, 5)]),
        _graph("large-weights", 12, _both_ways(_random_arcs(12, 24, 2, range(_LARGE, _LARGE + 99)))),
        _graph("huge-weights", 10, _random_arcs(10, 26, 3, _huge())),
        _graph("float-weights", 16, _both_ways(_random_arcs(16, 40, 4, _fractions()))),
        _graph("float-one-way", 14, _random_arcs(14, 50, 5, _fractions())),
        _graph("random-digraph-sparse", 24, _random_arcs(24, 48, 6, range(1, 30))),
        _graph("random-digraph-dense", 14, _random_arcs(14, 90, 7, range(1, 12))),
        _renamed(grid(6), "grid"),
        _renamed(road(48), "road"),
    ]
    return MappingProxyType({graph.name: graph for graph in graphs})


def is_representative(graph: Graph) -> bool:
    """Whether the graph is one of the few for checks that build many times."""
    return graph.name in REPRESENTATIVE


def is_one_way(graph: Graph) -> bool:
    """Whether some arc has no reverse of equal weight."""
    return not graph.symmetric


def as_symmetric(graph: Graph) -> Graph:
    """The graph with every arc in both directions, at the smaller weight where there were two."""
    ends = np.concatenate([graph.sources, graph.indices]), np.concatenate([graph.indices, graph.sources])
    return from_arcs(graph.vertices, *ends, np.tile(graph.weights, 2), coords=graph.coords, name=graph.name)


def _graph(name: str, vertices: int, arcs: list[Arc]) -> Graph:
    tails, heads, weights = (list(column) for column in zip(*arcs, strict=True)) if arcs else ([], [], [])
    whole = all(isinstance(weight, int) for weight in weights)
    # Random coordinates: a method may use them but must not rely on them.
    coords = np.random.default_rng([8, vertices]).integers(0, 1000, (vertices, 2))
    weight = np.array(weights, dtype=np.int64 if whole else np.float64)
    return from_arcs(vertices, tails, heads, weight, coords=coords, name=name)


def _renamed(graph: Graph, name: str) -> Graph:
    return Graph(
        indptr=graph.indptr,
        indices=graph.indices,
        weights=graph.weights,
        coords=graph.coords,
        name=name,
        declared_directed=graph.declared_directed,
    )


def _both_ways(arcs: list[Arc]) -> list[Arc]:
    return [*arcs, *((v, u, weight) for u, v, weight in arcs)]


def _ring(vertices: int, weight: int, first: int = 0) -> list[Arc]:
    return [(first + v, first + (v + 1) % vertices, weight) for v in range(vertices)]


def _one_way_streets() -> list[Arc]:
    """A square grid of one-way streets in alternating directions, so that every way back is a different one."""
    side = 4
    arcs: list[Arc] = []
    for row in range(side):
        for column in range(side - 1):
            left, right = row * side + column, row * side + column + 1
            arcs.append((left, right, 2 + row) if row % 2 else (right, left, 2 + row))
            up, down = column * side + row, (column + 1) * side + row
            arcs.append((down, up, 3) if row % 2 else (up, down, 3))
    return arcs


def _random_arcs(vertices: int, count: int, seed: int, weights: object) -> list[Arc]:
    rng = np.random.default_rng([9, seed])
    values = list(weights)  # type: ignore[call-overload]
    ends = rng.integers(0, vertices, (count, 2)).tolist()
    return [(u, v, values[k]) for (u, v), k in zip(ends, rng.integers(0, len(values), count), strict=True)]


def _huge() -> list[int]:
    """Some above 2^32, which int32 truncates to small, plausible labels, and some small enough to reveal that."""
    return [1, 1, 2**30, _HUGE, 2**32 + 1, 2**33 + 2**30]


def _fractions() -> list[float]:
    fractions: list[float] = (10.0 * np.random.default_rng(10).random(60)).tolist()
    return fractions
