"""Caches go where they are wanted, else to a folder that is the user's alone, and never silently elsewhere."""

import os
import stat
import tempfile
import warnings

import pytest

from aacbench.errors import AacbenchError
from aacbench.util import paths as locations


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A folder of temporary files, and a user's cache that cannot be made because a file is in the way."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(locations.platformdirs, "user_cache_path", lambda name: tmp_path / "file" / name)
    monkeypatch.delenv("AACBENCH_CACHE", raising=False)
    return folder


def predictable(temporary):
    return temporary / f"aacbench-{os.getuid()}"


def test_the_fallback_is_the_users_alone(temporary):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing was asked for, so nothing is replaced
        assert locations.cache_folder() == predictable(temporary)
    assert stat.S_IMODE(predictable(temporary).stat().st_mode) == 0o700


def another_users(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    we = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: we)
    folder.rename(folder.with_name(f"aacbench-{os.getuid()}"))


def open_to_all(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o777)


def a_link(folder, monkeypatch):
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


def a_file(folder, monkeypatch):
    folder.touch()


@pytest.mark.parametrize("prepare", [another_users, open_to_all, a_link, a_file])
def test_a_folder_that_others_could_have_filled_is_not_used(temporary, monkeypatch, prepare):
    prepare(predictable(temporary), monkeypatch)
    found = locations.cache_folder()
    assert found.parent == temporary
    assert found != predictable(temporary)
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
    assert locations.cache_folder() == found


def test_a_wanted_cache_that_cannot_be_used_is_told_once(temporary, tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "file"))
    with pytest.warns(
        UserWarning, match=r"The cache folder .*file cannot be used \(File exists\); this run uses .* instead"
    ):
        found = locations.cache_folder()
    assert found == predictable(temporary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert locations.cache_folder() == found


@pytest.mark.parametrize("prepare", [another_users, open_to_all])
@pytest.mark.parametrize("named", [True, False])
def test_a_wanted_cache_that_others_could_fill_is_not_used(temporary, tmp_path, monkeypatch, prepare, named):
    wanted = tmp_path / f"aacbench-{os.getuid()}"
    prepare(wanted, monkeypatch)
    wanted = tmp_path / f"aacbench-{os.getuid()}"  # as the user that we are now
    if named:
        monkeypatch.setenv("AACBENCH_CACHE", str(wanted))
    else:
        monkeypatch.setattr(locations.platformdirs, "user_cache_path", lambda name: wanted)
    with pytest.warns(UserWarning, match="it must belong to you, and nobody else may write to it"):
        assert locations.cache_folder() != wanted


def test_a_cache_that_is_made_is_the_users_alone_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "wanted"))
    before = os.umask(0)
    try:
        assert locations.cache_folder() == tmp_path / "wanted"
    finally:
        os.umask(before)


def test_no_place_at_all_is_one_sentence(temporary):
    temporary.rmdir()
    with pytest.raises(AacbenchError, match="set AACBENCH_CACHE"):
        locations.cache_folder()


def test_a_cache_that_cannot_be_written_may_be_read(temporary, tmp_path, monkeypatch):
    wanted, make = tmp_path / "wanted", tempfile.TemporaryFile

    def refuse(**where):
        if where["dir"] == wanted:
            raise PermissionError(13, "Permission denied")
        return make(**where)

    monkeypatch.setenv("AACBENCH_CACHE", str(wanted))
    assert locations.cache_folders() == (wanted,)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.warns(UserWarning, match="Permission denied"):
        assert locations.cache_folders() == (wanted, predictable(temporary))
