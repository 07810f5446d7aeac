"""What a worker of a cluster does: run each task in child processes of its own, under the limits of a local run.

A task is a chain of links. Each link runs in a child of a pool with one worker, so that a build and a measuring never
share a process. The worker itself imports nothing heavy and runs no method's code.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import util
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from aacbench.errors import AacbenchError
from aacbench.processes.pool import Limits, Pool, run_all
from aacbench.processes.versions import difference, versions
from aacbench.processes.worker import Failure
from aacbench.util.atomic_io import fill_folder, storing
from aacbench.util.cleanup import this_host
from aacbench.util.shared_folder import shared_folder

STARTED = ""  # the text of the event that a worker begins a task
IDLE_SECONDS = 600.0  # of a run, before a worker ends the children that it keeps for it: its client may be dead


@dataclass(frozen=True, slots=True)
class Link:
    """A step of a task: the function by its address, called with the payload and the folder of the run.

    It returns the link that follows, what it is Missing, or what the task comes to as Finished.
    """

    function: str
    payload: bytes
    kind: str
    seconds: float
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """The folders that a task needs on its worker and that the client must send."""

    places: tuple[str, ...]
    worker: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a task comes to, and the files of the folder that it leaves in the run's, if any."""

    result: bytes
    place: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    def packed(self, folder: Path) -> "Finished":
        """With its files, read by the worker itself: a pipe from its child would copy them twice."""
        if not self.place:
            return self
        return replace(self, files={path.name: path.read_bytes() for path in (folder / self.place).iterdir()})


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a worker runs no task of this run."""

    reason: str


@dataclass(frozen=True, slots=True)
class Task:
    """A chain of links by its first, with the run that it belongs to and the versions of the client."""

    run: str
    name: str
    versions: Mapping[str, str]
    limits: Limits
    link: Link


Answer = Finished | Failure | Missing | Refused


def run_task(task: Task) -> Answer:
    """Run a task, in a thread of a dask worker."""
    from distributed import get_worker

    worker = get_worker()
    if differs := difference(task.versions, versions()):
        return Refused(f"The worker {worker.address} on {this_host()} joined with other versions: {differs}")

    def tell(text: str) -> None:
        worker.log_event(task.run, {"task": task.name, "text": text, "worker": worker.address})

    tell(STARTED)
    try:
        run = _run_of(task.run, Path(worker.local_directory).parent)
        with run.slot(task.limits) as slot:
            answer = slot.done(task.link, tell)
        if isinstance(answer, Finished):
            with storing(run.folder):
                answer = answer.packed(run.folder)
    except AacbenchError as error:  # such as a full disk, which is not the cell's fault
        return Refused(f"The worker {worker.address} on {this_host()} cannot go on: {error}")
    return replace(answer, worker=worker.address) if isinstance(answer, Missing) else answer


def receive(run: str, place: str, files: Mapping[str, bytes], dask_worker: Any) -> None:
    """Keep what the client sent, for every worker on this machine; dask gives the worker."""
    folder = _run_of(run, Path(dask_worker.local_directory).parent).folder
    with storing(folder):
        fill_folder(folder / place, files)


def end_run(run: str) -> None:
    """End what is under way for a run, and remove its folder."""
    with _LOCK:
        found, _RUNS[run] = _RUNS.get(run), None
    if found is not None:
        found.end()


class _Slot:
    """A pool with one worker, which goes from task to task."""

    def __init__(self, limits: Limits, folder: Path) -> None:
        self._folder, self._limits = folder, limits
        self._heard: Callable[[str], None] = lambda _: None
        self.pool = Pool(_call, 1, limits, _kind, _seconds, lambda _, text: self._heard(text))

    def done(self, link: Link, heard: Callable[[str], None]) -> Any:
        """What the chain of links comes to; `heard` is called with what a child says of its progress."""
        self._heard = heard
        answer: Any = link
        while isinstance(answer, Link):
            job = answer, self._folder
            if answer.fresh:
                ((_, answer),) = run_all(_call, [job], 1, self._limits, fresh=True)
            else:
                ((_, answer),) = self.pool.run([job])
        return answer


def _call(job: tuple[Link, Path]) -> Any:
    """Do a link, in a child."""
    link, folder = job
    return resolve_name(link.function)(link.payload, folder)


def _kind(job: tuple[Link, Path]) -> str:
    return job[0].kind


def _seconds(job: tuple[Link, Path]) -> float:
    return job[0].seconds


@dataclass(eq=False)
class _Run:
    """What this worker keeps for a run: a folder, shared with other workers on its machine, and a pool per thread."""

    parent: Path
    name: str
    folder: Path = field(init=False)
    _idle: list[_Slot] = field(default_factory=list)
    _busy: list[_Slot] = field(default_factory=list)
    _folders: ExitStack = field(default_factory=ExitStack)
    _ended: bool = False
    _timer: threading.Timer | None = None

    def __post_init__(self) -> None:
        self.folder = self._folders.enter_context(shared_folder(self.parent, self.name))
        self._wait()

    @contextmanager
    def slot(self, limits: Limits) -> Iterator[_Slot]:
        with _LOCK:
            slot = self._idle.pop() if self._idle else _Slot(limits, self.folder)
            self._busy.append(slot)
            self._wait()
        sound = False
        try:
            yield slot
            sound = True
        finally:
            with _LOCK:
                self._busy.remove(slot)
                self._idle += [slot] if sound else []
                self._wait()
            if not sound:
                slot.pool.__exit__()
            if self._ended:
                self._close()

    def end(self) -> None:
        self._ended = True
        for slot in self._busy.copy():
            slot.pool.interrupt()
        self._close()

    def _close(self) -> None:
        """Close what is not busy; the last to leave its slot closes the rest."""
        with _LOCK:
            idle, self._idle = self._idle, []
            last = not self._busy
            self._wait()
        for slot in idle:
            slot.pool.__exit__()
        if last:
            self._folders.close()

    def _wait(self) -> None:
        """Begin to count the time without work, or stop counting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._busy and not self._ended:
            self._timer = threading.Timer(IDLE_SECONDS, _forget, [self])
            self._timer.daemon = True
            self._timer.start()


_RUNS: dict[str, _Run | None] = {}  # None for one that has ended: a task may come late
_LOCK = threading.RLock()


def _run_of(name: str, parent: Path) -> _Run:
    with _LOCK:
        if name not in _RUNS:
            _prepare()
            _RUNS[name] = _Run(parent, name)
        found = _RUNS[name]
    if found is None:
        raise AacbenchError("The run has ended.")
    return found


def _forget(run: _Run) -> None:
    with _LOCK:
        if run._busy or _RUNS.get(run.name) is not run:
            return
        del _RUNS[run.name]
    run.end()


def _prepare() -> None:
    """Let this process have children, and end them before multiprocessing waits for them at its exit."""
    multiprocessing.current_process().daemon = False  # dask starts its workers as daemons, which may have none
    os.environ.pop("MALLOC_TRIM_THRESHOLD_", None)  # dask's, for its own memory; it makes large arrays slow
    if not _FINALIZERS:
        _FINALIZERS.append(util.Finalize(None, _end_all, exitpriority=100))


_FINALIZERS: list[Any] = []


def _end_all() -> None:
    for name in list(_RUNS):
        end_run(name)
