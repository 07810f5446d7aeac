"""Files that were damaged on the way: every reader gives a graph that holds together, or a sentence."""

import gzip
import io
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from support import example_count

from aacbench.errors import DataError
from aacbench.graphs import Graph, from_arcs
from aacbench.graphs.readers.dimacs import read_dimacs
from aacbench.graphs.readers.edgelist import read_edge_list
from aacbench.graphs.readers.graphml import read_graphml
from aacbench.graphs.readers.movingai import Scenario, read_map, read_scenario
from aacbench.graphs.readers.npz import read_npz, save_graph
from aacbench.graphs.readers.osmnx import read_csv_pair

ARCS = b"c road\np sp 3 3\na 1 2 803\na 2 1 803\na 2 3 1.5\n"
PLACES = b"c\np aux sp co 3\nv 1 -73 41\nv 2 -73 40\nv 3 -72 4.5\n"
NODES = b"idx,lat,lon\n1,40.5,-73.5\n2,41.5,-74.5\n"
EDGES = b'src,dst,length,name\n1,2,3.5,"a, b"\n2,1,10,\n'


def graphml_bytes():
    network = nx.MultiDiGraph()
    network.add_node(9, x="-73.9", y="40.7")
    network.add_node(7, x="-73.8", y="40.8")
    network.add_edge(9, 7, 0, length="12.5")
    network.add_edge(7, 9, 0, length="9")
    file = io.BytesIO()
    nx.write_graphml(network, file)
    return file.getvalue()


def npz_bytes():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "whole.npz"
        save_graph(from_arcs(3, [0, 1], [1, 2], [5, 6], coords=[[0, 0], [1, 1], [2, 2]], name="x"), path)
        return path.read_bytes()


def matrix_bytes(kind):
    file = io.BytesIO()
    scipy.sparse.save_npz(
        file, scipy.sparse.coo_array([[0, 5, 0], [0, 0, 6.5], [1, 0, 0]]).asformat(kind), compressed=False
    )
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage")
    for name, data in (("whole.gr", ARCS), ("whole.co", PLACES), ("nodes.csv", NODES), ("edges.csv", EDGES)):
        (folder / name).write_bytes(data)
    return folder


SAMPLES = {
    "gr": (ARCS, lambda path: read_dimacs(path, path.with_name("whole.co"))),
    "co": (PLACES, lambda path: read_dimacs(path.with_name("whole.gr"), path)),
    "map": (b"type octile\nheight 3\nwidth 4\nmap\n..@.\nTGSW\n....\n", read_map),
    "scenario": (
        b"version 1\n0\ta.map\t4\t3\t0\t1\t3\t2\t4.4\n1\ta.map\t4\t3\t0\t0\t0\t0\t0\n",
        read_scenario,
    ),
    "edges": (b"# list\n0\t1\n1,2\n20 0\n", read_edge_list),
    "weighted edges": (b"% list\n0 1 5\n1 2 2.5\n", lambda path: read_edge_list(path, directed=False)),
    "graphml": (graphml_bytes(), read_graphml),
    "csv nodes": (NODES, lambda path: read_csv_pair(path, path.with_name("edges.csv"))),
    "csv edges": (EDGES, lambda path: read_csv_pair(path.with_name("nodes.csv"), path)),
    "npz": (npz_bytes(), read_npz),
    "named edges": (b"# list\nsource,target,weight,x\nA,B,5,\nB,C,2.5,y\n", read_edge_list),
    "blanks": (b"source target\nA B\nB C\n", read_edge_list),
    "plain graphml": ("".join(nx.generate_graphml(nx.path_graph(3))).encode(), read_graphml),
    **{f"matrix {kind}": (matrix_bytes(kind), read_npz) for kind in ("csr", "csc", "coo", "dia", "bsr")},
}


@st.composite
def damage(draw):
    """A function that damages bytes in one of the ways files are damaged."""
    kind = draw(st.sampled_from(["flip", "set", "delete", "insert", "cut", "swap lines", "repeat line"]))
    place, other = draw(st.floats(0, 1)), draw(st.floats(0, 1))
    size, bits = draw(st.integers(1, 4)), draw(st.integers(1, 255))
    extra = draw(
        st.sampled_from([b"\n", b" ", b"0", b"-", b"9" * 25, b"nan", b",", b'"', b"<", b"\x00", b"\xff\xfe", b"e9"])
    )

    def apply(data):
        at = int(place * max(len(data) - 1, 0))
        if kind == "flip":
            return data[:at] + bytes(byte ^ bits for byte in data[at : at + 1]) + data[at + 1 :]
        if kind in ("set", "insert"):
            return data[:at] + extra + data[at + (len(extra) if kind == "set" else 0) :]
        if kind == "delete":
            return data[:at] + data[at + size :]
        if kind == "cut":
            return data[:at]
        lines = data.split(b"\n")
        i, j = int(place * (len(lines) - 1)), int(other * (len(lines) - 1))
        if kind == "swap lines":
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines.insert(j, lines[i])
        return b"\n".join(lines)

    return apply


def read_or_explain(reader, path):
    """The graph, or None where there was a sentence in its place; any other exception goes through."""
    sentence = "."
    found = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an encoding named by a damaged XML header may be a deprecated one
            found = reader(path)
    except DataError as error:
        sentence = str(error)
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert found is None or isinstance(found, Graph | Scenario)
    return found


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_whole_file_is_read_plain_and_packed(folder, sample):
    whole, reader = SAMPLES[sample]
    for data in (whole, gzip.compress(whole, mtime=0)):
        (folder / "damaged").write_bytes(data)
        assert read_or_explain(reader, folder / "damaged") is not None


@pytest.mark.parametrize("sample", SAMPLES)
@example_count(100)
@given(damages=st.lists(damage(), min_size=1, max_size=3), packed=st.sampled_from(["no", "after", "before"]))
def test_a_damaged_file_gives_a_graph_or_a_sentence(folder, sample, damages, packed):
    whole, reader = SAMPLES[sample]
    data = gzip.compress(whole, mtime=0) if packed == "before" else whole
    for apply in damages:
        data = apply(data)
    (folder / "damaged").write_bytes(gzip.compress(data, mtime=0) if packed == "after" else data)
    read_or_explain(reader, folder / "damaged")


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_gzip_file_cut_anywhere_gives_a_sentence(folder, sample):
    whole, reader = SAMPLES[sample]
    packed = gzip.compress(whole, mtime=0)
    for length in range(len(packed)):
        (folder / "damaged").write_bytes(packed[:length])
        assert read_or_explain(reader, folder / "damaged") is None, length


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xef\xbb\xbf", b"\x1c", b"\x00" * 100, b"\xff" * 100, b"p", b"PK\x05\x06" + bytes(18)]
)
def test_rubbish_gives_a_sentence(folder, sample, data):
    (folder / "damaged").write_bytes(data)
    assert read_or_explain(SAMPLES[sample][1], folder / "damaged") is None


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_folder_and_a_missing_file_give_a_sentence(folder, sample):
    (folder / "inner").mkdir(exist_ok=True)
    for name in ("inner", "nowhere"):
        assert read_or_explain(SAMPLES[sample][1], folder / name) is None
