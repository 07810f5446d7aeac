"""OSMnx street networks: GraphML as `osmnx.save_graphml` writes it, or a pair of CSV files."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from aacbench.graphs.readers import values
from aacbench.graphs.readers.graphml import Element, parse_graphml
from aacbench.graphs.readers.source import Source, open_source
from aacbench.graphs.readers.values import quoted
from aacbench.graphs.record import Graph, from_arcs


@dataclass(frozen=True)
class _Row:
    """A record of a file, with the line it stands on."""

    source: Source
    line: int
    fields: Mapping[str, str]

    def number(self, name: str, *, weight: bool = False) -> int | float:
        try:
            return (values.weight if weight else values.number)(self._field(name))
        except ValueError as error:
            wanted = "a number of 0 or more" if weight else "a number"
            raise self.source.error(f"{name}: {error}; {wanted} is wanted.", line=self.line) from None

    def whole(self, name: str) -> int:
        try:
            return values.whole(self._field(name))
        except ValueError as error:
            raise self.source.error(f"{name}: {error}; a node number is wanted.", line=self.line) from None

    def _field(self, name: str) -> str:
        if not self.fields.get(name, ""):
            raise self.source.error(f"there is no {name} here; give every row one.", line=self.line)
        return self.fields[name]


def read_graphml(path: Path, *, weight: str = "length", name: str = "") -> Graph:
    """Read a street network from GraphML, plain or gzip; vertices are the nodes in the order of the file.

    Coordinates are (x, y), which are longitude and latitude unless the network was projected.
    """
    source = open_source(path)
    document = parse_graphml(source)
    known = sorted(set(document.names["edge"].values()))
    if document.edges and not known:
        raise source.error("the edges have no attribute that could be the weight; save the network with lengths.")
    if document.edges and weight not in known:
        raise source.error(
            f"no edge attribute is named {quoted(weight)}; write file:PATH?weight=NAME with one of {', '.join(known)}."
        )
    place: dict[str, int] = {}
    for position, node in enumerate(document.nodes):
        if place.setdefault(node.tag["id"], position) != position:
            raise source.error(f"node {quoted(node.tag['id'])} occurs twice; keep one.", line=node.line)
    nodes = [_Row(source, node.line, node.data) for node in document.nodes]
    ends = [[_place(source, edge, end, place) for edge in document.edges] for end in ("source", "target")]
    weights = [_Row(source, edge.line, edge.data).number(weight, weight=True) for edge in document.edges]
    if not document.directed:
        ends, weights = [ends[0] + ends[1], ends[1] + ends[0]], weights * 2
    coords = [(row.number("x"), row.number("y")) for row in nodes]
    return _build(source, ends, weights, coords, name, document.directed)


def read_csv_pair(nodes: Path, edges: Path, *, weight: str = "length", name: str = "") -> Graph:
    """Read a street network from two CSV files, plain or gzip; vertices are in ascending order of their idx.

    The nodes need the columns idx, lat and lon, the edges src, dst and the one that `weight` names. Coordinates are
    (lon, lat).
    """
    node_source, edge_source = open_source(nodes), open_source(edges)
    node_rows = _csv_rows(node_source, ("idx", "lat", "lon"))
    node_rows.sort(key=lambda row: row.whole("idx"))
    choose = {weight: ", and file:EDGES.csv?nodes=NODES.csv&weight=COLUMN chooses another."}
    edge_rows = _csv_rows(edge_source, ("src", "dst", weight), choose)
    place: dict[int, int] = {}
    for position, row in enumerate(node_rows):
        if place.setdefault(row.whole("idx"), position) != position:
            raise node_source.error(f"node {row.whole('idx')} occurs twice; keep one.", line=row.line)
    ends: list[list[int]] = [[], []]
    for row in edge_rows:
        for column, end in zip(ends, ("src", "dst"), strict=True):
            idx = row.whole(end)
            if idx not in place:
                message = f"{end} {idx} is no node of {node_source.path.name}; give files of the same network."
                raise edge_source.error(message, line=row.line)
            column.append(place[idx])
    weights = [row.number(weight, weight=True) for row in edge_rows]
    coords = [(row.number("lon"), row.number("lat")) for row in node_rows]
    return _build(edge_source, ends, weights, coords, name, True)


def _build(
    source: Source,
    ends: Sequence[Sequence[int]],
    weights: Sequence[int | float],
    coords: Sequence[tuple[int | float, int | float]],
    name: str,
    directed: bool,
) -> Graph:
    places = np.array(coords, dtype=np.float64).reshape(-1, 2)
    with source.blamed():
        return from_arcs(
            len(places), ends[0], ends[1], values.column(weights), coords=places, name=name, declared_directed=directed
        )


def _place(source: Source, edge: Element, end: str, place: Mapping[str, int]) -> int:
    if edge.tag[end] not in place:
        raise source.error(f"the {end} {quoted(edge.tag[end])} is no node of this file.", line=edge.line)
    return place[edge.tag[end]]


def _csv_rows(source: Source, wanted: tuple[str, ...], advice: Mapping[str, str] = MappingProxyType({})) -> list[_Row]:
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
    try:
        header = next(reader)
        for column in wanted:
            if header.count(column) != 1:
                message = f"there must be one column {quoted(column)}; the columns are {quoted(', '.join(header))}"
                raise source.error(message + advice.get(column, "."), line=1)
        return [_csv_row(source, reader.line_num, header, row) for row in reader if row]
    except csv.Error as error:
        raise source.error(f"this is not CSV ({error}); save the file as CSV.", line=reader.line_num) from None


def _csv_row(source: Source, line: int, header: list[str], row: list[str]) -> _Row:
    if len(row) != len(header):
        raise source.error(f"the row has {len(row)} fields, but there are {len(header)} columns.", line=line)
    return _Row(source, line, dict(zip(header, row, strict=True)))
