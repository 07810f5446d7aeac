"""Cells on disk: whole or not at all, and every flipped byte found."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_cells import FILES, ID, KEY, OTHER_FILES, names, record

from aacbench.errors import DamagedCellError, DataError, NewerFormatError, UsageError
from aacbench.run.layout import cell_folder, cell_id
from aacbench.run.store import commit, read_cell, scan
from aacbench.version import VERSION


def test_a_cell_comes_back_as_it_was(tmp_path):
    assert read_cell(tmp_path, ID) is None
    assert commit(tmp_path, ID, record(), FILES)
    cell = read_cell(tmp_path, ID)
    assert (cell.cell_id, cell.outcome, cell.files) == (ID, "ok", FILES)
    assert (cell.key, cell.record["build"]) == (KEY, {"seconds": 1.25})
    folder = tmp_path / "cells" / ID[:2] / ID
    assert sorted(path.name for path in folder.iterdir()) == ["cell.json", "error.txt", "queries.csv"]
    stored = json.loads((folder / "cell.json").read_text())
    assert (stored["cell_id"], stored["version"]) == (ID, VERSION)
    assert set(stored["files"]) == set(FILES)
    assert dict(scan(tmp_path)) == {ID: cell}
    assert names(tmp_path) == []


def test_what_was_read_can_be_committed_elsewhere(tmp_path):
    commit(tmp_path / "a", ID, record(), FILES)
    cell = read_cell(tmp_path / "a", ID)
    commit(tmp_path / "b", ID, cell.record, cell.files)
    assert read_cell(tmp_path / "b", ID) == cell


def test_a_cell_is_kept_or_replaced_as_asked(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    assert not commit(tmp_path, ID, record(outcome="error"), OTHER_FILES)
    assert read_cell(tmp_path, ID).files == FILES
    assert commit(tmp_path, ID, record(outcome="error"), OTHER_FILES, replace=True)
    assert read_cell(tmp_path, ID).outcome == "error"
    assert read_cell(tmp_path, ID).files == OTHER_FILES
    assert names(tmp_path) == []


@pytest.mark.parametrize("put", [lambda path: path.write_text(""), lambda path: path.symlink_to("nowhere")])
def test_a_file_in_the_place_of_a_cell_is_damage_that_can_be_replaced(tmp_path, put):
    cell_folder(tmp_path, ID).parent.mkdir(parents=True)
    put(cell_folder(tmp_path, ID))
    with pytest.raises(DamagedCellError, match="it cannot be opened"):
        read_cell(tmp_path, ID)
    assert commit(tmp_path, ID, record(), FILES, replace=True)
    assert read_cell(tmp_path, ID).files == FILES
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("cell", "files", "message"),
    [
        (record(key={**KEY, "seed": 43}), FILES, "The key of cell"),
        (record(outcome="fine"), FILES, "unknown outcome 'fine'"),
        (record(), {"../x": b""}, "cannot be named '../x'"),
        (record(), {"cell.json": b""}, "cannot be named"),
        (record(), {".x": b""}, "cannot be named"),
        (record(build=float("nan")), FILES, "nan"),
    ],
)
def test_what_is_no_cell_is_refused_before_anything_is_written(tmp_path, cell, files, message):
    with pytest.raises(DataError, match=message):
        commit(tmp_path, ID, cell, files)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../../etc", "", "ABCDEF" * 4, ID[:-1], ID + "\n"])
def test_a_name_that_is_no_id_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="is not a cell id"):
        read_cell(tmp_path, name)


@pytest.fixture(scope="module")
def one_cell(tmp_path_factory):
    root = tmp_path_factory.mktemp("study")
    commit(root, ID, record(reason="a\u2028b"), FILES)
    return root


@given(st.data())
def test_a_changed_byte_is_found(one_cell, data):
    path = data.draw(st.sampled_from(sorted(cell_folder(one_cell, ID).iterdir())))
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    spoilt = data.draw(
        st.sampled_from([whole[:at] + bytes([changed]) + whole[at + 1 :], whole[:at], whole + whole[at : at + 1]])
    )
    path.write_bytes(spoilt)
    try:
        with pytest.raises((DamagedCellError, NewerFormatError), match=path.name.replace(".", r"\.")):
            read_cell(one_cell, ID)
    finally:
        path.write_bytes(whole)
    assert read_cell(one_cell, ID).files == FILES


def test_other_spaces_and_spellings_are_damage_too(one_cell):
    path = cell_folder(one_cell, ID) / "cell.json"
    whole = path.read_bytes()
    spoilt = [b"\n" + whole, whole.replace(b"1.25", b"1.250"), b"[" * 10**5, b"{}", b"3", b"\xff\xfe"]
    for bad in [*spoilt, json.dumps(json.loads(whole)).encode(), whole.replace(b'"ok"', b'"ok"\n')]:
        path.write_bytes(bad)
        with pytest.raises(DamagedCellError, match=r"cell\.json"):
            read_cell(one_cell, ID)
    path.write_bytes(whole)
    assert read_cell(one_cell, ID) is not None


def test_missing_and_misplaced_things_are_found_and_hidden_files_are_not_minded(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    folder = cell_folder(tmp_path, ID)
    (folder / ".DS_Store").write_bytes(b"x")
    assert read_cell(tmp_path, ID).files == FILES
    other = cell_folder(tmp_path, cell_id({}))
    other.parent.mkdir(exist_ok=True)
    folder.rename(other)
    (other.parent / "notes").write_text("")
    (other.parent / ".DS_Store").write_text("")
    found = {name: str(problem) for name, problem in scan(tmp_path)}
    assert sorted(found) == sorted([other.name, "notes"])
    assert f"its key belongs to cell {ID}" in found[other.name]
    assert "no cell belongs there" in found["notes"]
    other.rename(folder)
    (folder / "queries.csv").unlink()
    with pytest.raises(DamagedCellError, match=r"queries\.csv is missing"):
        read_cell(tmp_path, ID)
