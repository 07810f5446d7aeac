import gzip

import networkx as nx
import numpy as np
import pytest

from aacbench.errors import DataError
from aacbench.graphs.readers.graphml import read_graphml
from aacbench.graphs.readers.osmnx import read_csv_pair


def street_network(kind=nx.MultiDiGraph):
    """A network with every attribute a string, as OSMnx saves it."""
    network = kind(crs="epsg:4326", simplified="True")
    network.add_node(900, x="-73.9", y="40.7", street_count="3")
    network.add_node(7, x="-73.8", y="40.8", osmid_original="[1, 2]")
    network.add_node(8, x="1e-3", y="0")
    network.add_edge(900, 7, 0, length="12.5", oneway="False", name="Caf\xe9 & Bar", travel_time="3")
    network.add_edge(900, 7, 1, length="9.1", geometry="LINESTRING (0 0, 1 1)", travel_time="4")
    network.add_edge(7, 900, 0, length="9.25", osmid="[1, 2]", travel_time="5")
    network.add_edge(8, 8, 0, length="1.0", travel_time="6")
    return network


def graphml(folder, kind=nx.MultiDiGraph):
    path = folder / "x.graphml"
    nx.write_graphml(street_network(kind), path)
    return path


def arcs(graph):
    return list(zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True))


def test_graphml_is_read(tmp_path):
    graph = read_graphml(graphml(tmp_path), name="tiny")
    assert arcs(graph) == [(0, 1, 9.1), (1, 0, 9.25)]
    assert graph.coords.tolist() == [[-73.9, 40.7], [-73.8, 40.8], [0.001, 0.0]]
    assert graph.declared_directed
    assert graph.name == "tiny"


def test_any_edge_attribute_may_be_the_weight(tmp_path):
    graph = read_graphml(graphml(tmp_path), weight="travel_time")
    assert arcs(graph) == [(0, 1, 3), (1, 0, 5)]
    assert graph.weights.dtype == np.int64


def test_an_undirected_graph_gives_each_edge_both_ways(tmp_path):
    graph = read_graphml(graphml(tmp_path, nx.MultiGraph))
    assert arcs(graph) == [(0, 1, 9.1), (1, 0, 9.1)]
    assert not graph.declared_directed


def test_typed_attributes_and_packed_files_are_read_too(tmp_path):
    network = nx.MultiDiGraph()
    network.add_node("a", x=1.5, y=2.5)
    network.add_node("b", x=0.5, y=2)
    network.add_edge("a", "b", length=0.1)
    path = tmp_path / "x.graphml.gz"
    path.write_bytes(gzip.compress("\n".join(nx.generate_graphml(network)).encode()))
    assert arcs(read_graphml(path)) == [(0, 1, 0.1)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</graphml>", "", r"^x\.graphml, line \d+: the XML is cut short"),
        ("<?xml", "rubbish", r"line 1: this is not GraphML"),
        ("utf-8", "no-such-code", "this is not GraphML|the encoding of this file is unknown"),
        ('edgedefault="directed"', "", r"line \d+: edgedefault must be"),
        ("12.5", "twelve", r"line \d+: length: 'twelve' is not a number; it must be a number"),
        ("12.5", "[12.5, 3]", r"line \d+: length: .* is not a number"),
        ("12.5", "-12.5", r"line \d+: length: the weight '-12.5' is negative"),
        ("12.5", "inf", r"line \d+: length: 'inf' is not a finite number"),
        ("12.5", "", r"line \d+: length is missing"),
        ("-73.9", "", r"line \d+: x is missing"),
        ("-73.9", "nan", r"line \d+: x: 'nan' is not a finite number"),
        ('source="900"', 'source="901"', r"line \d+: the source '901' is not a node of this file"),
        ('source="900"', "", r"line \d+: this edge has no source"),
        ('<node id="7">', '<node id="900">', r"line \d+: node '900' occurs twice"),
        (
            'attr.name="length"',
            'attr.name="metres"',
            r"the edges have no attribute 'length' or 'weight'; write file:PATH\?weight=NAME with one of .*metres",
        ),
        ("</graph>", '</graph><graph edgedefault="directed"/>', r"line \d+: the file holds a second graph"),
        ('target="7" id="0"', 'target="7" directed="false"', r"line \d+: this edge and its graph differ"),
    ],
)
def test_bad_graphml_is_named_with_its_line(tmp_path, old, new, message):
    path = graphml(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_graphml(path)


def test_xml_of_another_kind_is_an_error(tmp_path):
    path = tmp_path / "x.graphml"
    path.write_text("<osm/>")
    with pytest.raises(DataError, match="holds no graph"):
        read_graphml(path)


def test_the_line_of_an_error_is_the_line_of_the_edge(tmp_path):
    path = tmp_path / "x.graphml"
    path.write_text(
        '<graphml><key id="k" for="edge" attr.name="length"/>\n<graph edgedefault="directed">\n'
        '<node id="1"/>\n<edge source="1"\n target="2"/></graph></graphml>'
    )
    with pytest.raises(DataError, match=r"^x\.graphml, line 4: the target '2'"):
        read_graphml(path)


NODES = "idx,osm_idx,lat,lon\n2,20,40.5,-73.5\n1,10,41.5,-74.5\n4,40,0,1\n"
EDGES = 'src,dst,length,name,time_s\n1,2,3.5,"a, b\nc",3\n2,1,1e1,"",4\n1,2,2.5,,9\n4,4,1,,1\n'


def pair(folder, nodes=NODES, edges=EDGES, **options):
    (folder / "n.csv").write_bytes(nodes.encode("latin-1"))
    (folder / "e.csv").write_bytes(edges.encode("latin-1"))
    return read_csv_pair(folder / "n.csv", folder / "e.csv", **options)


def test_a_pair_of_csv_files_is_read(tmp_path):
    graph = pair(tmp_path, name="tiny")
    assert arcs(graph) == [(0, 1, 2.5), (1, 0, 10.0)]
    assert graph.coords.tolist() == [[-74.5, 41.5], [-73.5, 40.5], [1, 0]]
    assert graph.declared_directed
    assert graph.name == "tiny"
    assert arcs(pair(tmp_path, weight="time_s")) == [(0, 1, 3), (1, 0, 4)]


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (NODES.replace("lat", "latitude"), EDGES, r"^n\.csv, line 1: no column is 'lat'"),
        (NODES, EDGES.replace("length", "metres"), r"^e\.csv, line 1: no column is 'length'.*&weight="),
        (NODES, EDGES.replace("name", "length"), r"^e\.csv, line 1: several columns are 'length'"),
        (NODES.replace("2,20", "1,20"), EDGES, r"^n\.csv, line 3: node 1 occurs twice"),
        (NODES.replace("40.5", ""), EDGES, r"^n\.csv, line 2: lat is missing"),
        (NODES.replace("40.5", "nan"), EDGES, r"^n\.csv, line 2: lat: 'nan' is not a finite number"),
        (NODES.replace("2,20", "x,20"), EDGES, r"^n\.csv, line 2: idx: 'x' is not a whole number"),
        (NODES, EDGES.replace("2,1,1e1", "3,1,1e1"), r"^e\.csv, line 4: src 3 is not a node of n\.csv"),
        (NODES, EDGES.replace("1e1", "-1e1"), r"^e\.csv, line 4: length: the weight '-1e1' is negative"),
        (NODES, EDGES.replace("1e1", ""), r"^e\.csv, line 4: length is missing"),
        (NODES, EDGES.replace("1,2,2.5,,9", "1,2,2.5,9"), r"^e\.csv, line 5: the row has 4 fields, but there are 5"),
        (NODES, EDGES + '1,2,"3', r"^e\.csv, line 7: this is not CSV"),
        (NODES, EDGES + "1,2,3,Caf\xe9,1\n", r"^e\.csv, line 7: this is not UTF-8"),
        ("idx,lat,lon\n", "src,dst,length\n", r"^e\.csv: a graph must have between 1 and"),
    ],
)
def test_a_bad_pair_is_named_with_its_line(tmp_path, nodes, edges, message):
    with pytest.raises(DataError, match=message):
        pair(tmp_path, nodes, edges)
