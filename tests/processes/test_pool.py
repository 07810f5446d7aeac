"""Workers: what a job of one kind leaves behind never meets a job of another."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from multiprocessing.context import ForkServerProcess, SpawnProcess
from pathlib import Path

import numpy as np
import psutil
import pytest

from aacbench.processes.pool import GIB, Limits, Pool, run_all
from aacbench.processes.worker import Failure, begin_step

LIMITS = Limits(600, 4 * GIB)


def who(job):
    return os.getpid(), tempfile.gettempdir()


def child(job):
    return subprocess.Popen(["sleep", "600"]).pid


def child_and_die(note):
    pid = subprocess.Popen(["sh", "-c", "sleep 600 & wait"], process_group=0).pid
    Path(note).write_text(str(pid))
    os.kill(os.getpid(), signal.SIGKILL)


def die_by(way):
    os.kill(os.getpid(), way)


def daemon(note):
    """A process twice removed, in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child:
            Path(note).write_text(str(child))
            os._exit(0)
        time.sleep(600)
    os.wait()


def steps(job):
    begin_step("first")
    begin_step("second")
    if job == "dies":
        os._exit(4)
    if job == "hangs":
        time.sleep(600)
    raise MemoryError


def test_a_worker_that_served_one_kind_serves_no_other():
    jobs = ["", "", "a", "a", "b", ""]
    answers = [(job, *answer) for job, answer in run_all(who, jobs, 1, LIMITS, kind=str)]
    pids = [pid for _, pid, _ in answers]
    assert pids[0] == pids[1] == pids[2] == pids[3]  # a clean worker may take what comes first
    assert len({pids[3], pids[4], pids[5]}) == 3
    assert len({folder for _, _, folder in answers}) == 1
    assert not os.path.exists(answers[0][2])  # noqa: PTH110


def test_workers_are_started_when_there_is_work_for_them():
    with Pool(who, 500, LIMITS) as pool:
        assert len(list(pool.run(["", ""]))) == 2
        assert len(pool._workers) <= 2


def numbers(job):
    return random.random(), np.random.random(), os.getcwd(), os.environ["NOTE"]  # noqa: PTH109


@pytest.mark.parametrize("fresh", [False, True])
def test_workers_share_no_random_state_and_are_where_their_pool_is(tmp_path, monkeypatch, fresh):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOTE", str(tmp_path))
    answers = [answer for _, answer in run_all(numbers, ["a", "b"], 1, LIMITS, kind=str, fresh=fresh)]
    assert len({number for answer in answers for number in answer[:2]}) == 4
    assert {answer[2:] for answer in answers} == {(str(tmp_path), str(tmp_path))}


def test_a_folder_of_temporary_files_with_a_long_name_will_do(tmp_path, monkeypatch):
    """The server's socket could not lie in it, so each worker is started by itself."""
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    ((_, (_, inside)),) = run_all(who, ["a"], 1, LIMITS)
    assert inside.startswith(str(folder))
    assert list(folder.iterdir()) == []


def hash_of(text):
    return hash(text)


def hashes_of(text):
    """Here, and in a worker of this worker, as where a command checks a plugin."""
    ((_, below),) = run_all(hash_of, [text], 1, LIMITS)
    return hash(text), below


def test_a_forked_worker_orders_sets_in_another_way():
    """Also under tox, which gives every process the same seed."""
    ((_, (forked, below)),) = run_all(hashes_of, ["text"], 1, LIMITS)
    ((_, fresh),) = run_all(hash_of, ["text"], 1, LIMITS, fresh=True)
    assert len({forked, below, fresh}) == len({forked, below, hash("text")}) == 3


def test_what_a_job_started_ends_with_the_workers():
    ((_, pid),) = run_all(child, ["job"], 1, LIMITS)
    wait_until_gone(pid)


@pytest.mark.parametrize("way", [signal.SIGABRT, signal.SIGSEGV])
def test_a_death_by_a_wrong_access_names_the_way_to_find_it(way):
    ((_, answer),) = run_all(die_by, [way], 1, LIMITS)
    assert answer.reason.startswith(f"The worker process died (signal {way:d}: it ")
    assert answer.reason.endswith("; `NUMBA_BOUNDSCHECK=1 aacbench check NAME` finds an index out of bounds)")


def test_what_a_job_started_ends_when_its_worker_has_died(tmp_path):
    note = tmp_path / "pid"
    ((_, answer),) = run_all(child_and_die, [str(note)], 1, LIMITS)
    assert answer == Failure("error", "The worker process died (signal 9)")
    wait_until_gone(int(note.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who started a process whose starter is gone")
def test_what_left_its_session_ends_with_the_workers_too(tmp_path):
    run_all(daemon, [str(tmp_path / "pid")], 1, LIMITS)
    wait_until_gone(int((tmp_path / "pid").read_text()))


def test_a_failure_names_the_step_its_worker_was_at():
    found = dict(run_all(steps, ["dies", "hangs", "forgets"], 1, replace(LIMITS, seconds=2)))
    assert {job: (answer.outcome, answer.step) for job, answer in found.items()} == {
        "dies": ("error", "second"),
        "hangs": ("timeout", "second"),
        "forgets": ("out-of-memory", "second"),
    }


def wait_until_gone(pid):
    deadline = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie":
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="signals of another process are read from /proc")
def test_an_interrupt_is_held_back_from_a_worker_that_still_starts():
    with Pool(who, 1, LIMITS) as workers:
        worker = workers._worker("")
        status = Path(f"/proc/{worker.process.pid}/status").read_text()
        ((_, answer),) = workers.run([0])
    masks = dict(line.split(":\t", 1) for line in status.splitlines() if line.startswith("Sig"))
    blocked_or_ignored = int(masks["SigBlk"], 16) | int(masks["SigIgn"], 16)
    assert blocked_or_ignored & (1 << (signal.SIGINT - 1))
    assert answer[0] == worker.process.pid


@pytest.mark.parametrize("fresh", [False, True])
def test_a_worker_that_an_interrupt_meets_at_its_start_ends_with_the_others(monkeypatch, fresh):
    kind = SpawnProcess if fresh else ForkServerProcess
    start, started = kind.start, []

    def start_and_interrupt(process):
        start(process)
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "start", start_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_all(who, [0], 1, LIMITS, fresh=fresh)
    assert [process.is_alive() for process in started] == [False]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_worker_that_was_interrupted_before_its_start_is_not_waited_for(monkeypatch, fresh):
    def interrupt(process):
        raise KeyboardInterrupt

    monkeypatch.setattr(SpawnProcess if fresh else ForkServerProcess, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_all(who, [0], 1, LIMITS, fresh=fresh)


SCRIPT = """
from aacbench.processes.pool import Limits, run_all

print("the script begins")
print([run_all(abs, [-3], 1, Limits(), fresh=fresh) for fresh in (False, True)])
"""


def test_a_script_needs_no_guard_because_workers_do_not_run_it(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["the script begins", "[[(-3, 3)], [(-3, 3)]]"], done.stderr
