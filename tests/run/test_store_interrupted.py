"""A store that is interrupted, starved, killed or used by several at once: every visible cell is whole."""

import os
import random
import shutil
import subprocess
import sys
import threading
import time

import pytest
from stored_cells import FILES, ID, OTHER_FILES, names, record

from aacbench.errors import StoreError
from aacbench.run.layout import cell_folder, cell_id
from aacbench.run.store import commit, read_cell, scan, sweep
from aacbench.util import cleanup as scratch
from aacbench.util.cleanup import scratch_name
from aacbench.util.file_lock import file_lock


def dead_pid():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    parent = cell_folder(tmp_path, ID).parent
    living = parent / scratch_name(".unfinished")
    pools = [tmp_path / "artifacts" / "aa", tmp_path / "artifacts" / "plugin-0" / "aa"]
    places = (parent, tmp_path, *pools)
    for place in pools:
        place.mkdir(parents=True)
    dead = [place / living.name.replace(str(os.getpid()), str(dead_pid())) for place in places]
    elsewhere = parent / f".unfinished~another-host~{dead_pid()}~ab"
    for path in (living, *dead, elsewhere):
        path.mkdir()
    assert [name for name, _ in scan(tmp_path)] == [ID]
    sweep(tmp_path)
    assert [path for path in (living, *dead, elsewhere) if path.exists()] == [living, elsewhere]
    assert read_cell(tmp_path, ID).files == FILES


def test_locks_of_the_dead_go_and_those_that_are_held_stay(tmp_path):
    with file_lock(tmp_path, "held"):
        (tmp_path / "locks" / "dead").touch()
        sweep(tmp_path)
        assert [path.name for path in (tmp_path / "locks").iterdir()] == ["held"]


def test_old_leftovers_go_whoever_made_them(tmp_path, monkeypatch):
    elsewhere = tmp_path / "cells" / "aa" / ".unfinished~another-host~1~ab"
    elsewhere.mkdir(parents=True)
    monkeypatch.setattr(scratch, "ABANDONED_AFTER_SECONDS", -1)
    sweep(tmp_path)
    assert not elsewhere.exists()


@pytest.mark.parametrize("new_in_place", [False, True])
def test_an_interrupted_replacement_leaves_the_old_or_the_new_cell(tmp_path, new_in_place):
    commit(tmp_path, ID, record(), FILES)
    folder = cell_folder(tmp_path, ID)
    folder.rename(folder.with_name(scratch_name(f".replaced-{ID}").replace(str(os.getpid()), str(dead_pid()))))
    assert read_cell(tmp_path, ID).files == FILES
    assert [name for name, _ in scan(tmp_path)] == [ID]
    if new_in_place:
        commit(tmp_path, ID, record(), OTHER_FILES, replace=True)
    sweep(tmp_path)
    assert names(tmp_path) == []
    assert read_cell(tmp_path, ID).files == (OTHER_FILES if new_in_place else FILES)


class Failing:
    """Lets the first calls of a kind through, then fails once or for ever."""

    def __init__(self, monkeypatch, calls, allowed, forever):
        self.left, self.forever, self.failed = allowed, forever, False
        for name in calls:
            monkeypatch.setattr(os, name, self.wrap(getattr(os, name)))

    def wrap(self, real):
        def call(*arguments, **named):
            self.left -= 1
            if self.left == -1 or (self.forever and self.left < 0):
                self.failed = True
                raise OSError(28, "No space left on device")
            return real(*arguments, **named)

        return call


@pytest.mark.parametrize("forever", [False, True])
@pytest.mark.parametrize("calls", [("open", "mkdir", "write", "fsync", "rename"), ("write",), ("fsync",), ("rename",)])
@pytest.mark.parametrize("before", [None, FILES])
def test_every_call_that_fails_leaves_the_old_state_or_the_whole_new_cell(tmp_path, calls, forever, before):
    for allowed in range(40):
        root = tmp_path / str(allowed)
        if before is not None:
            commit(root, ID, record(), before)
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, calls, allowed, forever)
            try:
                commit(root, ID, record(), OTHER_FILES, replace=True)
            except StoreError as error:
                assert str(root) in str(error)  # noqa: PT017
        found = dict(scan(root))
        assert [cell.files for cell in found.values()] in ([OTHER_FILES], [before] if before else [])
        assert commit(root, ID, record(), OTHER_FILES, replace=True)
        assert read_cell(root, ID).files == OTHER_FILES
        if not failing.failed:
            return
    pytest.fail("the failures never ended")


def test_everything_is_on_disk_before_it_is_visible(tmp_path, monkeypatch):
    synced, seen, real_sync, real_rename = set(), [], os.fsync, os.rename

    def sync(descriptor):
        synced.add(os.fstat(descriptor).st_ino)
        real_sync(descriptor)

    def rename(source, target):
        seen.append({path.stat().st_ino for path in (source, *source.iterdir())} - synced)
        real_rename(source, target)
        synced.clear()

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", rename)
    commit(tmp_path, ID, record(), FILES)
    assert seen == [set()]
    assert synced == {cell_folder(tmp_path, ID).parent.stat().st_ino}


def test_a_replacement_that_fails_puts_the_old_cell_back(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    with pytest.MonkeyPatch.context() as patch:
        Failing(patch, ["rename"], 1, forever=False)
        with pytest.raises(StoreError, match="full"):
            commit(tmp_path, ID, record(), OTHER_FILES, replace=True)
    assert cell_folder(tmp_path, ID).is_dir()
    assert names(tmp_path) == []


LIMITED = """
import pathlib, resource, sys
from aacbench.errors import StoreError
from aacbench.run.layout import cell_id
from aacbench.run.events import new_log
from aacbench.run.store import commit
root = pathlib.Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
log = new_log(root, {}).begin()
try:
    for seed, size in enumerate([1000, 4999, 5001, 10]):
        key = {"seed": seed}
        commit(root, cell_id(key), {"key": key, "outcome": "ok"}, {"queries.csv": b"x" * size})
except StoreError as error:
    print(error)
try:
    while True:
        log.event("filler", text="y" * 300)
except StoreError as error:
    print(error)
"""


def test_a_limit_on_file_sizes_is_one_sentence_and_the_store_is_intact(tmp_path):
    done = subprocess.run([sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert all(str(tmp_path) in line and "ulimit -f" in line for line in done.stdout.splitlines())
    assert sorted(len(cell.files["queries.csv"]) for _, cell in scan(tmp_path)) == [1000, 4999]
    assert names(tmp_path) == []


def test_folders_that_cannot_be_written_are_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is not a folder"):
        commit(tmp_path / "file", ID, record(), FILES)
    for number, message in ((30, "read-only"), (13, "No permission to write"), (122, "quota"), (5, "Input/output")):

        def refuse(*_, number=number, **__):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "mkdir", refuse)
        with pytest.raises(StoreError, match=message) as caught:
            commit(tmp_path / "study", ID, record(), FILES)
        assert str(tmp_path / "study") in str(caught.value)


LOOP = """
import itertools, pathlib, sys
from aacbench.run.layout import cell_id
from aacbench.run.store import commit
root = pathlib.Path(sys.argv[1])
print("ready", flush=True)
for turn in itertools.count():
    key = {"seed": turn % 20}
    files = {"queries.csv": str(turn).encode() * 5000, "timings.csv": b"x" * 100}
    commit(root, cell_id(key), {"key": key, "outcome": "ok", "turn": turn}, files, replace=True)
"""


def test_killed_at_any_moment_every_visible_cell_is_whole(tmp_path):
    moments, seen = random.Random(7), set()
    for _ in range(10):
        with subprocess.Popen([sys.executable, "-c", LOOP, tmp_path], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(moments.uniform(0.02, 0.25))
            process.kill()
        now = dict(scan(tmp_path))
        assert [str(cell) for cell in now.values() if isinstance(cell, Exception)] == []
        assert seen <= set(now)  # what was there once never goes, not even in the middle of a replacement
        seen = set(now)
    sweep(tmp_path)
    assert names(tmp_path) == []
    assert set(dict(scan(tmp_path))) == seen
    assert seen


def test_a_reader_never_sees_a_replacement_half_done(tmp_path):
    commit(tmp_path, ID, record(), FILES)
    stop, problems = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                if read_cell(tmp_path, ID).files not in (FILES, OTHER_FILES):
                    problems.append("a mixture")
            except Exception as error:
                problems.append(repr(error))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(100):
        commit(tmp_path, ID, record(turn=turn), OTHER_FILES if turn % 2 else FILES, replace=True)
    stop.set()
    reader.join()
    assert problems == []


@pytest.mark.parametrize("replace", [False, True])
def test_the_run_that_is_first_wins(tmp_path, monkeypatch, replace):
    commit(tmp_path, cell_id({}), {"key": {}, "outcome": "ok"}, {})
    if replace:
        commit(tmp_path, ID, record(outcome="error"), {})
    real_rename = os.rename

    def rename(source, target):
        if source.name.startswith(".unfinished"):
            monkeypatch.setattr(os, "rename", real_rename)
            assert commit(tmp_path, ID, record(), FILES, replace=replace)
        real_rename(source, target)

    monkeypatch.setattr(os, "rename", rename)
    assert not commit(tmp_path, ID, record(), OTHER_FILES, replace=replace)
    assert read_cell(tmp_path, ID).files == FILES
    assert names(tmp_path) == []


def test_a_replacement_that_ends_while_it_is_looked_for_is_found(tmp_path, monkeypatch):
    commit(tmp_path, ID, record(), FILES)
    real_exists, answers = os.path.lexists, iter([False])
    monkeypatch.setattr(os.path, "lexists", lambda path: next(answers, None) is not False and real_exists(path))
    assert read_cell(tmp_path, ID).files == FILES


def test_a_cell_set_aside_is_whole_as_long_as_readers_may_take_it(tmp_path, monkeypatch):
    removed, real_remove = [], shutil.rmtree

    def remove(path, **named):
        removed.append(path.name.split("~")[0])
        real_remove(path, **named)

    monkeypatch.setattr(shutil, "rmtree", remove)
    for files in (FILES, OTHER_FILES):
        commit(tmp_path, ID, record(), files, replace=True)
    assert removed == [".unfinished"]


def test_two_runs_that_store_the_same_cells_at_once_leave_whole_ones(tmp_path):
    runs = [subprocess.Popen([sys.executable, "-c", LOOP, tmp_path], stdout=subprocess.PIPE) for _ in range(2)]
    for run in runs:
        run.stdout.readline()
    time.sleep(0.5)
    assert [run.poll() for run in runs] == [None, None]
    for run in runs:
        run.kill()
        run.communicate()
    found = dict(scan(tmp_path))
    assert found
    assert [str(cell) for cell in found.values() if isinstance(cell, Exception)] == []
