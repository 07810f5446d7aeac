"""`aacbench.as_graph`: graphs from NumPy arrays, SciPy matrices, networkx graphs and pandas tables."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aacbench.errors import DataError, UsageError
from aacbench.graphs.load import load
from aacbench.graphs.record import Array, Graph, from_arcs, from_edges

KINDS = "a graph's name, (sources, targets, weights), a SciPy matrix, a networkx graph, a pandas table or a Graph"


def as_graph(
    data: Any,
    *,
    directed: bool | None = None,
    weight: str | None = "weight",
    source: str = "source",
    target: str = "target",
    name: str = "",
) -> Graph:
    """Return the graph that `data` describes.

    A text is loaded as `--graphs` loads it. Three arrays are sources, targets and weights; the entries of a SciPy
    sparse matrix are weights; of a networkx graph `weight` names the attribute of edges, of a pandas table `source`,
    `target` and `weight` name columns. With `weight=None`, or None in place of an array of weights, every edge weighs
    1. Unless `directed` says otherwise, a
    networkx graph is what its class says, and everything else is directed. Integer weights stay integers.

    Vertices are numbered from 0. Integers in arrays are these numbers; a table's vertices are the ids that occur, in
    ascending order. Ids that are not the numbers from 0 are kept as `names` of the graph.
    """
    if isinstance(data, Graph):
        return data
    if isinstance(data, str):
        return load(data)
    networkx, pandas = sys.modules.get("networkx"), sys.modules.get("pandas")  # what is not imported made no graph
    if networkx is not None and isinstance(data, networkx.Graph):
        return _from_networkx(data, weight, directed, name)
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _from_table(data, (source, target, weight), directed, name)
    if hasattr(data, "tocoo"):
        return _from_matrix(data, directed, name)
    if isinstance(data, tuple | list) and (len(data) == 3 or (len(data) == 2 and weight is None)):
        left, right = (np.asarray(column) for column in data[:2])
        given = None if weight is None or len(data) == 2 else data[2]
        weights = np.ones(left.shape, dtype=np.int64) if given is None else np.asarray(given)
        if {left.dtype.kind, right.dtype.kind} <= set("iu") or not left.size:
            return _graph(left, right, weights, directed, name)
        return _from_ids(left, right, weights, directed, name)
    if isinstance(data, tuple | list) and len(data) == 2:
        raise UsageError("Sources and targets alone are no graph; give weights too, or weight=None for weights of 1.")
    raise UsageError(f"A value of type {type(data).__name__} is no graph; give {KINDS}.")


def _from_matrix(matrix: Any, directed: bool | None, name: str) -> Graph:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"A matrix of shape {matrix.shape} is no graph; it must be square.")
    entries = matrix.tocsr().tocoo()  # rows add up entries of the same place, as SciPy means them
    weights = entries.data.astype(np.int64) if entries.data.dtype.kind == "b" else entries.data
    return _graph(entries.row, entries.col, weights, directed, name, vertices=matrix.shape[0])


def _from_networkx(graph: Any, weight: str | None, directed: bool | None, name: str) -> Graph:
    nodes = list(graph.nodes)
    numbered = set(nodes) == set(range(len(nodes)))
    nodes = sorted(nodes) if numbered else nodes
    names = None if numbered else [str(node) for node in nodes]
    place = {node: position for position, node in enumerate(nodes)}
    edges = list(graph.edges(data=weight, default=1 if weight is None else None))
    for u, v, value in edges:
        if value is None:
            raise DataError(
                f"The edge ({u!r}, {v!r}) has no attribute {weight!r}; name another one with weight=, or give "
                f"weight=None for edges that all weigh 1."
            )
    wanted = graph.is_directed() if directed is None else directed
    left, right = ([place[edge[side]] for edge in edges] for side in (0, 1))
    coords = _coordinates([graph.nodes[node] for node in nodes])
    return _graph(left, right, [edge[2] for edge in edges], wanted, name or graph.name, len(nodes), coords, names)


def _coordinates(attributes: Sequence[Mapping[str, Any]]) -> Array | None:
    """The coordinates of nodes that all have `pos`, or `x` and `y`."""
    for keys in (("pos",), ("x", "y")):
        if attributes and all(key in each for each in attributes for key in keys):
            found = [each["pos"] if keys == ("pos",) else (each["x"], each["y"]) for each in attributes]
            try:
                return np.array(found, dtype=np.float64)[:, :2]
            except (TypeError, ValueError, IndexError) as error:
                raise DataError(f"The attribute {keys[0]!r} of some node is no pair of numbers.") from error
    return None


def _from_table(table: Any, columns: tuple[str, str, str | None], directed: bool | None, name: str) -> Graph:
    for column in columns:
        if column is not None and column not in table.columns:
            known = ", ".join(map(str, table.columns))
            ones = ", or give weight=None for edges that all weigh 1" if column == columns[2] else ""
            raise DataError(
                f"The table has no column {column!r}; name columns with source=, target= and weight=: {known}{ones}."
            )
    source, target, weight = columns
    weights = np.ones(len(table), dtype=np.int64) if weight is None else table[weight].to_numpy()
    return _from_ids(table[source].to_numpy(), table[target].to_numpy(), weights, directed, name)


def _from_ids(left: Array, right: Array, weights: Array, directed: bool | None, name: str) -> Graph:
    """A graph whose vertices are the ids that occur, in ascending order, as in a file of edges."""
    try:
        known, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    except TypeError as error:
        raise DataError("The ids of vertices are of several types; make all of them text, or all numbers.") from error
    if known.dtype.kind == "f":
        raise DataError("The ids of vertices are not whole; make them integers or text, and drop rows without one.")
    counted = known.dtype.kind in "iu" and np.array_equal(known, np.arange(len(known)))
    names = None if counted else [str(one) for one in known.tolist()]
    return _graph(places[: len(left)], places[len(left) :], weights, directed, name, len(known), names=names)


def _graph(
    left: Any,
    right: Any,
    weights: Any,
    directed: bool | None,
    name: str,
    vertices: int | None = None,
    coords: Array | None = None,
    names: Sequence[str] | None = None,
) -> Graph:
    if vertices is None:
        vertices = 1 + max((int(np.max(ends)) for ends in (left, right) if len(ends)), default=0)
    make = from_edges if directed is False else from_arcs
    return make(vertices, left, right, weights, coords=coords, name=name, names=names)
