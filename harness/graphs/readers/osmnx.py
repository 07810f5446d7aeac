"""OSMnx street networks: GraphML as `osmnx.save_graphml` writes it, or a pair of CSV files."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from aacbench.errors import DataError
from aacbench.graphs.readers import Source, number, open_source, quoted, whole
from aacbench.graphs.record import Graph, from_arcs, from_edges

_NAMESPACE_END = " "


@dataclass(frozen=True)
class _Element:
    """A node or an edge of a GraphML file: its line, the attributes of its tag, and its data by name."""

    line: int
    tag: dict[str, str]
    data: dict[str, str] = field(default_factory=dict)


@dataclass
class _Document:
    """The contents of a GraphML file; filled while it is parsed."""

    directed: bool = True
    names: dict[str, dict[str, str]] = field(default_factory=lambda: {"node": {}, "edge": {}})
    nodes: list[_Element] = field(default_factory=list)
    edges: list[_Element] = field(default_factory=list)


@dataclass(frozen=True)
class _Row:
    """A record of a file, with its line number."""

    source: Source
    line: int
    fields: Mapping[str, str]

    def number(self, name: str) -> int | float:
        try:
            return number(self._field(name))
        except ValueError as error:
            raise self.error(f"{name}: {error}; it must be a number.") from None

    def weight(self, name: str) -> int | float:
        value = self.number(name)
        if value < 0:
            raise self.error(f"{name}: the weight {quoted(self._field(name))} is negative; it must be 0 or more.")
        return value

    def whole(self, name: str) -> int:
        try:
            return whole(self._field(name))
        except ValueError as error:
            raise self.error(f"{name}: {error}; it must be a node number.") from None

    def error(self, message: str) -> DataError:
        return self.source.error(message, line=self.line)

    def _field(self, name: str) -> str:
        if not self.fields.get(name, ""):
            raise self.error(f"{name} is missing; give every row one.")
        return self.fields[name]


def read_graphml(path: Path, *, weight: str = "length", name: str = "") -> Graph:
    """Read a street network from GraphML, plain or gzip; vertices are the nodes in the order of the file.

    Coordinates are (x, y), which are longitude and latitude unless the network was projected.
    """
    source = open_source(path)
    document = _parse_graphml(source)
    known = sorted(set(document.names["edge"].values()))
    if document.edges and not known:
        raise source.error("the edges have no attributes; save the network with lengths.")
    if document.edges and weight not in known:
        raise source.error(
            f"the edges have no attribute {quoted(weight)}; write file:PATH?weight=NAME with one of {', '.join(known)}."
        )
    place: dict[str, int] = {}
    for position, node in enumerate(document.nodes):
        if place.setdefault(node.tag["id"], position) != position:
            raise source.error(f"node {quoted(node.tag['id'])} occurs twice; keep one.", line=node.line)
    nodes = [_Row(source, node.line, node.data) for node in document.nodes]
    ends = [[_place(source, edge, end, place) for edge in document.edges] for end in ("source", "target")]
    weights = [_Row(source, edge.line, edge.data).weight(weight) for edge in document.edges]
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
                message = f"{end} {idx} is not a node of {node_source.path.name}; give two files of the same network."
                raise edge_source.error(message, line=row.line)
            column.append(place[idx])
    weights = [row.weight(weight) for row in edge_rows]
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
    costs = np.array(weights, dtype=np.int64 if all(isinstance(value, int) for value in weights) else np.float64)
    build = from_arcs if directed else from_edges
    with source.named_in_errors():
        return build(len(places), ends[0], ends[1], costs, coords=places, name=name)


def _place(source: Source, edge: _Element, end: str, place: Mapping[str, int]) -> int:
    if edge.tag[end] not in place:
        raise source.error(f"the {end} {quoted(edge.tag[end])} is not a node of this file.", line=edge.line)
    return place[edge.tag[end]]


def _csv_rows(source: Source, wanted: tuple[str, ...], advice: Mapping[str, str] = MappingProxyType({})) -> list[_Row]:
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
    try:
        header = next(reader)
        for column in wanted:
            if header.count(column) != 1:
                message = f"one column must be {quoted(column)}; the columns are {quoted(', '.join(header))}"
                raise source.error(message + advice.get(column, "."), line=1)
        return [_csv_row(source, reader.line_num, header, row) for row in reader if row]
    except csv.Error as error:
        raise source.error(f"this is not CSV ({error}); save the file as CSV.", line=reader.line_num) from None


def _csv_row(source: Source, line: int, header: list[str], row: list[str]) -> _Row:
    if len(row) != len(header):
        raise source.error(f"the row has {len(row)} fields, but there are {len(header)} columns.", line=line)
    return _Row(source, line, dict(zip(header, row, strict=True)))


def _parse_graphml(source: Source) -> _Document:
    parser = _Parser(source)
    try:
        parser.expat.Parse(source.data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise source.error(f"this is not GraphML ({reason}); fetch the file again.", line=error.lineno) from None
    except (LookupError, ValueError) as error:
        raise source.error(f"the encoding of this file is unknown ({error}); save it as UTF-8.") from None
    if not parser.graphs:
        raise source.error("this XML file holds no graph; save the network with osmnx.save_graphml.")
    return parser.document


class _Parser:
    # Expat knows the line of each element; the tree parsers of the standard library do not.
    def __init__(self, source: Source) -> None:
        self.source, self.document, self.graphs = source, _Document(), 0
        self._kind, self._name = "", ""
        self._element: _Element | None = None
        self._text: list[str] | None = None
        self.expat = expat.ParserCreate(namespace_separator=_NAMESPACE_END)
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self._characters

    def _start(self, full_name: str, tag: dict[str, str]) -> None:
        kind = full_name.rpartition(_NAMESPACE_END)[2]
        if kind == "graph":
            self._start_graph(tag)
        elif kind == "key" and tag.get("for") in ("node", "edge", "all"):
            for owner in ("node", "edge") if tag["for"] == "all" else (tag["for"],):
                self.document.names[owner][tag.get("id", "")] = tag.get("attr.name", "")
        elif kind in ("node", "edge"):
            self._start_element(kind, tag)
        elif kind == "data" and self._element is not None:
            self._name = self.document.names[self._kind].get(tag.get("key", ""), "")
            self._text = []

    def _start_graph(self, tag: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            self._fail("the file holds a second graph; it must hold one.")
        direction = tag.get("edgedefault", "")
        if direction not in ("directed", "undirected"):
            self._fail(f"edgedefault must be 'directed' or 'undirected', not {quoted(direction)}.")
        self.document.directed = direction == "directed"

    def _start_element(self, kind: str, tag: dict[str, str]) -> None:
        if not self.graphs:
            self._fail(f"this {kind} is outside a graph.")
        for name in ("id",) if kind == "node" else ("source", "target"):
            if name not in tag:
                self._fail(f"this {kind} has no {name}.")
        direction = "true" if self.document.directed else "false"
        if tag.get("directed", direction) != direction:
            self._fail("this edge and its graph differ in being directed, which is not supported.")
        self._kind, self._element = kind, _Element(self.expat.CurrentLineNumber, tag)
        (self.document.nodes if kind == "node" else self.document.edges).append(self._element)

    def _end(self, full_name: str) -> None:
        kind = full_name.rpartition(_NAMESPACE_END)[2]
        if kind == "data" and self._text is not None and self._element is not None:
            if self._name and self._name in self._element.data:
                self._fail(f"this {self._kind} has {quoted(self._name)} twice.")
            self._element.data[self._name] = "".join(self._text).strip()
            self._text = None
        elif kind in ("node", "edge"):
            self._element = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _fail(self, message: str) -> NoReturn:
        raise self.source.error(message, line=self.expat.CurrentLineNumber)
