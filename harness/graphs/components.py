"""Strong and weak components, and the largest one, on which queries and landmarks are drawn."""

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph, from_arcs, frozen


def labels(graph: Graph, connection: str = "strong") -> Array:
    """The component number of each vertex; `connection` is `strong` or `weak`."""
    if connection not in ("strong", "weak"):
        raise UsageError(f"components are 'strong' or 'weak', not {connection!r}.")
    # Imported here: it takes a third of a second, which a process that only searches need not pay.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # Only the pattern counts, and an explicit zero weight must not read as a missing arc.
    pattern = csr_array(
        (np.ones(graph.arcs, dtype=np.int8), graph.indices, graph.indptr), shape=(graph.vertices, graph.vertices)
    )
    found: Array = connected_components(pattern, directed=True, connection=connection)[1]
    return found


def largest(graph: Graph, connection: str = "strong") -> Array:
    """The vertices of the largest component, ascending; of equals, the one with the lowest vertex. Read-only."""
    known = _LARGEST.setdefault(graph, {})
    if connection not in known:
        known[connection] = frozen(_largest(graph, connection), np.int64)
    return known[connection]


_LARGEST: WeakKeyDictionary[Graph, dict[str, Array]] = WeakKeyDictionary()  # every method asks, on the same graph


def _largest(graph: Graph, connection: str) -> Array:
    component = labels(graph, connection)
    sizes = np.bincount(component)
    first_vertex = np.full(len(sizes), graph.vertices)
    np.minimum.at(first_vertex, component, np.arange(graph.vertices))
    best = min(np.flatnonzero(sizes == sizes.max()), key=lambda c: first_vertex[c])
    return np.flatnonzero(component == best)


def vertex_set(graph: Graph, vertices: npt.ArrayLike) -> Array:
    """These vertices of the graph, ascending and each once."""
    found = np.unique(np.asarray(vertices))
    if found.size and found.dtype.kind not in "iu":
        raise UsageError("a set of vertices is a list of whole numbers.")
    if found.size and (found[0] < 0 or found[-1] >= graph.vertices):
        raise UsageError(f"a set of vertices of this graph lies within 0..{graph.vertices - 1}.")
    return found.astype(np.int64)


def induced(graph: Graph, vertices: npt.ArrayLike) -> Graph:
    """The graph on these vertices only, renumbered in ascending order."""
    kept = vertex_set(graph, vertices)
    place = np.full(graph.vertices, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    tail, head = place[graph.sources], place[graph.indices]
    inside = (tail >= 0) & (head >= 0)
    return from_arcs(
        len(kept),
        tail[inside],
        head[inside],
        graph.weights[inside],
        coords=None if graph.coords is None else graph.coords[kept],
        name=graph.name,
        declared_directed=graph.declared_directed,
    )
