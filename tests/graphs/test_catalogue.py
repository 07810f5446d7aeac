"""The catalogue is complete, well formed, and true of the files we have."""

import importlib
import re
import warnings
from pathlib import Path, PurePosixPath

import pytest

from aacbench.graphs import fetch
from aacbench.graphs.catalogue import catalogue, parse

loading = importlib.import_module("aacbench.graphs.load")
FILES = [
    pytest.param(file, id=f"{entry.name}-{role}")
    for entry in catalogue().values()
    for role, file in entry.files.items()
]


def test_every_promised_name_is_there():
    assert set(catalogue()) == {
        *(f"dimacs:{area}" for area in ("NY", "BAY", "COL", "FLA", "rome99")),
        *(f"movingai:{area}" for area in ("arena", "brc202d", "16room_000", "maze512-32-0")),
        *(f"osmnx:{area}" for area in ("manhattan", "modena", "berlin", "los-angeles", "netherlands")),
        "snap:cit-HepTh",
        "ogb:arxiv",
    }


@pytest.mark.parametrize("entry", catalogue().values(), ids=catalogue())
def test_an_entry_says_what_it_is_and_names_a_reader(entry):
    assert entry.summary
    assert entry.licence
    assert entry.reader in loading.READERS
    assert entry.graph_files
    assert ("scenario" in entry.files) == entry.name.startswith("movingai:")


@pytest.mark.parametrize("file", FILES)
def test_a_file_has_a_safe_place_and_one_way_to_get_it(file):
    assert not PurePosixPath(file.at).is_absolute()
    assert ".." not in PurePosixPath(file.at).parts
    assert (file.address is None) != (file.how_to_get is None)
    assert file.address is None or file.address.endswith(PurePosixPath(file.at).name)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in file.sha256)


def test_no_two_files_share_a_place():
    places = [file.at for entry in catalogue().values() for file in entry.files.values()]
    assert len(places) == len(set(places))


def test_a_misspelt_key_is_not_ignored():
    with pytest.raises(TypeError, match="adress"):
        parse('["x:y"]\nsummary = ""\nlicence = ""\nreader = ""\n["x:y".files.path]\nat = "a"\nadress = "b"\n')


@pytest.mark.data
@pytest.mark.parametrize("file", [param for param in FILES if param.values[0].sha256])
def test_our_copy_has_the_digest_written_down(file):
    path = fetch.in_data_folder(file)
    if path is None:
        pytest.skip(f"$AACBENCH_DATA has no {file.at}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fetch.obtain(file).sha256 in file.sha256


def test_the_document_names_the_entries_without_a_digest():
    text = (Path(__file__).parents[2] / "docs" / "graphs.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"No digest is known of\s([^;]*);", text)
    unknown = {name for name, entry in catalogue().items() if not all(file.sha256 for file in entry.files.values())}
    assert set(re.findall(r"`([^`]+)`", sentence)) == unknown
