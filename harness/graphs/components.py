"""Strong and weak components, and the largest one, on which queries and landmarks are drawn."""

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph, frozen


def labels(graph: Graph, connection: str = "strong") -> Array:
    if connection not in ("strong", "weak"):
        raise UsageError(f"connection must be 'strong' or 'weak', not {connection!r}.")
    return connected(graph.vertices, graph.sources, graph.indices, connection)


def connected(vertices: int, tails: Array, heads: Array, connection: str) -> Array:
    # Imported here: it takes a third of a second, and a process that only searches does not need it.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # The pattern only: scipy would take a weight of zero for a missing arc.
    pattern = csr_array((np.ones(len(tails)), (tails, heads)), shape=(vertices, vertices))
    component: Array = connected_components(pattern, directed=True, connection=connection)[1]
    return component


def in_largest(component: Array) -> Array:
    """Return for each vertex whether it is in the largest component; ties go to the one with the lowest vertex."""
    sizes = np.bincount(component)
    return component == component[np.argmax(sizes[component] == sizes.max())]


def largest(graph: Graph, connection: str = "strong") -> Array:
    """Return the vertices of the largest component, ascending and read-only; ties go to the lowest vertex."""
    known = _LARGEST.setdefault(graph, {})
    if connection not in known:
        known[connection] = frozen(np.flatnonzero(in_largest(labels(graph, connection))), np.int64)
    return known[connection]


_LARGEST: WeakKeyDictionary[Graph, dict[str, Array]] = WeakKeyDictionary()  # every method asks, on the same graph


def vertex_set(graph: Graph, vertices: npt.ArrayLike) -> Array:
    found = np.unique(np.asarray(vertices))
    if found.size and found.dtype.kind not in "iu":
        raise UsageError("Vertices must be whole numbers.")
    if found.size and (found[0] < 0 or found[-1] >= graph.vertices):
        raise UsageError(f"Vertices of this graph lie within 0..{graph.vertices - 1}.")
    return found.astype(np.int64)
