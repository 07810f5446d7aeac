"""Edge lists with a header: any columns may be the ends and the weight, and ids may be any text."""

from collections.abc import Mapping

from aacbench.graphs.readers import Source, quoted
from aacbench.graphs.readers.rows import NO_WEIGHT, build, check_column, header_and_rows, listed, numbered
from aacbench.graphs.record import Graph

END_COLUMNS = ("source", "target")
WEIGHT_COLUMN = "weight"
_CHOOSE = "; choose with file:PATH?source=COLUMN&target=COLUMN&weight=COLUMN"


def read_with_header(
    source: Source, lines_above: int, chosen: Mapping[str, str | None], *, directed: bool, name: str
) -> Graph:
    """Read the table below some lines; `chosen` has the columns for `source`, `target` and `weight`, or None."""
    header, rows = header_and_rows(source, lines_above, _separator(source.lines[lines_above]))
    ends = [chosen[end] or end for end in END_COLUMNS]
    advice = _advice(header, named=any(chosen[end] for end in END_COLUMNS))
    for column in ends:
        check_column(source, header, column, advice, line=lines_above + 1)
    weight = _weight_column(source, header, ends, chosen["weight"], lines_above + 1)
    ids: list[str] = []
    weights: list[int | float] = []
    for row in rows:
        ids += (row.text(column) for column in ends)
        weights.append(1 if weight is None else row.weight(weight))
    if not ids:
        raise source.error("the file holds no edge below its header; check that it is the right one.")
    vertex, names = numbered(source, ids)
    places = [vertex[text] for text in ids]
    return build(source, len(vertex), (places[::2], places[1::2]), weights, directed=directed, names=names, name=name)


def _advice(header: list[str], *, named: bool) -> str:
    if named:
        return "."
    if {"src", "dst"} <= set(header):
        return f"{_CHOOSE}, or read an OSMnx pair with file:EDGES.csv?nodes=NODES.csv."
    return f"{_CHOOSE}, or put the line source,target,weight above if this is an edge."


def _separator(header: str) -> str | None:
    return next((sign for sign in "\t,;" if sign in header.strip()), None)


def _weight_column(source: Source, header: list[str], ends: list[str], chosen: str | None, line: int) -> str | None:
    """Return the column of the weight, or None where every weight is 1."""
    if chosen == NO_WEIGHT and NO_WEIGHT not in header:
        return None
    others = [column for column in header if column not in ends]
    if chosen is None and not others:
        return None
    wanted = chosen or WEIGHT_COLUMN
    if header.count(wanted) != 1:
        raise source.error(
            f"no column, or more than one, is {quoted(wanted)}, the weight; write file:PATH?weight=COLUMN with one of "
            f"{listed(others)}, or weight={NO_WEIGHT} to give each edge the weight 1.",
            line=line,
        )
    return wanted
