"""Graphs are loaded by name, parsed once, and wrong names are answered with the right ones."""

import gzip
import hashlib
import importlib
from dataclasses import replace
from types import MappingProxyType

import pytest

from aacbench.errors import DataError, MissingDataError, UsageError
from aacbench.graphs import fetch, from_arcs
from aacbench.graphs.catalogue import DataFile, Entry, catalogue

loading = importlib.import_module("aacbench.graphs.load")
load, scenario_path = loading.load, loading.scenario_path

GENERATED = {"sbm-10k": "a block model", "road-N[-sSEED]": "streets"}


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("aacbench.graphs.generators.generate", lambda name: None, raising=False)
    monkeypatch.setattr("aacbench.graphs.generators.describe", lambda: list(GENERATED.items()), raising=False)
    return tmp_path


@pytest.fixture
def calls(monkeypatch):
    """Every call of a reader, which reads one arc per letter of its file."""
    made = []

    def resolve(address):
        def read(path=None, *, name="", **more):
            made.append((address.rpartition(":")[2], path, more))
            length = len((path or more["nodes"]).read_bytes())
            return from_arcs(length + 1, range(length), range(1, length + 1), [1] * length, name="from the reader")

        return read

    monkeypatch.setattr(loading, "resolve_name", resolve)
    return made


@pytest.fixture
def entry(monkeypatch):
    """An own catalogue with one entry."""

    def install(**changes):
        one = Entry(
            name="set:one",
            summary="",
            licence="",
            reader="dimacs",
            files={"path": DataFile(at="one.gr", sha256=(hashlib.sha256(b"abc").hexdigest(),), how_to_get="ask")},
        )
        made = replace(one, **changes)
        monkeypatch.setattr(loading, "catalogue", lambda: MappingProxyType({made.name: made}))
        return made

    return install


def write(path, content=b"abc"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("file", "reader"),
    [
        ("g.gr", "read_dimacs"),
        ("g.gr.gz", "read_dimacs"),
        ("g.map", "read_map"),
        ("g.map.gz", "read_map"),
        ("g.graphml", "read_graphml"),
        ("g.npz", "read_npz"),
        ("g.txt", "read_edge_list"),
        ("g.txt.gz", "read_edge_list"),
        ("g.csv", "read_edge_list"),
        ("g.tsv", "read_edge_list"),
    ],
)
def test_the_suffix_chooses_the_reader(places, calls, file, reader):
    path = write(places / file)
    graph = load(f"file:{path}")
    assert calls == [(reader, path, {})]
    assert (graph.name, graph.arcs) == (f"file:{path}", 3)


@pytest.mark.parametrize("coordinates", ["g.co", "g.co.gz"])
def test_coordinates_beside_a_gr_file_are_used(places, calls, coordinates):
    path, beside = write(places / "g.gr.gz"), write(places / coordinates)
    write(places / "other.co")
    load(f"file:{path}")
    assert calls == [("read_dimacs", path, {"coords": beside})]


def test_a_file_is_parsed_once_until_it_or_its_coordinates_change(places, calls):
    path = write(places / "g.gr")
    assert load(f"file:{path}").digest == load(f"file:{path}").digest
    assert len(calls) == 1
    write(path, b"abcd")
    assert load(f"file:{path}").arcs == 4
    write(places / "g.co")
    load(f"file:{path}")
    assert len(calls) == 3


def test_the_same_bytes_under_another_name_get_that_name(places, calls):
    load(f"file:{write(places / 'a.gr')}")
    other = f"file:{write(places / 'b.gr')}"
    assert load(other).name == other
    assert len(calls) == 1


def test_other_reader_sources_mean_parsing_again(places, calls, monkeypatch):
    name = f"file:{write(places / 'a.gr')}"
    load(name)
    monkeypatch.setattr(loading, "sources_digest", lambda: "changed")
    load(name)
    assert len(calls) == 2


def rewritten_after_its_digest(monkeypatch, path, content):
    """Let another process change the file as soon as its digest was taken for the first time."""
    digest_of = fetch.sha256_of

    def taken(file):
        digest = digest_of(file)
        monkeypatch.setattr(fetch, "sha256_of", digest_of)
        path.write_bytes(content)
        return digest

    monkeypatch.setattr(fetch, "sha256_of", taken)


@pytest.mark.parametrize("name", ["file", "set:one"])
def test_a_file_that_changes_while_it_is_read_is_not_kept(places, calls, entry, monkeypatch, name):
    path = write(places / "own/one.gr")
    entry()
    name = f"file:{path}" if name == "file" else name
    rewritten_after_its_digest(monkeypatch, path, b"abcdef")
    with pytest.raises(DataError, match=f"{path} changed while it was read"):
        load(name)
    path.write_bytes(b"abc")
    assert load(name).arcs == 3
    assert len(calls) == 2


def test_a_file_of_no_known_suffix_or_none_at_all_is_refused(places):
    with pytest.raises(UsageError, match=r"\.gr, .*\.tsv"):
        load(f"file:{write(places / 'g.doc')}")
    with pytest.raises(MissingDataError, match="does not exist"):
        load(f"file:{places / 'none.gr'}")


def test_a_catalogue_graph_is_read_with_its_files_and_options(places, calls, entry):
    nodes, edges = write(places / "own/n.csv"), write(places / "own/e.csv")
    files = {role: DataFile(at=f"{role[0]}.csv") for role in ("nodes", "edges")}
    entry(reader="osmnx-csv", files=files, options={"weight": "length"}, vertices=4, arcs=3)
    with pytest.warns(fetch.UnverifiedDataWarning):
        graph = load("set:one")
    assert graph.name == "set:one"
    assert calls == [("read_csv_pair", None, {"nodes": nodes, "edges": edges, "weight": "length"})]


def test_other_options_mean_parsing_again(places, calls, entry):
    write(places / "own/one.gr")
    for options in ({"id_base": 0}, {"id_base": 1}):
        entry(options=options)
        load("set:one")
    assert [more for _, _, more in calls] == [{"id_base": 0}, {"id_base": 1}]


@pytest.mark.parametrize("size", [{"vertices": 5}, {"arcs": 4}])
def test_a_graph_of_the_wrong_size_is_not_the_data_set(places, calls, entry, size):
    path = write(places / "own/one.gr")
    entry(**size)
    with pytest.raises(DataError, match=f"{path} cannot be set:one"):
        load("set:one")


def test_a_wrong_file_never_reaches_the_reader(places, calls, entry):
    write(places / "own/one.gr", b"abd")
    entry()
    with pytest.raises(DataError, match="sha256"):
        load("set:one")
    assert calls == []


def test_a_generated_graph_is_made_once(monkeypatch):
    made = []

    def generate(name):
        made.append(name)
        return from_arcs(2, [0], [1], [3], name="from the generator") if name == "road-2" else None

    monkeypatch.setattr("aacbench.graphs.generators.generate", generate)
    assert [load("road-2").name for _ in range(2)] == ["road-2"] * 2
    assert made == ["road-2"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dimacs:ny", "dimacs:NY"),
        ("NY", "dimacs:NY"),
        ("brc202", "movingai:brc202d"),
        ("smb-10k", "sbm-10k"),
        ("raod-2000-s7", "road-N[-sSEED]"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(name, meant):
    with pytest.raises(UsageError, match="`aacbench graphs` lists all") as error:
        load(name)
    assert meant in str(error.value)


def test_a_name_like_no_other_gets_no_suggestion():
    with pytest.raises(UsageError) as error:
        load("zzzzzzzzzzzz")
    assert "mean" not in str(error.value)


def test_scenarios_are_found_like_any_file(places, monkeypatch):
    with pytest.raises(MissingDataError, match=r"arena\.map\.scen"):
        scenario_path("movingai:arena")
    for name in ("dimacs:NY", "road-2"):
        with pytest.raises(UsageError, match="has no scenario"):
            scenario_path(name)


@pytest.mark.data
def test_our_scenarios_are_there(monkeypatch):
    monkeypatch.undo()
    for name, entry in catalogue().items():
        if "scenario" in entry.files:
            if fetch.in_data_folder(entry.files["scenario"]) is None:
                pytest.skip(f"$AACBENCH_DATA has no {entry.files['scenario'].at}")
            assert gzip.decompress(scenario_path(name).read_bytes()).startswith(b"version 1")


@pytest.mark.data
def test_the_citation_graph_is_the_one_described(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path))
    if fetch.in_data_folder(catalogue()["snap:cit-HepTh"].files["path"]) is None:
        pytest.skip("$AACBENCH_DATA has no snap/cit-HepTh.txt.gz")
    graph = load("snap:cit-HepTh")
    assert graph.symmetric
    assert graph.weights.sum() == pytest.approx(3873705.7898845784, rel=1e-12)
    assert (graph.vertices, graph.arcs) == (27400, 704042)
