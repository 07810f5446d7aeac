"""A study folder as a whole: plan, run logs, locks, `--existing`, summary."""

import fcntl
import itertools
import json
import os
import subprocess
import sys
import threading

import pytest
import small_studies as studies
from stored_cells import read_events

from aacbench.errors import DamagedCellError, DataError, StoreError, UsageError
from aacbench.run.events import new_log
from aacbench.run.layout import cell_folder, cell_id
from aacbench.run.records import OUTCOMES
from aacbench.run.store import commit, decide, state_of
from aacbench.run.study import check_folder, protocol_digest, read_plan, read_study, summary, write_plan
from aacbench.util.file_lock import file_lock


def stored(root, number, outcome="ok"):
    key = {"seed": number}
    commit(root, cell_id(key), {"key": key, "outcome": outcome}, {"queries.csv": b"query\n"})
    return cell_id(key)


def test_a_plan_is_kept_and_may_grow(tmp_path):
    root = tmp_path / "deep" / "study"
    assert read_plan(root) is None
    write_plan(root, {"protocol_digest": "one", "cells": []})
    write_plan(root, {"protocol_digest": "one", "cells": [cell_id({})], "budget": 32.0})
    assert read_plan(root) == {"protocol_digest": "one", "cells": [cell_id({})], "budget": 32}


def test_another_study_in_the_folder_is_refused(tmp_path):
    write_plan(tmp_path, {"protocol_digest": "one", "cells": []})
    with pytest.raises(UsageError, match="--out"):
        write_plan(tmp_path, {"protocol_digest": "two", "cells": []})
    assert read_plan(tmp_path)["protocol_digest"] == "one"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": []}', '{"cells": [[]], "protocol_digest": "x"}'])
def test_a_damaged_plan_is_named(tmp_path, text):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(DataError, match=r"plan\.json"):
        read_plan(tmp_path)


def test_a_plan_that_was_edited_is_told(tmp_path):
    write_plan(tmp_path, {"protocol_digest": "x", "cells": [], "study": {"analysis": "crossed/1"}})
    file = tmp_path / "plan.json"
    file.write_text(file.read_text().replace("crossed/1", "paper/1"))
    with pytest.raises(DataError, match=r"plan\.json is damaged: it changed since it was written"):
        read_plan(tmp_path)


def test_the_summary_counts_what_is_planned(tmp_path):
    here = [stored(tmp_path, i, outcome) for i, outcome in enumerate(["ok", "ok", "wrong", "timeout", "ok"])]
    (cell_folder(tmp_path, here[4]) / "queries.csv").write_bytes(b"other")
    absent = cell_id({"seed": 99})
    write_plan(tmp_path, {"protocol_digest": "x", "cells": [*here[1:], absent]})
    found = summary(tmp_path)
    assert found == read_study(tmp_path).summary()
    assert found.outcomes == {"ok": 1, "timeout": 1, "wrong": 1}  # one that is ok is in no plan
    assert list(found.damaged) == [here[4]]
    assert "queries.csv" in found.damaged[here[4]]
    assert (found.planned, found.missing, found.unplanned) == (5, (absent,), (here[0],))


def test_a_folder_that_is_no_study_has_an_empty_summary(tmp_path):
    found = summary(tmp_path / "nothing")
    assert (found.outcomes, found.damaged, found.planned, found.missing, found.unplanned) == ({}, {}, 0, (), ())


def test_existing_as_documented():
    states = ("missing", "ok", "failed", "damaged")
    table = {mode: [decide(mode, state) for state in states] for mode in ("keep", "retry-failed", "verify", "replace")}
    assert table == {
        "keep": ["run", "skip", "skip", "run"],
        "retry-failed": ["run", "skip", "run", "run"],
        "verify": ["run", "skip", "skip", "report"],
        "replace": ["run", "run", "run", "run"],
    }


def test_states():
    states = {outcome: state_of(outcome) for outcome in OUTCOMES}
    assert [outcome for outcome, state in states.items() if state == "ok"] == ["ok", "unsupported"]
    assert set(states.values()) == {"ok", "failed"}
    assert (state_of(None), state_of(DamagedCellError(""))) == ("missing", "damaged")


def test_a_run_log(tmp_path):
    log = new_log(tmp_path, {"workers": 2, "seeds": (1, 2)}).begin()
    assert json.loads((log.folder / "run.json").read_text())["facts"] == {"workers": 2, "seeds": [1, 2]}
    log.event("cell", cell="abc", outcome="ok")
    log.event("stop")
    log.finish({"ok": 1})
    record = json.loads((log.folder / "run.json").read_text())
    assert record["summary"] == {"ok": 1}
    assert record["started"] <= record["finished"]
    assert [event["event"] for event in read_events(log.folder)] == ["cell", "stop"]
    assert new_log(tmp_path, {}).begin().folder != log.folder
    assert read_events(new_log(tmp_path, {}).begin().folder) == []


def test_an_event_that_could_not_be_written_spoils_no_other(tmp_path, monkeypatch):
    log = new_log(tmp_path, {}).begin()
    log.event("one")
    real_write = os.write

    def half(descriptor, data):
        real_write(descriptor, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(StoreError, match="full"):
            log.event("two")
    log.event("three")
    assert [event["event"] for event in read_events(log.folder)] == ["one", "three"]


def test_a_lock_is_exclusive_and_leaves_nothing(tmp_path):
    name = cell_id({})
    other_name = cell_id({"other": 1})
    with (
        file_lock(tmp_path, name) as mine,
        file_lock(tmp_path, name) as again,
        file_lock(tmp_path, other_name) as other,
    ):
        assert (mine, again, other) == (True, False, True)
    with file_lock(tmp_path, name) as mine:
        assert mine
    assert list((tmp_path / "locks").iterdir()) == []


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = (
        "import pathlib, sys, time\nfrom aacbench.util.file_lock import file_lock\n"
        "with file_lock(pathlib.Path(sys.argv[1]), 'x'):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        with file_lock(tmp_path, "x") as mine:
            assert not mine
        process.kill()
    with file_lock(tmp_path, "x") as mine:
        assert mine


def test_a_lock_removed_before_it_was_ours_is_taken_anew(tmp_path, monkeypatch):
    real_lock, calls = fcntl.flock, itertools.count()

    def lock(descriptor, operation):
        if next(calls) == 0:  # its last holder lets go between our opening and our locking
            (tmp_path / "locks" / "x").unlink()
        real_lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock)
    with file_lock(tmp_path, "x") as mine, file_lock(tmp_path, "x") as again:
        assert (mine, again) == (True, False)


def test_waiting_locks_never_overlap(tmp_path):
    inside, overlaps, turns = [], [], itertools.count()

    def work():
        for _ in range(25):
            with file_lock(tmp_path, "x", wait=True):
                inside.append(1)
                overlaps.append(len(inside))
                next(turns)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(overlaps) == {1}
    assert next(turns) == 100


@pytest.mark.parametrize(
    ("names", "refused"),
    [((), False), (("cells", "locks"), False), (("registration.json",), False), ((".hidden",), False),
     (("thesis",), True), (("cells", "thesis"), True)],
)  # fmt: skip
def test_a_folder_with_other_things_in_it_is_no_place_for_a_study(tmp_path, names, refused):
    for name in names:
        (tmp_path / name).mkdir()
    if not refused:
        check_folder(tmp_path, studies.study("alt"))
        return
    with pytest.raises(UsageError, match="contains other files, such as thesis; choose a new folder with --out"):
        check_folder(tmp_path, studies.study("alt"))


def test_a_study_may_have_other_things_beside_it_but_not_another_study_in_its_folder(tmp_path):
    mine, other = studies.study("alt"), studies.study("random-subset")
    write_plan(tmp_path, {"protocol_digest": protocol_digest(mine), "cells": []})
    (tmp_path / "thesis").mkdir()
    check_folder(tmp_path, mine)
    with pytest.raises(UsageError, match="contains another study; choose another folder with --out"):
        check_folder(tmp_path, other)
