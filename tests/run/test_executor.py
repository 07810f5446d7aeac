"""Workers: what a job of one kind leaves behind never meets a job of another."""

import os
import tempfile
import time

import psutil

from aacbench.run.executor import GIB, Limits, run_cells

LIMITS = Limits(600, 4 * GIB)


def who(job):
    return os.getpid(), tempfile.gettempdir()


def child(job):
    import subprocess

    return subprocess.Popen(["sleep", "600"]).pid


def test_a_worker_that_served_one_kind_serves_no_other():
    jobs = ["", "", "a", "a", "b", ""]
    answers = [(job, *answer) for job, answer in run_cells(who, jobs, 1, LIMITS, kind=str)]
    pids = [pid for _, pid, _ in answers]
    assert pids[0] == pids[1] == pids[2] == pids[3]  # a clean worker may take what comes first
    assert len({pids[3], pids[4], pids[5]}) == 3
    assert len({folder for _, _, folder in answers}) == 1
    assert not os.path.exists(answers[0][2])  # noqa: PTH110


def test_what_a_job_started_ends_with_the_workers():
    ((_, pid),) = run_cells(child, ["job"], 1, LIMITS)
    deadline = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie":
        assert time.monotonic() < deadline
