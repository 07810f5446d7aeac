"""A `file:` name says which file is meant and how it is read."""

import inspect
from pathlib import Path
from pkgutil import resolve_name

import pytest

from aacbench.errors import DataError, MissingDataError, UsageError
from aacbench.graphs.load import OPTIONS, READERS, load

GRAPHML = """<graphml><key id="t" for="edge" attr.name="travel_time"/><key id="x" for="node" attr.name="x"/>
<key id="y" for="node" attr.name="y"/><graph edgedefault="directed">
<node id="1"><data key="x">0</data><data key="y">0</data></node>
<node id="2"><data key="x">1</data><data key="y">1</data></node>
<edge source="1" target="2"><data key="t">4</data></edge></graph></graphml>"""
CONTENT = {
    "zero.gr": "p sp 2 1\na 0 1 7\n",
    "g.graphml": GRAPHML,
    "list.txt": "3 5 2\n",
    "city_nodes.csv": "idx,lat,lon\n1,0,0\n2,1,1\n",
    "city_edges.csv": "src,dst,length,seconds\n1,2,10,6\n",
    "m.map": "type octile\nheight 1\nwidth 2\nmap\n..\n",
    "odd?id_base=1.gr": "p sp 2 1\na 1 2 9\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, text in CONTENT.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def arcs(name):
    graph = load(name)
    return [*zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("file:zero.gr?id_base=0", [(0, 1, 7)]),
        ("file:g.graphml?weight=travel_time", [(0, 1, 4)]),
        ("file:list.txt?directed=no", [(0, 1, 2), (1, 0, 2)]),
        ("file:list.txt?directed=yes&id_base=3", [(0, 1, 2)]),
        ("file:city_edges.csv?nodes=city_nodes.csv", [(0, 1, 10)]),
        ("file:city_edges.csv?nodes=city_nodes.csv&weight=seconds", [(0, 1, 6)]),
        ("file:odd?id_base=1.gr", [(0, 1, 9)]),
    ],
)
def test_options_reach_the_reader(name, expected):
    assert arcs(name) == expected
    assert load(name).name == name


def test_the_nodes_lie_beside_the_edges(folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert arcs("file:../city_edges.csv?nodes=city_nodes.csv") == [(0, 1, 10)]
    assert arcs(f"file:../city_edges.csv?nodes={folder / 'city_nodes.csv'}") == [(0, 1, 10)]
    (folder / "elsewhere" / "other.csv").write_text(CONTENT["city_nodes.csv"])
    for nodes in ("elsewhere/other.csv", folder / "elsewhere" / "other.csv", "../nowhere.csv"):
        with pytest.raises(UsageError, match="nodes must be the file of the nodes, beside that of the edges, not"):
            load(f"file:../city_edges.csv?nodes={nodes}")


def test_the_same_file_with_other_options_is_another_graph():
    assert len(arcs("file:list.txt")) == 1
    assert len(arcs("file:list.txt?directed=no")) == 2
    assert len(arcs("file:list.txt")) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file:zero.gr?base=0", "a .gr file has no option 'base'; did you mean 'id_base'? Options: id_base."),
        ("file:zero.gr?id_base=2", "id_base must be 0 or 1, not '2'"),
        ("file:list.txt?directed=false", "directed must be yes or no, not 'false'"),
        ("file:list.txt?id_base=x", "id_base must be the smallest id, a whole number, not 'x'"),
        ("file:list.txt?nodes=city_nodes.csv", "a .txt file has no option 'nodes'. Options: directed, id_base, source"),
        (
            "file:city_edges.csv?time=seconds",
            "no option 'time'. Options: directed, id_base, source, target, weight, nodes.",
        ),
        ("file:m.map?id_base=0", "a .map file takes no options"),
        ("file:zero.gr?id_base", "options must be written ?option=value&other=value"),
        ("file:zero.gr?id_base=0&id_base=0", "each once"),
        ("file:zero.gr?", "options must be written"),
    ],
)
def test_a_wrong_option_is_answered_with_what_there_is(name, message):
    with pytest.raises(UsageError) as error:
        load(name)
    assert message in str(error.value)
    assert str(error.value).startswith(name)


def test_every_option_has_a_reader_that_takes_it_and_a_word_in_the_document():
    text = (Path(__file__).parents[2] / "docs" / "graphs.md").read_text(encoding="utf-8")
    for reader, options in OPTIONS.items():
        assert options.keys() <= inspect.signature(resolve_name(READERS[reader])).parameters.keys()
        assert [option for option in options if f"{option}=" not in text] == []


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(MissingDataError, match=r"file .*nowhere\.csv does not exist"):
        load("file:city_edges.csv?nodes=nowhere.csv")


def test_a_folder_is_called_a_folder(folder):
    (folder / "dir.gr").mkdir()
    with pytest.raises(MissingDataError, match=r"dir\.gr is a folder; name a file in it"):
        load("file:dir.gr")


def test_a_name_that_no_file_system_takes_is_one_sentence():
    with pytest.raises(DataError, match="cannot be accessed"):
        load(f"file:{'x' * 300}.gr")


def test_suffixes_may_be_in_capitals(folder):
    (folder / "CITY.GR").write_text("p sp 2 1\na 1 2 7\n")
    (folder / "CITY.CO").write_text("p aux sp co 2\nv 1 3 4\nv 2 5 6\n")
    assert load("file:CITY.GR").coords.tolist() == [[3, 4], [5, 6]]


@pytest.mark.parametrize("name", ["zero.gr", "zero.gr?id_base=0", "./list.txt"])
def test_a_path_alone_is_answered_with_the_name_of_the_file(name):
    with pytest.raises(UsageError) as error:
        load(name)
    assert f"did you mean file:{name}?" in str(error.value)


def test_only_a_file_has_a_short_name():
    with pytest.raises(UsageError, match=r"Unknown graph 'x=grid-8' \(only a file can have .* x=file:PATH\)"):
        load("x=grid-8")
    with pytest.raises(UsageError, match=r"\(did you mean x=file:list\.txt\?\)"):
        load("x=list.txt")
