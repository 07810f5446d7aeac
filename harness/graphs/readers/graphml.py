"""The nodes and edges of a GraphML file, each with the line it stands on."""

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from aacbench.graphs.readers.source import Source
from aacbench.graphs.readers.values import quoted

_NAMESPACE_END = " "


@dataclass(frozen=True)
class Element:
    """A node or an edge: the attributes of its tag, and its data by name."""

    line: int
    tag: dict[str, str]
    data: dict[str, str] = field(default_factory=dict)


@dataclass
class Document:
    """What a GraphML file holds; filled while it is parsed."""

    directed: bool = True
    names: dict[str, dict[str, str]] = field(default_factory=lambda: {"node": {}, "edge": {}})
    nodes: list[Element] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)


def parse_graphml(source: Source) -> Document:
    """Read the one graph of a GraphML file."""
    parser = _Parser(source)
    try:
        parser.expat.Parse(source.data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise source.error(f"this is not GraphML ({reason}); fetch the file again.", line=error.lineno) from None
    except (LookupError, ValueError) as error:
        raise source.error(f"the encoding of this file is not known ({error}); save it as UTF-8.") from None
    if not parser.graphs:
        raise source.error("this XML file holds no graph; GraphML as OSMnx saves it is wanted.")
    return parser.document


class _Parser:
    # Expat tells the line of each element, which the tree parsers of the standard library do not.
    def __init__(self, source: Source) -> None:
        self.source, self.document, self.graphs = source, Document(), 0
        self._kind, self._name = "", ""
        self._element: Element | None = None
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
            self._fail("this is a second graph; a file must hold one.")
        direction = tag.get("edgedefault", "")
        if direction not in ("directed", "undirected"):
            self._fail(f"edgedefault must be 'directed' or 'undirected', not {quoted(direction)}.")
        self.document.directed = direction == "directed"

    def _start_element(self, kind: str, tag: dict[str, str]) -> None:
        if not self.graphs:
            self._fail(f"this {kind} stands outside a graph.")
        for name in ("id",) if kind == "node" else ("source", "target"):
            if name not in tag:
                self._fail(f"this {kind} has no {name}.")
        direction = "true" if self.document.directed else "false"
        if tag.get("directed", direction) != direction:
            self._fail("this edge differs in direction from its graph, which is not supported.")
        self._kind, self._element = kind, Element(self.expat.CurrentLineNumber, tag)
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
