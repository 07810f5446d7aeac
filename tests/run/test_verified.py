"""The hint about cells that were checked before: it makes reading faster and never decides what is right."""

import multiprocessing

import pytest
from stored_cells import FILES, ID, record

from aacbench.errors import DamagedCellError
from aacbench.run import store, verified
from aacbench.run.layout import DERIVED, cell_folder
from aacbench.run.store import Cell, commit, outcome_of, outcomes, read_or_damage
from aacbench.run.study import read_study, summary
from aacbench.run.verified import VERIFIED, Verified


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(verified, "LEAST_CELLS", 1)


@pytest.fixture
def study(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    assert summary(tmp_path).damaged == {}
    return tmp_path


def _refuse(*_args, **_options):
    raise AssertionError("the cell was checked in full")


def test_a_cell_that_was_checked_is_only_hashed_the_next_time(study, monkeypatch):
    monkeypatch.setattr(store, "_parsed", _refuse)
    assert summary(study).unplanned == (ID,)
    assert Verified(study).outcome(ID) == "ok"


def test_a_study_that_was_checked_is_read_the_same_without_checking_it_in_full(study, monkeypatch):
    (study / DERIVED / VERIFIED).unlink()
    in_full = read_study(study).cells[ID]
    monkeypatch.setattr(store, "_parsed", _refuse)
    hashed = read_study(study).cells[ID]
    assert (repr(hashed.record), hashed.files) == (repr(in_full.record), in_full.files)


@pytest.mark.parametrize("name", ["cell.json", *FILES])
@pytest.mark.parametrize("place", [0, -2])
def test_a_changed_byte_is_found_though_size_and_times_are_as_before(study, name, place):
    file = cell_folder(study, ID) / name
    data, times = bytearray(file.read_bytes()), file.stat()
    data[place] ^= 1
    file.write_bytes(data)
    verified.os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert list(summary(study).damaged) == [ID]
    assert list(read_study(study).damaged) == [ID]
    assert isinstance(outcome_of(study, ID, Verified(study)), DamagedCellError)


@pytest.mark.parametrize("name", ["cell.json", *FILES])
def test_a_missing_file_is_found(study, name):
    (cell_folder(study, ID) / name).unlink()
    assert f"{name} is missing" in summary(study).damaged[ID]


def test_a_replaced_cell_is_read_anew(study):
    commit(study, ID, record(outcome="error"), {}, replace=True)
    assert outcome_of(study, ID, Verified(study)) == "error"
    summary(study)
    assert Verified(study).outcome(ID) == "error"


def test_a_cell_in_the_folder_of_another_is_damaged(study):
    other = ID[:-1] + ("0" if ID[-1] != "0" else "1")
    cell_folder(study, ID).rename(cell_folder(study, other))
    assert "its key belongs to cell" in summary(study).damaged[other]


@pytest.mark.parametrize("content", [None, b"", b"junk", bytes(64)])
def test_a_lost_or_damaged_hint_costs_time_alone(study, content):
    hint = study / DERIVED / VERIFIED
    good = hint.read_bytes()
    hint.unlink()
    if content is not None:
        hint.write_bytes(content)
    assert Verified(study).outcome(ID) is None
    assert isinstance(read_or_damage(study, ID, Verified(study)), Cell)
    assert summary(study).damaged == {}
    assert hint.read_bytes() == good


def test_a_folder_in_the_place_of_the_hint_is_left_alone(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    (tmp_path / DERIVED / VERIFIED / "mine").mkdir(parents=True)
    assert summary(tmp_path).damaged == {}
    assert (tmp_path / DERIVED / VERIFIED / "mine").is_dir()


def test_nothing_is_written_where_it_must_not_be_or_is_not_worth_it(tmp_path, monkeypatch):
    commit(tmp_path, ID, record(), FILES)
    outcomes(tmp_path, remember=False)
    read_study(tmp_path, remember=False)
    monkeypatch.setattr(verified, "LEAST_CELLS", 2)
    summary(tmp_path)
    assert not (tmp_path / DERIVED).exists()


def test_two_processes_may_read_and_remember_at_once(study):
    context = multiprocessing.get_context("fork")
    (study / DERIVED / VERIFIED).unlink()
    readers = [context.Process(target=summary, args=(study,)) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert [reader.exitcode for reader in readers] == [0] * 4
    assert [path.name for path in (study / DERIVED).iterdir()] == [VERIFIED]
    assert Verified(study).outcome(ID) == "ok"
