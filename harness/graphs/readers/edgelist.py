"""Edge lists as SNAP and OGB give them: two ids on a line, and sometimes a weight."""

from pathlib import Path

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.parse import LARGEST, Layout
from aacbench.graphs.readers.source import Source, open_source
from aacbench.graphs.readers.table import explain_row, first_row, line_text, read_table
from aacbench.graphs.record import Graph, from_arcs


def read_edge_list(path: Path, *, name: str = "", directed: bool = True, id_base: int = 0) -> Graph:
    """Read an edge list, plain or gzip, with `#` and `%` comments and fields parted by blanks, tabs or commas.

    Without a third column every weight is 1. Ids smaller than `id_base` are an error; the vertices are the ids that
    occur, in ascending order. `directed=False` adds each edge both ways.
    """
    if not 0 <= id_base < LARGEST:
        raise UsageError(f"the smallest id of an edge list is 0 or more: id_base cannot be {id_base!r}.")
    source = open_source(path)
    layout = Layout(
        mark=0,
        comment=ord("#"),
        other_comment=ord("%"),
        separator=ord(","),
        low=id_base,
        high=LARGEST,
        smallest=0,
    )
    columns = _columns(source, layout)
    row = "'<from> <to>'" if columns == 2 else "'<from> <to> <weight>'"

    def explain(status: int, field: str) -> str:
        return explain_row(status, field, row, f"which count from {id_base}")

    ids, numbers = read_table(source, 0, layout, 2, columns - 2, explain)
    weights = numbers[:, 0] if columns == 3 else np.ones(len(ids), dtype=np.int64)
    known, places = np.unique(ids, return_inverse=True)
    tail, head = places.reshape(ids.shape).T
    if not directed:
        tail, head, weights = np.concatenate((tail, head)), np.concatenate((head, tail)), np.tile(weights, 2)
    with source.blamed():
        return from_arcs(len(known), tail, head, weights, name=name, declared_directed=directed)


def _columns(source: Source, layout: Layout) -> int:
    if source.data.startswith(b"%%MatrixMarket"):
        raise source.error("this is a Matrix Market file; remove its first line and its size line, which is no edge.")
    at = first_row(source, layout)
    if at == len(source.data):
        raise source.error("there is no edge in this file; check that it is the right one.")
    fields = line_text(source, at).replace(",", " ").split()
    if {"src", "dst"} <= set(fields):
        raise source.error("these are the edges of an OSMnx pair; write file:EDGES.csv?nodes=NODES.csv to read both.")
    if len(fields) not in (2, 3):
        raise source.error(
            f"an edge is '<from> <to>' or '<from> <to> <weight>', but this line has {len(fields)} fields.", at=at
        )
    return len(fields)
