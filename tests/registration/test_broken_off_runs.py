"""Runs that are refused, stopped or killed: what an honest one leaves intact, and what a dishonest one cannot hide."""

import errno
import json
import os
import signal

import pytest
from cli.command import command
from registration.studies import DEVIATION, INCOMPLETE, TAMPERED, improved, project

from aacbench.errors import StoreError
from aacbench.prereg import ledger
from aacbench.prereg.binding import bind
from aacbench.prereg.ledger import append, read_ledger
from aacbench.prereg.schema import read_registration
from aacbench.protocols import to_toml
from aacbench.run import driver
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.layout import cell_id
from aacbench.run.store import commit
from aacbench.util import atomic_io

AGAIN = "Run again after it failed or with other results"


def standings(record):
    return {one["standing"] for one in record["predictions"]}


def events(registered):
    return [line.event for line in registered.entries() if line.event != "cell"]


# Refused starts.


@pytest.fixture
def unbound(locked):
    """The folder of the study, with the same cells run without the registration."""
    protocol = locked.root / "free.toml"
    protocol.write_text(to_toml(read_registration(locked.toml).study), encoding="utf-8")
    assert command("run", "--protocol", protocol, "--workers", 1, "--out", locked.study) == 0
    return locked


def test_a_folder_with_cells_of_other_runs_is_refused(unbound, capsys):
    before = sorted(unbound.study.rglob("*"))
    assert unbound.run() == 2
    assert "contains cells of other runs" in capsys.readouterr().err
    assert events(unbound) == ["lock"]
    assert sorted(unbound.study.rglob("*")) == before  # no note either


def test_a_folder_of_another_ledger_is_refused(done, tmp_path_factory, capsys):
    other = project(tmp_path_factory.mktemp("other"))
    assert other.call("lock") == 0
    assert other.call("run", "--out", done.study) == 2
    assert "belongs to the ledger" in capsys.readouterr().err
    assert events(other) == ["lock"]


def test_another_public_text_is_refused(seeded_run, tmp_path, capsys):
    made = seeded_run.copy(tmp_path)
    lines = len(made.entries())
    assert made.call("run", "--out", tmp_path / "again", "--public", "beacon 4712") == 4
    assert "differs from the lock in queries" in capsys.readouterr().err
    assert len(made.entries()) == lines
    assert not (tmp_path / "again").exists()


def test_a_full_disk_before_the_start_leaves_no_line(locked, monkeypatch):
    def full(*_):
        raise StoreError("The disk is full.")

    monkeypatch.setattr(driver, "write_plan", full)
    assert locked.run() == 2
    assert events(locked) == ["lock"]


def aborted_start(registered, study):
    """The lines of a start that was refused after it had been written, as an earlier version left them."""
    bound = bind(registered.files)
    facts = {"lock": bound.lock.digest, "study": study, "code": "0" * 64}
    start = append(registered.files.ledger, "run_start", "small", facts)
    facts = {"lock": bound.lock.digest, "start": start.digest, "reason": "UsageError"}
    append(registered.files.ledger, "abort", "small", facts)


def test_a_start_without_cells_leaves_the_verdict_what_it_was(locked, run_study, verified):
    foreign = run_study.copy(locked.root / "foreign")
    aborted_start(locked, os.path.relpath(foreign.study, locked.files.folder))
    locked.simulate_run(run_study)
    record = verified(locked)
    assert standings(record) == {"confirmatory"}
    assert "recorded 0 cells, and was aborted in line 3: UsageError" in record["events"][0]
    assert "recorded 5 cells, and ended in line 10" in record["events"][1]


def test_an_amendment_after_a_start_without_cells_stays_confirmatory(locked, run_study, verified):
    aborted_start(locked, "../studies/small")
    locked.edit("high = 20", "high = 40")
    assert locked.call("amend", "--reason", "wider") == 0
    assert locked.line("amend").facts["seen"] is False
    locked.simulate_run(run_study)
    assert standings(verified(locked)) == {"confirmatory"}


# Runs that were broken off.


def broken_off(locked, run_study, count=3):
    """A run that was killed after some cells; their ids."""
    run = locked.begin_run(run_study)
    return [locked.store(run, cell) for cell in run_study.cells()[:count]]


def test_a_cell_is_recorded_before_it_is_stored(locked, monkeypatch):
    recorded = []

    def store(root, name, *rest, **options):
        recorded.append(name in {line.facts.get("cell") for line in locked.entries()})
        return commit(root, name, *rest, **options)

    monkeypatch.setattr(driver, "commit", store)
    assert locked.run() == 0
    assert recorded == [True] * 5


def test_cells_of_a_killed_run_deleted_and_run_again(locked, run_study, verified):
    name, *_ = broken_off(locked, run_study)
    locked.delete(next(cell for cell in locked.cells() if cell.cell_id == name))
    assert "it was deleted, or the run was killed at that moment" in str(verified(locked, INCOMPLETE)["checks"])
    locked.simulate_run(run_study)
    record = verified(locked)
    assert standings(record) == {"confirmatory"}  # the results are the same
    assert any("Recorded, then missing" in one for one in record["notes"])


def test_cells_of_a_killed_run_run_again_until_they_please(locked, run_study, verified):
    run = locked.begin_run(run_study)
    for cell in run_study.cells():
        locked.store(run, cell)
    worse = locked.cells("random-subset")[0]
    locked.delete(worse)
    again = locked.begin_run(run_study)
    rows = {**worse.files, "queries.csv": improved(worse.files["queries.csv"])}
    again.enter(worse.cell_id, worse.record, rows)
    commit(locked.study, worse.cell_id, worse.record, rows)
    again.end()
    record = verified(locked, DEVIATION)
    assert standings(record) == {"exploratory"}
    assert any(
        note.startswith("Run again after it failed or with other results: random-subset on grid-8")
        for note in record["notes"]
    )


def failed_and_tried_again(registered, run_study):
    run = registered.begin_run(run_study)
    for cell in run_study.cells():
        failed = cell.key["label"] == "random-subset" and cell.key["seed"] == 2
        registered.store(run, cell, **({"outcome": "error", "reason": "unlucky"} if failed else {}))
    run.end()
    again = registered.begin_run(run_study)
    registered.store(again, next(cell for cell in run_study.cells("random-subset") if cell.key["seed"] == 2))
    again.end()


def test_a_failed_seed_tried_until_it_was_ok(locked, run_study, verified):
    failed_and_tried_again(locked, run_study)
    record = verified(locked)
    assert standings(record) == {"exploratory"}
    place = "random-subset on grid-8 at 16 B/v, seed 2"
    first = next(line.number for line in locked.entries() if line.facts.get("outcome") == "error")
    assert (
        f"Run again after it failed or with other results: {place}: error in line {first}, then ok in line 10."
        in record["notes"]
    )


def test_a_failed_seed_tried_again_as_the_lock_allowed(tmp_path, run_study, verified):
    made = project(tmp_path, reruns=("seeds = [1, 2, 3]", "seeds = [1, 2, 3]\nreruns = 1"))
    assert made.call("lock") == 0
    failed_and_tried_again(made, run_study)
    record = verified(made)
    assert standings(record) == {"confirmatory"}
    assert any("ok in line 10 (the lock allows it)" in note for note in record["notes"])


def test_a_cell_under_the_lock_that_no_open_run_recorded(locked, run_study, verified):
    broken_off(locked, run_study)
    other = run_study.cells()[-1]
    key = {**other.key, "lock": locked.line("lock").facts["lock"]}
    commit(locked.study, cell_id(key), {**other.record, "key": key, "lock": key["lock"]}, other.files)
    assert "has the lock, but no run recorded it" in str(verified(locked, TAMPERED)["checks"])


def test_cells_kept_from_a_run_whose_lines_were_cut_off(done, verified):
    """The ledger cut, the note removed, and the same command again, which keeps what is there."""
    done.write_lines(done.lines()[:1])
    (done.study / NOTE).unlink()
    assert done.run() == 0
    assert "no run recorded it when it was made" in str(verified(done, TAMPERED)["checks"])


def test_a_moved_study_is_found_although_the_last_start_was_elsewhere(done, capsys):
    aborted_start(done, "../studies/nowhere")
    done.study.rename(done.root / "moved")
    assert done.call("verify", "--study", done.root / "moved") == 0


def test_each_public_text_is_told(seeded_run, tmp_path, verified):
    made = seeded_run.copy(tmp_path)
    assert "a run began with the public text 'beacon 4711', recorded 5 cells" in verified(made)["events"][0]


def test_a_closed_terminal_aborts_the_run(locked, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup

    def hang_up(*_):
        assert signal.getsignal(signal.SIGHUP) is signal.default_int_handler  # otherwise it would end the tests
        os.kill(os.getpid(), signal.SIGHUP)

    monkeypatch.setattr(driver, "_execute", hang_up)
    try:
        assert locked.run() == 1
    finally:
        signal.signal(signal.SIGHUP, before)
    assert events(locked) == ["lock", "run_start", "abort"]
    assert locked.entries()[-1].facts["reason"] == "stopped by a signal"


def test_a_run_after_nohup_goes_on(locked, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(driver, "_execute", lambda *_: os.kill(os.getpid(), signal.SIGHUP))
    try:
        locked.run()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert events(locked) == ["lock", "run_start", "run_end"]


def test_an_honest_session_with_every_kind_of_break(locked, unbound_beside, monkeypatch, verified):
    """A refused start, a Ctrl-C, a full disk, an aborted run; then the run ends."""
    assert locked.call("run", "--out", unbound_beside) == 2
    for failure in (KeyboardInterrupt(), StoreError("The disk is full."), RuntimeError("a broken pipe")):
        stop_at_second_cell(locked, monkeypatch, failure)
    assert locked.run() == 0
    record = verified(locked)
    assert standings(record) == {"confirmatory"}
    told = " ".join(record["events"])
    assert "was aborted in line 5: stopped by a signal" in told
    assert "and did not end: it was killed, the disk was full, or it is still running" in told
    assert "RuntimeError: a broken pipe" in told
    assert told.count("a run began") == 4


@pytest.fixture
def unbound_beside(locked, tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    (folder / "something.txt").write_text("not a study")
    return folder


def stop_at_second_cell(locked, monkeypatch, failure):
    """Run until the second cell is to be stored; on a full disk, no further line can be written either."""
    stored = []

    def store(root, name, *rest, **options):
        if stored:
            raise failure
        stored.append(name)
        return commit(root, name, *rest, **options)

    def write(descriptor, data):
        if stored and isinstance(failure, StoreError):
            os.write(descriptor, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(descriptor, data)

    whole = atomic_io.write_all
    with monkeypatch.context() as patched:
        patched.setattr(driver, "commit", store)
        patched.setattr(atomic_io, "write_all", write)
        if isinstance(failure, RuntimeError):
            with pytest.raises(RuntimeError, match="a broken pipe"):
                locked.run()
        else:
            assert locked.run() == (1 if isinstance(failure, KeyboardInterrupt) else 2)


# The ledger on a full disk.


def tear(path):
    """Leave the first half of a line, as a killed process would."""
    half = path.read_bytes().splitlines()[0][:40]
    with path.open("ab") as file:
        file.write(half)


def test_a_line_that_does_not_fit_on_the_disk_is_taken_back(locked, monkeypatch, capsys):
    before = locked.files.ledger.read_bytes()

    def write(descriptor, data):
        os.write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(atomic_io, "write_all", write)
        assert locked.call("close", "--reason", "done") == 2
    assert "The disk of" in capsys.readouterr().err
    assert locked.files.ledger.read_bytes() == before
    assert locked.call("close", "--reason", "done") == 0


@pytest.mark.parametrize("verb", ["lock", "amend"])
def test_a_lock_that_does_not_fit_on_the_disk_leaves_nothing(draft, monkeypatch, verb):
    if verb == "amend":
        assert draft.call("lock") == 0
        draft.edit("high = 20", "high = 40")

    def write(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(draft.files.folder.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(atomic_io, "write_all", write)
        assert draft.call(verb, *(("--reason", "wider") if verb == "amend" else ())) == 2
    assert [path for path in sorted(draft.files.folder.iterdir()) if path.name != "ledger.jsonl"] == [
        path for path in before if path.name != "ledger.jsonl"
    ]
    assert draft.call(verb, *(("--reason", "wider") if verb == "amend" else ())) == 0


def test_a_torn_line_is_named_and_repaired(done, verified):
    tear(done.files.ledger)
    record = verified(done)
    assert record["events"][-1].startswith("The last line of the ledger has no end")
    assert done.call("status") == 0
    assert done.call("close", "--reason", "done") == 0
    found = read_ledger(done.files.ledger)
    assert (found.problems, found.torn, found.entries[-1].event) == ([], False, "close")
    verified(done)


def test_a_torn_line_during_a_run_is_repaired_by_the_next(locked, run_study, verified):
    run = locked.begin_run(run_study)
    cells = run_study.cells()
    locked.store(run, cells[0])
    tear(locked.files.ledger)
    for cell in cells[1:]:
        locked.store(run, cell)
    run.end()
    assert standings(verified(locked)) == {"confirmatory"}


def test_the_note_of_a_study_stays_short(run_study):
    noted = json.loads((run_study.study / NOTE).read_bytes())["lines"]
    assert [line["event"] for line in noted] == ["run_start", "run_end"]


def test_many_cells_are_entered_without_reading_the_ledger_again(locked, run_study, monkeypatch):
    run = locked.begin_run(run_study)
    cells = run_study.cells()
    locked.store(run, cells[0])
    monkeypatch.setattr(ledger, "parse", None)
    cell = cells[1]
    run.enter(cell.cell_id, cell.record, cell.files)
