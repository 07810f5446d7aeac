"""The check that a heuristic has one answer for a pair, whatever is asked before it and beside it."""

import numpy as np

from aacbench.graphs.record import Array, Graph
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.testing.outcomes import BrokenError, number
from aacbench.testing.subject import Built, Subject

_FEW = (1, 2, 3, 5)  # vertices asked for at once
_SMALL = 16  # vertices of a graph on which that is quick


def one_answer(subject: Subject, graph: Graph) -> None:
    """Asked again backwards, and for a few vertices at once, the heuristic gives the bounds that it gave before."""
    for built in subject.each(graph):
        _backwards(built)
        for count in _FEW if graph.vertices <= _SMALL else ():
            _few_at_once(built, count)


def _backwards(built: Built) -> None:
    vertices = np.arange(built.place.graph.vertices)[::-1]
    for t in vertices.tolist():
        again = built.deployed.many(vertices, t)
        _compare(built, vertices, t, again, again != built.table[vertices, t], "when asked for again backwards")


def _few_at_once(built: Built, count: int) -> None:
    """Here the last digit may differ: a library adds up a matrix of one row in another order than one of many."""
    vertices = np.arange(built.place.graph.vertices)
    slack = RELATIVE_TOLERANCE * float(np.abs(built.table).max()) if built.table.dtype.kind == "f" else 0
    for t in vertices.tolist():
        for some in np.split(vertices, range(count, len(vertices), count)):
            found = built.deployed.many(some, t)
            apart = ~(np.abs(found - built.table[some, t]) <= slack)
            _compare(built, some, t, found, apart, f"in a batch of {len(some)}")


def _compare(built: Built, us: Array, t: int, found: Array, apart: Array, when: str) -> None:
    for k in np.flatnonzero(apart):
        raise BrokenError(
            f"h({us[k]}, {t}) = {number(built.table[us[k], t])} when all vertices are asked for, "
            f"and {number(found[k])} {when}, at {built.budget:g} bytes a vertex"
        )
