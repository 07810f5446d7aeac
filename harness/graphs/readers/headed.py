"""Edge lists with a header: any columns may be the ends and the weight, and ids may be any text."""

from collections.abc import Mapping

from aacbench.graphs.readers import Source
from aacbench.graphs.readers.rows import NO_WEIGHT, build, check_column, header_and_rows, numbered
from aacbench.graphs.record import Graph
from aacbench.util.text import near_names, one_line, suggestion

END_COLUMNS = ("source", "target")
WEIGHT_COLUMN = "weight"
_ANY = "COLUMN"


def read_with_header(
    source: Source, lines_above: int, chosen: Mapping[str, str | None], *, directed: bool, name: str
) -> Graph:
    """Read the table below some lines; `chosen` has the columns for `source`, `target` and `weight`, or None."""
    header, rows = header_and_rows(source, lines_above, _separator(source.lines[lines_above]))
    ends = [chosen[end] or end for end in END_COLUMNS]
    for column in ends:
        check_column(source, header, column, _advice(header, chosen, column), line=lines_above + 1)
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


def _advice(header: list[str], chosen: Mapping[str, str | None], column: str) -> str:
    """Return the end of a sentence about a column that is missing: how an option names another one."""
    if column in chosen.values():
        return suggestion(column, [other for other in header if other not in END_COLUMNS])
    options = _likely_options(header, chosen)
    advice = f"; write file:PATH?{'&'.join(f'{key}={one_line(value, 60)}' for key, value in options.items())}"
    if {"src", "dst"} <= set(header):
        return f"{advice}, or read an OSMnx pair with file:EDGES.csv?nodes=NODES.csv."
    if len(header) == len(END_COLUMNS) == list(options.values()).count(_ANY):
        return f"{advice}, or if this line is an edge, write the line source,target above it."
    return f"{advice}."


def _likely_options(header: list[str], chosen: Mapping[str, str | None]) -> dict[str, str]:
    """Return each option that the header lacks, with the column that resembles it or is the only one left."""
    taken = {chosen[key] or key for key in chosen}
    wanted = [key for key in END_COLUMNS if chosen[key] is None and key not in header]
    if chosen[WEIGHT_COLUMN] is None and WEIGHT_COLUMN not in header and len(header) > len(END_COLUMNS):
        wanted.append(WEIGHT_COLUMN)
    left = [column for column in header if column not in taken]
    found = {key: near[0] for key in wanted if (near := near_names(key, left))}
    left = [column for column in left if column not in found.values()]
    missing = [key for key in wanted if key not in found]
    only = left[0] if len(left) == len(missing) == 1 else _ANY
    return {key: found.get(key, only) for key in wanted}


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
    choice = (near_names(wanted, others) or [others[0] if len(others) == 1 else _ANY])[0]
    advice = f"; write file:PATH?weight={one_line(choice, 60)}, or ?weight={NO_WEIGHT} to give each edge the weight 1."
    check_column(source, header, wanted, advice, line)
    return wanted
