import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import example_count

from aacbench.errors import DataError
from aacbench.graphs.readers.movingai import read_map, read_scenario

FREE = ".GS"


def text_of(rows, height=None, width=None):
    height, width = len(rows) if height is None else height, len(rows[0]) if width is None else width
    return f"type octile\nheight {height}\nwidth {width}\nmap\n" + "".join(row + "\n" for row in rows)


def read(folder, text):
    path = folder / "x.map"
    path.write_bytes(text.encode("latin-1"))
    return read_map(path, name="grid")


def slow_arcs(rows):
    """Every legal step, cell by cell."""
    free = {(x, y) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell in FREE}
    place = {cell: i for i, cell in enumerate(sorted(free, key=lambda cell: (cell[1], cell[0])))}
    arcs = {}
    for x, y in free:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if (dx or dy) and {(x + dx, y + dy), (x + dx, y), (x, y + dy)} <= free:
                    arcs[place[x, y], place[x + dx, y + dy]] = 2**0.5 if dx and dy else 1.0
    return place, arcs


GRIDS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.text(".GS.@OTW..", min_size=width, max_size=width), min_size=1, max_size=5)
)


@example_count(100)
@given(rows=GRIDS.filter(lambda rows: any(cell in FREE for row in rows for cell in row)))
def test_steps_are_those_of_a_walk_that_cuts_no_corner(rows):
    with tempfile.TemporaryDirectory() as folder:
        graph = read(Path(folder), text_of(rows))
    place, arcs = slow_arcs(rows)
    found = zip(graph.sources.tolist(), graph.indices.tolist(), strict=True)
    assert dict(zip(found, graph.weights.tolist(), strict=True)) == arcs
    assert {tuple(cell): i for i, cell in enumerate(graph.coords.tolist())} == place
    assert graph.weights.dtype == np.float64


def test_a_map_is_undirected_and_may_be_packed(tmp_path):
    path = tmp_path / "packed.map"
    path.write_bytes(gzip.compress(text_of(["..", ".@"]).replace("\n", "\r\n").encode()))
    graph = read_map(path)
    assert (graph.vertices, graph.arcs, graph.declared_directed, graph.symmetric) == (3, 4, False, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (text_of(["..", "."]), r"^x\.map, line 6: the row has 1 cells, but the header says 2"),
        (text_of(["..", "..."]), "line 6: the row has 3 cells, but the header says 2"),
        (text_of(["..", ".."], height=3), r"^x\.map: the header says 3 rows, but the map has 2"),
        (text_of(["..", ".."], height=1), "the header says 1 rows, but the map has 2"),
        (text_of(["..", ".x"]), "line 6: the cell 'x' is unknown"),
        (text_of(["@T"]), r"^x\.map: the map has no free cell"),
        (text_of(["."], height=999999999999, width=999999999999), "the header says 999999999999 rows"),
        (text_of(["."], height=0), "line 2: a map needs at least one row"),
        (text_of(["."], width="x"), "line 3: 'x' is not a whole number"),
        (text_of(["."]).replace("octile", "tile"), "line 1: the type of the map must be octile"),
        (text_of(["."]).replace("height", "width"), "line 2: the header of a map is"),
        ("type octile\nheight 1\n", r"^x\.map: the header of a map is"),
        ("\x00\x01", "line 1: the header of a map is"),
        (text_of(["."]) + "\xe9\n", r"line 6: this is not UTF-8"),
    ],
)
def test_a_bad_map_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text)


def scenario(folder, text):
    path = folder / "x.scen"
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    return read_scenario(path)


def test_a_scenario_is_read(tmp_path):
    found = scenario(tmp_path, "version 1\n0\tmaps/a b.map\t4\t3\t0\t1\t3\t2\t4.41421\n2\tc.map\t4\t3\t0\t0\t0\t0\t0\n")
    assert len(found) == 2
    assert found.map_name == ("maps/a b.map", "c.map")
    whole = [found.bucket, found.width, found.height, found.start_x, found.start_y, found.goal_x, found.goal_y]
    assert [column.tolist() for column in whole] == [[0, 2], [4, 4], [3, 3], [0, 0], [1, 0], [3, 0], [2, 0]]
    assert found.optimum.tolist() == [4.41421, 0.0]
    assert not found.optimum.flags.writeable


ROW = "0\ta.map\t4\t3\t0\t1\t3\t2\t4.5\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW, "line 1: a scenario must begin with 'version 1'"),
        ("version 2\n" + ROW, "line 1: a scenario must begin with 'version 1'"),
        ("version 1\n", "the scenario has no problems"),
        ("version 1\n" + ROW + "0\ta.map\t4\n", "line 3: a problem has the 9 fields .* but this line has 3"),
        ("version 1\n" + ROW.replace("4.5", "nan"), "line 2: 'nan' is not a finite number"),
        ("version 1\n" + ROW.replace("4.5", "-1"), "line 2: the bucket and the optimum must be 0 or more"),
        ("version 1\n" + ROW.replace("\t3\t2", "\t4\t2"), r"line 2: the goal \(4, 2\) is not on the map of 4 columns"),
        ("version 1\n" + ROW.replace("\t0\t1", "\t0\t-1"), r"line 2: the start \(0, -1\) is not on the map"),
        ("version 1\n" + ROW.replace("\t0\t1", "\t0.5\t1"), "line 2: '0.5' is not a whole number"),
    ],
)
def test_a_bad_scenario_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        scenario(tmp_path, text)
