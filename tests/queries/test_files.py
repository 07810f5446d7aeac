"""Query files: cells become vertices, a wrong line is named, and a choice is spread evenly over buckets."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError, UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.readers.edgelist import read_edge_list
from aacbench.queries import QuerySet
from aacbench.queries.files import count_queries, read_csv, read_scenario_queries, spread

GRAPH = from_arcs(1000, [0], [1], [1], name="g")
vertex = st.integers(0, 999)
rows = st.lists(st.tuples(vertex, vertex, st.floats(0, 1e300)), min_size=1)


@given(rows, st.booleans())
def test_a_csv_file_is_read_to_the_last_digit(tmp_path_factory, given_rows, with_optima):
    path = tmp_path_factory.mktemp("queries") / "mine.csv"
    sources, targets, optima = zip(*given_rows, strict=True)
    header, lines = "source,target", [f"{s},{t}" for s, t in zip(sources, targets, strict=True)]
    if with_optima:
        header, lines = header + ",optimum", [f"{line},{cost!r}" for line, cost in zip(lines, optima, strict=True)]
    path.write_text("\n".join([header, *lines]), encoding="utf-8")
    queries = read_csv(path, GRAPH)
    expected = QuerySet(
        sources=np.array(sources), targets=np.array(targets), optima=np.array(optima) if with_optima else None
    )
    assert queries.digest == expected.digest
    assert (queries.name, queries.mode) == ("mine", "file")
    assert count_queries(path, "file") == len(given_rows)
    assert count_queries(path, "file", strict=True) == len(set(zip(sources, targets, strict=True)))


def test_other_line_ends_blanks_byte_order_marks_and_gzip_are_read(tmp_path):
    path = tmp_path / "q.csv.gz"
    path.write_bytes(gzip.compress("\ufeffsource, target\r\n\r\n 7, 3\r\n2,9 \r\n\r\n".encode()))
    queries = read_csv(path, GRAPH)
    assert (queries.sources.tolist(), queries.targets.tolist()) == ([7, 2], [3, 9])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"bad\.csv: the file is empty"),
        ("source,target\n\n", r"bad\.csv: the file holds no query"),
        ("1,2\n", "line 1: the header must be 'source,target'"),
        ("target,source\n1,2\n", "line 1: the header must be"),
        ("source,target\n1,2\n3\n", "line 3: the row has 1 values, but the header has 2"),
        ("source,target\n1,2,3\n", "line 2: the row has 3 values, but the header has 2"),
        ("source,target\n1,2\n\n1,1000\n", "line 4: vertex 1000 is out of range; the graph has the vertices 0 to 999"),
        ("source,target\n1,1000\n", "counted from 0 also where a DIMACS file counts from 1"),
        ("source,target\n1," + "9" * 5000 + "\n", "line 2: vertex 99999999999999999999 is out of range"),
        ("source,target\n-1,2\n", "line 2: '-1' is not a vertex"),
        ("source,target\n1.0,2\n", "line 2: '1.0' is not a vertex"),
        ("source,target\n1_0,2\n", "line 2: '1_0' is not a vertex"),
        ("source,target\n\u0663,2\n", "line 2: '\u0663' is not a vertex"),
        ("source,target\n,2\n", "line 2: '' is not a vertex"),
        ("source,target,optimum\n1,2,\n", "line 2: '' is not an optimum"),
        ("source,target,optimum\n1,2,nan\n", "line 2: 'nan' is not an optimum"),
        ("source,target,optimum\n1,2,inf\n", "line 2: 'inf' is not an optimum"),
        ("source,target,optimum\n1,2,-3\n", "line 2: '-3' is not an optimum"),
        ('source,target\n"1,2\n', "line 2: this is not CSV"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_csv(path, GRAPH)


def test_ids_of_an_edge_list_without_a_header_are_those_of_the_queries(tmp_path):
    (tmp_path / "edges.txt").write_text("10 20 3\n20 30 4\n30 10 5\n")
    graph = read_edge_list(tmp_path / "edges.txt")
    (tmp_path / "trips.csv").write_text("source,target\n20,10\n")
    found = read_csv(tmp_path / "trips.csv", graph)
    assert (found.sources.tolist(), found.targets.tolist()) == ([1], [0])
    (tmp_path / "trips.csv").write_text("source,target\n1,2\n")
    with pytest.raises(DataError, match=r"line 2: '1' is not a vertex of the graph .* names such as '10'"):
        read_csv(tmp_path / "trips.csv", graph)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match=r"File .*none\.csv does not exist"):
        read_csv(tmp_path / "none.csv", GRAPH)
    (tmp_path / "bytes.csv").write_bytes(b"source,target\n\xff,1\n")
    with pytest.raises(DataError, match=r"bytes\.csv, line 2: this is not UTF-8"):
        read_csv(tmp_path / "bytes.csv", GRAPH)


# A map of 4 x 3 cells, of which the last column and (1, 1) are blocked.
FREE = [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)]


def grid_map(cells=FREE):
    return from_arcs(len(cells), [0], [1], [1.0], coords=cells, name="map")


def scenario(folder, *problems):
    """A scenario file, with a blank line after its first problem."""
    path = folder / "small.scen"
    first, *others = ("\t".join(map(str, problem)) for problem in problems)
    path.write_text("\n".join(["version 1", first, "", *others, ""]), encoding="utf-8")
    return path


PROBLEMS = [
    (0, "a.map", 4, 3, 0, 0, 1, 0, 1.0),
    (0, "a.map", 4, 3, 2, 1, 2, 2, 1.0),
    (1, "a.map", 4, 3, 1, 2, 0, 1, 2.5),
]


def test_cells_become_the_vertices_at_them(tmp_path):
    path = scenario(tmp_path, *PROBLEMS, PROBLEMS[0])
    queries = read_scenario_queries(path, grid_map())
    assert queries.sources.tolist() == [0, 4, 6, 0]
    assert queries.targets.tolist() == [1, 7, 3, 1]
    assert (queries.optima.tolist(), queries.buckets.tolist()) == ([1.0, 1.0, 2.5, 1.0], [0, 0, 1, 0])
    assert (queries.name, queries.mode, queries.seed) == ("map", "scenario", None)
    assert (count_queries(path, "scenario"), count_queries(path, "scenario", strict=True)) == (4, 3)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ((0, "a.map", 4, 3, 1, 1, 0, 0, 1.0), r"line 4: the start \(1, 1\) is a blocked cell .* for the map 'a.map'"),
        ((0, "a.map", 4, 3, 0, 0, 3, 1, 1.0), r"line 4: the goal \(3, 1\) is a blocked cell"),
        ((0, "b.map", 2, 3, 0, 0, 1, 0, 1.0), r"line 4: the scenario is for the map 'b.map' of 2 x 3 cells.* 3 x 3"),
        ((0, "b.map", 4, 2, 0, 0, 1, 0, 1.0), r"line 4: the scenario is for the map 'b.map' of 4 x 2 cells.* 3 x 3"),
    ],
)
def test_a_line_that_does_not_fit_the_map_is_named(tmp_path, problem, message):
    with pytest.raises(DataError, match=message):
        read_scenario_queries(scenario(tmp_path, PROBLEMS[0], problem), grid_map())


@pytest.mark.parametrize("cells", [[(0, 0), (0.5, 0)], [(0, 0), (-1, 0)], [(0, 0), (0, 0)], None])
def test_a_graph_that_is_no_grid_is_refused(tmp_path, cells):
    graph = from_arcs(2, [0], [1], [1.0], coords=cells, name="roads")
    with pytest.raises(DataError, match="Graph 'roads' is not a grid map"):
        read_scenario_queries(scenario(tmp_path, *PROBLEMS), graph)


def bucketed(buckets):
    places = np.arange(len(buckets))
    return QuerySet(sources=places, targets=places, buckets=np.array(buckets, dtype=np.int64))


@given(st.lists(st.integers(0, 6), max_size=40), st.data())
def test_spread_takes_as_many_of_each_bucket_as_can_be(buckets, data):
    count = data.draw(st.integers(0, len(buckets)))
    chosen, rest = spread(bucketed(buckets), count)
    assert len(chosen) == count
    assert sorted([*chosen.sources, *rest.sources]) == list(range(len(buckets)))
    for part in (chosen, rest):
        assert part.sources.tolist() == sorted(part.sources.tolist())
    taken = {b: chosen.buckets.tolist().count(b) for b in set(buckets)}
    most = max(taken.values(), default=0)
    assert all(taken[b] >= most - 1 for b in taken if taken[b] < buckets.count(b))


def test_spread_is_even_within_a_bucket_and_over_buckets():
    assert spread(bucketed([0] * 10), 2)[0].sources.tolist() == [2, 7]
    assert spread(bucketed(range(9)), 3)[0].buckets.tolist() == [1, 4, 7]
    assert spread(bucketed([0, 1, 1, 1, 1, 2, 2, 2, 2]), 5)[0].buckets.tolist() == [0, 1, 1, 2, 2]


def test_spread_refuses_impossible_counts_and_sets_without_buckets():
    for count in (3, -1):
        with pytest.raises(UsageError, match=f"Cannot choose {count} of 2 queries"):
            spread(bucketed([0, 1]), count)
    with pytest.raises(UsageError, match="without buckets"):
        spread(QuerySet(sources=np.array([0]), targets=np.array([1])), 1)
