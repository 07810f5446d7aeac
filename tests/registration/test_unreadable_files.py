"""A ledger, lock, stamp or certificate that cannot be read is one sentence, and nothing is written."""

import os

import pytest

from aacbench.prereg.ledger import read_ledger


@pytest.fixture
def without_ledger(draft):
    draft.files.ledger.mkdir()
    return draft


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("lock",),
        ("run",),
        ("amend", "--reason", "r"),
        ("deviate", "--what", "seed", "--reason", "r"),
        ("close", "--reason", "r"),
        ("anchor", "--request"),
    ],
    ids=lambda words: words[0],
)
def test_a_ledger_that_is_a_folder_is_damage(without_ledger, capsys, words):
    assert without_ledger.call(*words) == 4
    assert "ledger.jsonl is damaged: the ledger cannot be read (Is a directory); restore it." in capsys.readouterr().err


def test_verify_reports_a_ledger_that_is_a_folder(without_ledger, finds):
    finds(without_ledger, 3, "the ledger cannot be read (Is a directory); restore it.")


def test_a_ledger_that_is_a_device_is_not_read(tmp_path):
    (tmp_path / "ledger.jsonl").symlink_to("/dev/null")
    entries, (problem,), _ = read_ledger(tmp_path / "ledger.jsonl")
    assert entries == []
    assert "it is a pipe or a device" in problem


def test_a_study_that_is_a_loop_or_a_file(done, capsys):
    (done.root / "loop").symlink_to(done.root / "loop")
    for path in (done.root / "loop", done.toml):
        assert done.call("verify", "--study", path) == 2
        assert "is not a folder; --study takes the folder of a study" in capsys.readouterr().err


def test_a_key_that_is_a_device(locked, capsys):
    assert locked.call("anchor", "--ssh", "/dev/zero") == 2
    assert "/dev/zero cannot be read (it is a pipe or a device" in capsys.readouterr().err


def test_a_lock_that_is_a_pipe_is_not_read(locked, finds):
    (lock,) = locked.files.locks()
    reading, writing = os.pipe()
    os.write(writing, lock.read_bytes())
    os.close(writing)
    lock.unlink()
    lock.symlink_to(f"/dev/fd/{reading}")
    finds(locked, 3, f"The lock file {lock.name} cannot be read.")
    os.close(reading)


@pytest.mark.parametrize("missing", ["--rfc3161", "--ca"])
def test_a_missing_stamp_or_certificate_is_one_sentence(locked, capsys, tmp_path, missing):
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.write_bytes(b"x")
    options = {"--rfc3161": there, "--ca": there} | {missing: gone}
    before = sorted(locked.files.folder.iterdir())
    assert locked.call("anchor", *(word for option in options.items() for word in option)) == 2
    assert capsys.readouterr().err == f"aacbench: {gone} cannot be read (No such file or directory).\n"
    assert sorted(locked.files.folder.iterdir()) == before
