"""The frozen `Graph` record: a directed graph in compressed sparse rows."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import DataError

Array = npt.NDArray[Any]

MAX_VERTICES = 2**31 - 2
MAX_TOTAL_WEIGHT = 2**62


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """A directed graph: the arcs of vertex v are `indices[indptr[v]:indptr[v + 1]]`, in ascending order.

    `weights` are int64 where the source was integral, else float64. All arrays are read-only. Build one with
    `from_arcs`, which merges parallel arcs (the smallest weight stays) and drops self-loops. `names` are the vertices'
    names in the source, if they are not the numbers from 0; they do not count for the digest.
    """

    indptr: Array
    indices: Array
    weights: Array
    coords: Array | None = None
    name: str = ""
    declared_directed: bool = True
    names: Array | None = None

    def __post_init__(self) -> None:
        _check_kinds(self)
        object.__setattr__(self, "indptr", frozen(self.indptr, np.int64))
        object.__setattr__(self, "indices", frozen(self.indices, np.int32))
        wanted = np.int64 if self.weights.dtype.kind in "iu" else np.float64
        object.__setattr__(self, "weights", frozen(_unsigned_zeros(self.weights), wanted))
        if self.coords is not None:
            object.__setattr__(self, "coords", frozen(self.coords, np.float64))
        if self.names is not None:
            object.__setattr__(self, "names", frozen(self.names, self.names.dtype))
        _check(self)

    def __repr__(self) -> str:
        kind = "integer" if self.integral else "float"
        return f"Graph({self.name!r}, {self.vertices} vertices, {self.arcs} arcs, {kind} weights)"

    @property
    def vertices(self) -> int:
        return len(self.indptr) - 1

    @property
    def arcs(self) -> int:
        """The number of arcs, after parallel arcs were merged."""
        return len(self.indices)

    @property
    def integral(self) -> bool:
        """Whether weights are integers, so that every distance is exact."""
        return self.weights.dtype.kind == "i"

    @cached_property
    def sources(self) -> Array:
        return frozen(np.repeat(np.arange(self.vertices, dtype=np.int32), np.diff(self.indptr)), np.int32)

    @cached_property
    def symmetric(self) -> bool:
        """Whether every arc has a reverse of equal weight; computed from the arcs, not declared."""
        indptr, indices, weights = _reversed_rows(self)
        pairs = ((indptr, self.indptr), (indices, self.indices), (weights, self.weights))
        return all(np.array_equal(backward, forward) for backward, forward in pairs)

    @cached_property
    def reverse(self) -> "Graph":
        """The graph with every arc reversed; the graph itself where it is symmetric."""
        if self.symmetric:
            return self
        indptr, indices, weights = _reversed_rows(self)
        reverse = replace(self, indptr=indptr, indices=indices, weights=weights)
        reverse.__dict__["reverse"] = self
        return reverse

    def arrays(self) -> dict[str, Array]:
        """Everything that is stored; `names` come last, and only the others count for the digest."""
        optional = {"coords": self.coords, "names": self.names}
        arrays = {"indptr": self.indptr, "indices": self.indices, "weights": self.weights}
        return arrays | {key: array for key, array in optional.items() if array is not None}

    def vertex_name(self, vertex: int) -> str:
        """The vertex as its source calls it, or its number."""
        return str(vertex if self.names is None else self.names[vertex])

    @cached_property
    def vertex_by_name(self) -> dict[str, int]:
        """The number of each vertex that has a name."""
        return {} if self.names is None else {name: vertex for vertex, name in enumerate(self.names.tolist())}

    @cached_property
    def digest(self) -> str:
        """The sha256 of the arrays in canonical little-endian form, without the name and the vertices' names."""
        arrays = {key: array for key, array in self.arrays().items() if key != "names"}
        canonical = {key: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for key, a in arrays.items()}
        head: dict[str, object] = {key: [a.dtype.str, list(a.shape)] for key, a in canonical.items()}
        head["declared_directed"] = self.declared_directed
        digest = hashlib.sha256(b"aacbench.graph/1\0" + json.dumps(head, sort_keys=True).encode() + b"\0")
        for array in canonical.values():
            digest.update(array.data)
        return digest.hexdigest()


def from_arcs(
    vertices: int,
    sources: npt.ArrayLike,
    targets: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    coords: npt.ArrayLike | None = None,
    name: str = "",
    declared_directed: bool = True,
    names: Sequence[str] | Array | None = None,
) -> Graph:
    """Build a graph from lists of arcs; an undirected edge must be given in both directions."""
    tail, head, weight = _vertex_list(sources), _vertex_list(targets), _weight_list(weights)
    _check_arcs(vertices, tail, head, weight, name)
    keep = tail != head
    tail, head, weight = tail[keep], head[keep], weight[keep]
    order = np.lexsort((weight, head, tail))
    tail, head, weight = tail[order], head[order], weight[order]
    first = np.ones(len(tail), dtype=bool)
    first[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    indptr = np.zeros(vertices + 1, dtype=np.int64)
    np.cumsum(np.bincount(tail[first], minlength=vertices), out=indptr[1:])
    return Graph(
        indptr=indptr,
        indices=head[first],
        weights=weight[first],
        coords=None if coords is None else np.asarray(coords),
        name=name,
        declared_directed=declared_directed,
        names=None if names is None else np.asarray(names),
    )


def from_edges(vertices: int, left: npt.ArrayLike, right: npt.ArrayLike, weights: npt.ArrayLike, **more: Any) -> Graph:
    """Build an undirected graph, each edge being two arcs; `more` are the other options of `from_arcs`."""
    left, right = _vertex_list(left), _vertex_list(right)
    _check_arcs(vertices, left, right, _weight_list(weights), more.get("name", ""))  # by the number of the edge
    tails, heads = np.concatenate([left, right]), np.concatenate([right, left])
    return from_arcs(vertices, tails, heads, np.tile(weights, 2), declared_directed=False, **more)


def frozen(array: Array, dtype: npt.DTypeLike) -> Array:
    """Return the array with this dtype, contiguous and read-only; it is copied only if necessary."""
    if array.dtype == dtype and array.flags.c_contiguous and not array.flags.writeable:
        return array
    result = np.array(array, dtype=dtype, order="C")
    result.flags.writeable = False
    return result


def _vertex_list(values: npt.ArrayLike) -> Array:
    array = np.asarray(values)
    return array if array.size else array.astype(np.int64)  # NumPy makes an empty list floats


def _weight_list(values: npt.ArrayLike) -> Array:
    array = np.asarray(values)
    if array.dtype.kind == "f" and isinstance(values, list | tuple) and all(isinstance(v, int) for v in values):
        # NumPy rounds a list of integers to floats where one exceeds 64 bits.
        return array.astype(object) if array.size else array
    return array


def _unsigned_zeros(weights: Array) -> Array:
    # -0.0 and 0.0 are equal but have other bytes, and equal graphs must have equal digests.
    return weights + 0.0 if weights.dtype.kind == "f" and np.signbit(weights).any() else weights


def _reversed_rows(graph: Graph) -> tuple[Array, Array, Array]:
    # A stable sort by head keeps the tails ascending, as rows must be.
    order = np.argsort(graph.indices, kind="stable")
    indptr = np.zeros(graph.vertices + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph.indices, minlength=graph.vertices), out=indptr[1:])
    return indptr, graph.sources[order], graph.weights[order]


def _check_arcs(vertices: int, tail: Array, head: Array, weight: Array, name: str) -> None:
    where = f"Graph {name!r}: " if name else ""
    if not 0 < vertices <= MAX_VERTICES:
        raise DataError(f"{where}a graph must have between 1 and {MAX_VERTICES} vertices, not {vertices}.")
    if not tail.ndim == head.ndim == weight.ndim == 1:
        raise DataError(f"{where}sources, targets and weights must be flat lists.")
    if not len(tail) == len(head) == len(weight):
        raise DataError(f"{where}{len(tail)} sources, {len(head)} targets and {len(weight)} weights do not match.")
    if weight.dtype.kind not in "iuf" or {tail.dtype.kind, head.dtype.kind} - set("iu"):
        raise DataError(f"{where}vertices must be integers and weights numbers of at most 64 bits.")
    for ends in (tail, head):
        if len(ends) and (ends.min() < 0 or ends.max() >= vertices):
            arc = int(np.argmax((ends < 0) | (ends >= vertices)))
            raise DataError(f"{where}arc {arc} names the vertex {ends[arc]}, but vertices are 0 to {vertices - 1}.")
    if weight.dtype.kind == "f" and not np.isfinite(weight).all():
        raise DataError(f"{where}arc {int(np.argmin(np.isfinite(weight)))} has a weight that is not finite.")
    if len(weight) and weight.min() < 0:
        raise DataError(f"{where}arc {int(np.argmin(weight))} has the negative weight {weight.min()}.")


def _check_kinds(graph: Graph) -> None:
    """Raise where converting to the record's types would change values."""
    where = f"Graph {graph.name!r}: " if graph.name else ""
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    if {indptr.dtype.kind, indices.dtype.kind} - set("iu") or weights.dtype.kind not in "iuf":
        raise DataError(f"{where}indptr and indices must be integers and weights numbers.")
    if len(indices) and indices.max() > MAX_VERTICES:
        raise DataError(f"{where}an arc names the vertex {indices.max()}, but {MAX_VERTICES} is the largest possible.")
    if weights.dtype.kind == "u" and len(weights) and weights.max() >= MAX_TOTAL_WEIGHT:
        raise DataError(_too_heavy(where))
    if graph.coords is not None and graph.coords.dtype.kind not in "iuf":
        raise DataError(f"{where}coordinates must be numbers.")
    if graph.names is not None and graph.names.dtype.kind != "U":
        raise DataError(f"{where}names of vertices must be text.")


def _too_heavy(where: str) -> str:
    return f"{where}the weights add up to 2^62 or more, so distances would not be exact."


def _check(graph: Graph) -> None:
    where = f"Graph {graph.name!r}: " if graph.name else ""
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    if len(indptr) < 2 or indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise DataError(f"{where}indptr does not fit the arcs.")
    _check_arcs(graph.vertices, indices, indices, weights, graph.name)
    rising = np.diff(indices) > 0
    rising[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(indices))] - 1] = True
    if not rising.all():
        raise DataError(f"{where}the arcs of each vertex must go to ascending, distinct vertices; use from_arcs.")
    if (graph.sources == indices).any():
        raise DataError(f"{where}self-loops are not allowed; use from_arcs, which drops them.")
    if graph.integral and len(weights) and float(weights.sum(dtype=np.float64)) >= MAX_TOTAL_WEIGHT:
        raise DataError(_too_heavy(where))
    with np.errstate(over="ignore"):
        finite = np.isfinite(weights.sum(dtype=np.float64))
    if not finite:
        raise DataError(f"{where}the weights add up to infinity.")
    if graph.coords is not None and graph.coords.shape != (graph.vertices, 2):
        raise DataError(f"{where}{graph.coords.shape} coordinates do not fit {graph.vertices} vertices.")
    if graph.coords is not None and not np.isfinite(graph.coords).all():
        raise DataError(f"{where}a coordinate is not finite.")
    if graph.names is not None and graph.names.shape != (graph.vertices,):
        raise DataError(f"{where}{graph.names.shape} names do not fit {graph.vertices} vertices.")
    if graph.names is not None and len(set(graph.names.tolist())) != graph.vertices:
        raise DataError(f"{where}two vertices have the same name.")
