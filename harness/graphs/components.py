"""Strong and weak components, and the largest one, on which queries and landmarks are drawn."""

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph, frozen
from aacbench.util.compiled import kernel


def labels(graph: Graph, connection: str = "strong") -> Array:
    """Return for each vertex the number of its component; numbers begin at 0 and leave none out."""
    if connection not in ("strong", "weak"):
        raise UsageError(f"connection must be 'strong' or 'weak', not {connection!r}.")
    if connection == "weak":
        return weak(graph.vertices, graph.sources, graph.indices)
    return strong_in_rows(graph.indptr, graph.indices)


def strong(vertices: int, tails: Array, heads: Array) -> Array:
    indptr = np.zeros(vertices + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=vertices), out=indptr[1:])
    return strong_in_rows(indptr, heads[np.argsort(tails, kind="stable")])


def weak(vertices: int, tails: Array, heads: Array) -> Array:
    from scipy.sparse import csr_array  # imported late: it takes half a second, and few need it
    from scipy.sparse.csgraph import connected_components

    # The pattern only: scipy would take a weight of zero for a missing arc.
    pattern = csr_array((np.ones(len(tails)), (tails, heads)), shape=(vertices, vertices))
    component: Array = connected_components(pattern, connection="weak")[1]
    return component


# Not scipy's, which every run would have to import, in two processes.
@kernel
def strong_in_rows(indptr: Array, heads: Array) -> Array:
    """Return the strong components of arcs in compressed sparse rows, by Tarjan's search without recursion."""
    vertices = len(indptr) - 1
    component = np.full(vertices, -1, dtype=np.int64)
    number = np.zeros(vertices, dtype=np.int64)  # in the order of discovery, from 1
    low = np.zeros(vertices, dtype=np.int64)  # the lowest number known to be reached from the vertex
    following = indptr[:-1].copy()
    path = np.empty(vertices, dtype=np.int64)
    pending = np.empty(vertices, dtype=np.int64)  # found, but in no component yet
    found = waiting = components = 0
    for root in range(vertices):
        depth = 0
        v = root
        while number[root] == 0 or depth > 0:
            if number[v] == 0:
                found += 1
                number[v] = low[v] = found
                path[depth] = pending[waiting] = v
                depth += 1
                waiting += 1
            if following[v] < indptr[v + 1]:
                head = heads[following[v]]
                following[v] += 1
                if number[head] == 0:
                    v = head
                elif component[head] < 0:
                    low[v] = min(low[v], number[head])
                continue
            if low[v] == number[v]:
                while component[v] < 0:
                    waiting -= 1
                    component[pending[waiting]] = components
                components += 1
            depth -= 1
            if depth > 0:
                below = path[depth - 1]
                low[below] = min(low[below], low[v])
                v = below
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
