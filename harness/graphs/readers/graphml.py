"""GraphML: street networks as `osmnx.save_graphml` writes them, and graphs of `networkx.write_graphml`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from aacbench.graphs.readers import Source, open_source, quoted
from aacbench.graphs.readers.rows import NO_WEIGHT, Row, build, listed, numbered
from aacbench.graphs.record import Graph

USUAL_WEIGHTS = ("length", "weight")  # of OSMnx and of networkx
_NAMESPACE_END = " "
_CUT = {
    expat.errors.codes[reason]
    for reason in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
}


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
    defaults: dict[str, dict[str, str]] = field(default_factory=lambda: {"node": {}, "edge": {}})
    nodes: list[_Element] = field(default_factory=list)
    edges: list[_Element] = field(default_factory=list)


def read_graphml(path: Path, *, weight: str | None = None, name: str = "") -> Graph:
    """Read a graph from GraphML, plain or gzip; vertices are the nodes in the order of the file, named by their ids.

    Coordinates are (x, y) where the nodes have both: longitude and latitude, unless the network was projected.
    """
    source = open_source(path)
    document = _parse_graphml(source)
    chosen = _weight_name(source, sorted(set(document.names["edge"].values())), weight)
    _check_ids(source, document.nodes)
    place, names = numbered(source, [node.tag["id"] for node in document.nodes], in_order=True)
    nodes, edges = (_rows(source, document, kind) for kind in ("node", "edge"))
    ends = [[_place(source, edge, end, place) for edge in document.edges] for end in ("source", "target")]
    weights = [1 if chosen is None else edge.weight(chosen) for edge in edges]
    placed = any(row.fields.keys() >= {"x", "y"} for row in nodes)
    coords = [(row.number("x"), row.number("y")) for row in nodes] if placed else None
    directed = document.directed
    return build(source, len(place), ends, weights, directed=directed, coords=coords, names=names, name=name)


def _weight_name(source: Source, known: Collection[str], wanted: str | None) -> str | None:
    """Return the attribute that is the weight, or None where every weight is 1."""
    if (wanted is None and not known) or (wanted == NO_WEIGHT and NO_WEIGHT not in known):
        return None
    for name in USUAL_WEIGHTS if wanted is None else (wanted,):
        if name in known:
            return name
    missing = quoted(wanted) if wanted else " or ".join(map(quoted, USUAL_WEIGHTS))
    raise source.error(
        f"the edges have no attribute {missing}; write file:PATH?weight=NAME with one of {listed(list(known))}, "
        f"or weight={NO_WEIGHT} to give each edge the weight 1."
    )


def _check_ids(source: Source, nodes: list[_Element]) -> None:
    seen: set[str] = set()
    for node in nodes:
        if node.tag["id"] in seen:
            raise source.error(f"node {quoted(node.tag['id'])} occurs twice; keep one.", line=node.line)
        seen.add(node.tag["id"])


def _rows(source: Source, document: _Document, kind: str) -> list[Row]:
    elements = document.nodes if kind == "node" else document.edges
    return [Row(source, element.line, {**document.defaults[kind], **element.data}) for element in elements]


def _place(source: Source, edge: _Element, end: str, place: Mapping[str, int]) -> int:
    if edge.tag[end] not in place:
        raise source.error(f"the {end} {quoted(edge.tag[end])} is not a node of this file.", line=edge.line)
    return place[edge.tag[end]]


def _parse_graphml(source: Source) -> _Document:
    parser = _Parser(source)
    try:
        parser.expat.Parse(source.data, True)
    except expat.ExpatError as error:
        if error.code in _CUT:
            raise source.error("the XML is cut short; fetch or save the file again.", line=error.lineno) from None
        reason = expat.ErrorString(error.code)
        raise source.error(f"this is not GraphML ({reason}); fetch the file again.", line=error.lineno) from None
    except (LookupError, ValueError) as error:
        raise source.error(f"the encoding of this file is unknown ({error}); save it as UTF-8.") from None
    if not parser.graphs:
        raise source.error("this XML file holds no graph; save it with networkx.write_graphml or osmnx.save_graphml.")
    return parser.document


class _Parser:
    # Expat knows the line of each element; the tree parsers of the standard library do not.
    def __init__(self, source: Source) -> None:
        self.source, self.document, self.graphs = source, _Document(), 0
        self._kind, self._name = "", ""
        self._owners: tuple[str, ...] = ()  # what the key that is open is for
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
            self._owners, self._name = (
                ("node", "edge") if tag["for"] == "all" else (tag["for"],),
                tag.get("attr.name", ""),
            )
            for owner in self._owners:
                self.document.names[owner][tag.get("id", "")] = self._name
        elif kind == "default" and self._owners:
            self._text = []
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
        elif kind == "default" and self._text is not None:
            for owner in self._owners:
                self.document.defaults[owner][self._name] = "".join(self._text).strip()
            self._text = None
        elif kind == "key":
            self._owners = ()
        elif kind in ("node", "edge"):
            self._element = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _fail(self, message: str) -> NoReturn:
        raise self.source.error(message, line=self.expat.CurrentLineNumber)
