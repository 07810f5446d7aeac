"""Tables of edges with a header: read as pandas and networkx read them, with names, and errors that say what to do."""

import csv
import io

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError
from aacbench.graphs.readers.edgelist import read_edge_list


def read(folder, text, name="x.csv", **options):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return read_edge_list(folder / name, **options)


def named_arcs(graph):
    ends = (map(graph.vertex_name, column.tolist()) for column in (graph.sources, graph.indices))
    return {(a, b): weight for a, b, weight in zip(*ends, graph.weights.tolist(), strict=True)}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("source,target,weight\nLinz,Graz,5\nGraz,Bad Ischl,7\n", {}),
        ('# of 2024\n\nweight,note,target,source\r\n5,,Graz,Linz\r\n7,"a, b",Bad Ischl, Graz\r\n', {}),
        (
            "from\tto\tminutes\nLinz\tGraz\t5\nGraz\tBad Ischl\t7\n",
            {"source": "from", "target": "to", "weight": "minutes"},
        ),
        ('"source";"target";"weight"\n"Linz";"Graz";"5"\n"Graz";"Bad Ischl";"7"\n', {}),
        ("source,target,2024\nLinz,Graz,5\nGraz,Bad Ischl,7\n", {"weight": "2024"}),
        ("1,2,3\nLinz,Graz,5\nGraz,Bad Ischl,7\n", {"source": "1", "target": "2", "weight": "3"}),
    ],
    ids=["plain", "any order", "other names", "semicolons", "a number", "numbers"],
)
def test_columns_are_found_by_name_and_ids_are_kept(tmp_path, text, options):
    graph = read(tmp_path, text, **options)
    assert named_arcs(graph) == {("Linz", "Graz"): 5, ("Graz", "Bad Ischl"): 7}
    assert graph.names.tolist() == ["Linz", "Graz", "Bad Ischl"]
    assert graph.integral


def test_blanks_may_separate_columns_and_an_edge_may_have_no_weight(tmp_path):
    assert named_arcs(read(tmp_path, "source target\nA B\nB  C\n", "x.txt")) == {("A", "B"): 1, ("B", "C"): 1}
    text = "source,target,road\nA,B,x\n"
    assert named_arcs(read(tmp_path, text, weight="none")) == {("A", "B"): 1}
    assert named_arcs(read(tmp_path, text, weight="none", directed=False)) == {("A", "B"): 1, ("B", "A"): 1}


def test_whole_numbers_are_vertices_in_ascending_order_as_without_a_header(tmp_path):
    rows = "30,7,2\n7,1001,4\n"
    headed, bare = read(tmp_path, "source,target,weight\n" + rows), read(tmp_path, rows)
    assert headed.digest == bare.digest
    assert headed.names.tolist() == bare.names.tolist() == ["7", "30", "1001"]
    assert read(tmp_path, "source,target\n1,0\n").names is None
    assert read(tmp_path, "source,target\n07,7\n").vertices == 2


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "from,to\nA,B\n",
            {},
            r"^x\.csv, line 1: no column is 'source'; the columns are 'from', 'to'; write "
            r"file:PATH\?source=COLUMN&target=COLUMN, or if this line is an edge, write the line source,target above",
        ),
        (
            "Source,Target,Weight\nA,B,1\n",
            {},
            r"no column is 'source'; the columns are .*; write file:PATH\?source=Source&target=Target&weight=Weight\.$",
        ),
        (
            "source,dest,weight\nA,B,1\n",
            {},
            r"no column is 'target'; the columns are .*; write file:PATH\?target=dest\.$",
        ),
        (
            "# c\nsrc,dst,length\nA,B,1\n",
            {},
            r"line 2: no column is 'source'; .* file:EDGES\.csv\?nodes=NODES\.csv",
        ),
        (
            "source,target\nA,B\n",
            {"source": "start"},
            r"line 1: no column is 'start'; the columns are .*'target'\.$",
        ),
        ("source,source,target\nA,B,C\n", {}, r"line 1: several columns are 'source'"),
        (
            "source,target,min\nA,B,1\n",
            {},
            r"line 1: no column is 'weight'; .*; write file:PATH\?weight=min, or \?weight=none",
        ),
        ("source,target,weight\n\nA,B,x\n", {}, r"line 3: weight: 'x' is not a number"),
        ("source,target,weight\nA,B,-1\n", {}, r"line 2: weight: the weight '-1' is negative"),
        ("source,target,weight\nA,B,\n", {}, r"line 2: weight is missing"),
        ("source,target,weight\nA,,1\n", {}, r"line 2: target is missing"),
        ("source,target,weight\nA,B\n", {}, r"line 2: the row has 2 fields, but there are 3 columns"),
        ("source,target\n", {}, r"no edge below its header"),
        (f"source,target\nA,{'B' * 101}\n", {}, r"is longer than 100 characters"),
        ("source,target\nA,B\n", {"id_base": 1}, r"id_base is only for files without a header"),
        (b"source,target\nA,\xff\n", {}, r"line 2: this is not UTF-8"),
    ],
)
def test_a_bad_table_is_named_with_its_line_and_what_to_do(tmp_path, text, options, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text, **options)


IDS = st.one_of(
    st.integers(0, 9).map(str),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4),
)
ROWS = st.lists(st.tuples(IDS, IDS, st.one_of(st.integers(0, 10**6), st.floats(0, 1e6))), min_size=1, max_size=20)


@given(rows=ROWS, directed=st.booleans(), separator=st.sampled_from(",;\t"))
def test_a_table_is_read_as_pandas_and_networkx_do(tmp_path_factory, rows, directed, separator):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator).writerows(
        [("note", "source", "target", "weight"), *(("x", *row) for row in rows)]
    )
    graph = read(tmp_path_factory.getbasetemp(), text.getvalue(), directed=directed)
    frame = pd.read_csv(
        io.StringIO(text.getvalue()), sep=separator, dtype={"source": str, "target": str}, keep_default_na=False
    )
    frame = frame[frame.source != frame.target].sort_values(
        "weight", ascending=False
    )  # of parallel edges the last stays
    expected = nx.from_pandas_edgelist(frame, edge_attr="weight", create_using=nx.DiGraph if directed else nx.Graph)
    assert named_arcs(graph) == {(a, b): weight for a, b, weight in expected.to_directed().edges(data="weight")}
    assert {graph.vertex_name(v) for v in range(graph.vertices)} == {end for row in rows for end in row[:2]}
