"""OSMnx street networks as a pair of CSV files; `graphml` reads those that `osmnx.save_graphml` writes."""

from pathlib import Path

from aacbench.graphs.readers import Source, open_source
from aacbench.graphs.readers.rows import Row, build, check_column, header_and_rows
from aacbench.graphs.record import Graph


def read_csv_pair(nodes: Path, edges: Path, *, weight: str = "length", name: str = "") -> Graph:
    """Read a street network from two CSV files, plain or gzip; vertices are in ascending order of their idx.

    The nodes need the columns idx, lat and lon, the edges src, dst and the one that `weight` names. Coordinates are
    (lon, lat).
    """
    node_source, edge_source = open_source(nodes), open_source(edges)
    node_rows = _rows(node_source, ("idx", "lat", "lon"), ".")
    node_rows.sort(key=lambda row: row.whole("idx"))
    advice = "; file:EDGES.csv?nodes=NODES.csv&weight=COLUMN chooses the weight."
    edge_rows = _rows(edge_source, ("src", "dst", weight), advice)
    place: dict[int, int] = {}
    for position, row in enumerate(node_rows):
        if place.setdefault(row.whole("idx"), position) != position:
            raise row.error(f"node {row.whole('idx')} occurs twice; keep one.")
    ends: list[list[int]] = [[], []]
    for row in edge_rows:
        for column, end in zip(ends, ("src", "dst"), strict=True):
            idx = row.whole(end)
            if idx not in place:
                message = f"{end} {idx} is not a node of {node_source.path.name}; give two files of the same network."
                raise row.error(message)
            column.append(place[idx])
    weights = [row.weight(weight) for row in edge_rows]
    coords = [(row.number("lon"), row.number("lat")) for row in node_rows]
    names = None if list(place) == list(range(len(place))) else list(map(str, place))
    return build(edge_source, len(place), ends, weights, directed=True, coords=coords, names=names, name=name)


def _rows(source: Source, wanted: tuple[str, ...], advice: str) -> list[Row]:
    header, rows = header_and_rows(source)
    for column in wanted:
        check_column(source, header, column, advice)
    return list(rows)
