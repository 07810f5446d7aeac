"""`aacbench run` in a process group of its own, for tests that kill it, stop it or starve it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from cli.command import command
from stored_cells import read_events

from aacbench.run.store import Cell, scan

FAULTS = ("--plugin", str(Path(__file__).parents[1] / "plugins" / "fault_methods.py"))
SIZES = ("--graphs", "grid-8", "--budgets", "16", "--seeds", "1,2,3,4,5,6", "--queries", "6/5", "--workers", "2")
TIMES = ("seconds", "pool_seconds", "rss_before", "peak_rss")
PATIENCE = 120  # seconds, for what happens at once unless the machine is busy


def started(root: Path, methods: str, *more: str, temporary: Path | None = None) -> subprocess.Popen:
    """The command, begun."""
    environment = {**os.environ} if temporary is None else {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(
        [sys.executable, "-m", "aacbench", *_words(root, methods, *more)],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "AACBENCH_TEST_STUDY": str(root)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # it may come ignored from whoever runs us
    )


def _words(root: Path, methods: str, *more: str) -> list[str]:
    return ["run", "--methods", methods, *SIZES, "--out", str(root), *more]


def completed(root: Path, methods: str, *more: str, temporary: Path | None = None) -> tuple[int, str]:
    """Its exit code and what it said on the error stream, once it is done."""
    return ended(started(root, methods, *more, temporary=temporary))


def ended(process: subprocess.Popen) -> tuple[int, str]:
    """Its exit code and what it said besides how far it was, once it is done."""
    said = process.communicate()[1]
    return process.returncode, _without_progress(said)


def completed_here(root: Path, methods: str, *more: str, capfd) -> tuple[int, str]:
    """The same of the command in this process, which is quicker: most of its time is the start."""
    code = command(*_words(root, methods, *more))
    return code, _without_progress(capfd.readouterr().err)


def _without_progress(said: str) -> str:
    return "\n".join(line for line in said.splitlines() if not re.match(r" *\d+\.\d s ", line))


def processes(root: Path) -> list[psutil.Process]:
    """Everything alive that was started by commands on this study, however often forked or orphaned."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("AACBENCH_TEST_STUDY") == str(root) and process.status() != "zombie":
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_for(condition) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_for_changes(root: Path, count: int, process: subprocess.Popen) -> None:
    """Wait until the folders of cells have changed so often, or the command is done."""
    before, seen = None, -1
    while seen < count and process.poll() is None:
        now = {folder.name: folder.stat().st_mtime_ns for folder in root.glob("cells/*")}
        seen, before = seen + (now != before), now
        time.sleep(0.0002)


def finished(root: Path) -> int:
    """How many cells the runs of a study have finished."""
    return sum(event["event"] == "cell" for run in root.glob("runs/*") for event in read_events(run))


def store(root: Path) -> dict[str, tuple]:
    """Every cell, all of which must be sound, without what differs from run to run: times and peak memory."""
    found = {}
    for name, cell in scan(root):
        assert isinstance(cell, Cell), cell
        build = {key: value for key, value in cell.record.get("build", {}).items() if key not in TIMES}
        found[name] = ({**cell.record, "build": build}, dict(cell.files))
    return found


def leftovers(root: Path) -> list[str]:
    """Unfinished or set aside folders and files, and locks, anywhere in a study."""
    marks = (".unfinished", ".replaced-")
    left = [path for path in root.rglob("*") if path.name.startswith(marks) or path.parent.name == "locks"]
    return sorted(str(path.relative_to(root)) for path in left)
