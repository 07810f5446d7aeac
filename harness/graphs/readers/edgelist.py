"""Edge lists: two ids and sometimes a weight on a line, or a table with a header; and citation lists."""

import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.readers import Source, number, open_source
from aacbench.graphs.readers.headed import END_COLUMNS, read_with_header
from aacbench.graphs.readers.table import BAD_ID, LARGEST, Layout, explain_row, line_text, next_row, read_table
from aacbench.graphs.record import Array, Graph, from_arcs, from_edges

WEIGHT_SEED = 42  # of the paper's recipe for citation graphs
COMMENTS = Layout(mark=0, comment=ord("#"), other_comment=ord("%"), separator=ord(","), low=0, high=LARGEST, smallest=0)
NAMES_NEED_A_HEADER = "Where ids are names, put a line such as source,target,weight above the first row"


def read_edge_list(
    path: Path,
    *,
    name: str = "",
    directed: bool = True,
    id_base: int | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> Graph:
    """Read an edge list, plain or gzip, with `#` and `%` comments and fields separated by blanks, tabs or commas.

    Without a third column every weight is 1. The vertices are the ids that occur, in ascending order; they are kept as
    names unless they are the numbers from 0. Ids smaller than `id_base` are an error. `directed=False` adds each edge
    both ways. If the first row is a header, `source`, `target` and `weight` are the columns to read, and ids may be any
    text.
    """
    file = open_source(path)
    at, fields = _first_row(file)
    columns = {"source": source, "target": target, "weight": weight}
    if any(columns.values()) or _is_header(fields):
        if id_base is not None:
            raise file.error("id_base is only for files without a header; leave it out.")
        return read_with_header(file, file.data.count(b"\n", 0, at), columns, directed=directed, name=name)
    return _read_numbers(file, len(fields), id_base or 0, directed=directed, name=name)


def _read_numbers(source: Source, columns: int, id_base: int, *, directed: bool, name: str) -> Graph:
    if not 0 <= id_base < LARGEST:
        raise UsageError(f"id_base of an edge list must be 0 or more, not {id_base!r}.")
    if columns not in (2, 3):
        raise source.error(
            f"an edge is '<from> <to>' or '<from> <to> <weight>', but this line has {columns} fields.",
            at=_first_row(source)[0],
        )
    layout = COMMENTS._replace(low=id_base)
    row = "'<from> <to>'" if columns == 2 else "'<from> <to> <weight>'"

    def explain(status: int, field: str) -> str:
        text = explain_row(status, field, row, f"ids count from {id_base}")
        return f"{text[:-1]}. {NAMES_NEED_A_HEADER}." if status == BAD_ID else text

    ids, numbers = read_table(source, 0, layout, 2, columns - 2, explain)
    weights = numbers[:, 0] if columns == 3 else np.ones(len(ids), dtype=np.int64)
    known, places = np.unique(ids, return_inverse=True)
    tail, head = places.reshape(ids.shape).T
    build = from_arcs if directed else from_edges
    with source.named_in_errors():
        return build(len(known), tail, head, weights, name=name, names=_names(known))


def _names(ids: Array) -> Array | None:
    """Return the ascending ids as text, or None where they are the numbers from 0."""
    largest = int(ids[-1])
    return None if largest == len(ids) - 1 else ids.astype(f"U{len(str(largest))}")


def _first_row(source: Source) -> tuple[int, list[str]]:
    """Return where the first row begins, after comments, and its fields."""
    if source.data.startswith(b"%%MatrixMarket"):
        raise source.error("this is a Matrix Market file; remove its first line and the line with its sizes.")
    at = next_row(source.buffer, 0, COMMENTS)
    if at == len(source.data):
        raise source.error("the file holds no edge; check that it is the right one.")
    return at, line_text(source, at).replace(",", " ").split()


def _is_header(fields: list[str]) -> bool:
    """Return whether a row has columns that we know, or at least two fields and no number."""
    words = [word.strip('"') for field in fields for word in field.split(";")]
    return set(END_COLUMNS) <= set(words) or (len(words) > 1 and not any(map(_is_number, words)))


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def read_citations(path: Path, *, name: str = "") -> Graph:
    """Read lines of two vertex numbers (blanks or a comma between, `#` comments) and apply the paper's recipe."""
    source = open_source(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty list has its own error below
            lines = source.text.replace(",", " ").splitlines()
            pairs = np.loadtxt(lines, dtype=np.int64, usecols=(0, 1), ndmin=2)
    except ValueError as error:
        raise source.error(f"a citation is two whole numbers on a line ({error}).") from error
    if not len(pairs):
        raise source.error("the file holds no citation.")
    return weighted_citations(pairs[:, 0], pairs[:, 1], name=name)


def weighted_citations(citing: npt.ArrayLike, cited: npt.ArrayLike, *, name: str = "") -> Graph:
    """Symmetrise, keep the largest component, number it in ascending order, draw uniform(1, 10) per edge.

    The recipe draws a weight for each edge in the order in which networkx lists them, which depends on the order of the
    lines, and also draws one for a paper that cites itself. A `Graph` keeps neither, so it starts from the file.
    """
    ids, ends = np.unique(np.stack([citing, cited]), return_inverse=True)
    vertices, tail, head = _largest_component(len(ids), *ends.reshape(2, -1))
    low, high = _edges_as_networkx_lists_them(vertices, tail, head)
    weights = np.random.RandomState(WEIGHT_SEED).uniform(1, 10, len(low))
    return from_edges(vertices, low, high, weights, name=name)


def _largest_component(vertices: int, tail: Array, head: Array) -> tuple[int, Array, Array]:
    chosen = components.in_largest(components.weak(vertices, tail, head))
    place = np.cumsum(chosen) - 1
    inside = chosen[tail]
    return int(chosen.sum()), place[tail[inside]], place[head[inside]]


def _edges_as_networkx_lists_them(vertices: int, tail: Array, head: Array) -> tuple[Array, Array]:
    """Return each edge once: by its lower end, and for each of those in the order of the lines."""
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    first = np.sort(np.unique(low * vertices + high, return_index=True)[1])
    order = first[np.argsort(low[first], kind="stable")]
    return low[order], high[order]
