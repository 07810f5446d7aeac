"""A pool of worker processes with limits of time and memory; the death of a worker is an answer like any other."""

import math
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import connection, forkserver, resource_tracker
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil

from aacbench.errors import AacbenchError, StoreError, UsageError
from aacbench.processes.worker import Failure, Progress, Started, WorkerPlace, end_session, serve
from aacbench.util.atomic_io import storing
from aacbench.util.cleanup import temporary_folder

GIB = 2**30
# Workers are forked from a server that has imported these and done nothing else, so that they start in milliseconds.
PRELOADED = ["aacbench.run.preload", "aacbench.plugins.in_workers"]
_BUSY = object()
_LONGEST_SOCKET_FOLDER = 75  # a socket's path has at most 107 characters, and the server needs some of them
_STARTING = threading.Lock()  # for a process that starts, the environment is changed, which is that of all threads
_END_SECONDS = 5.0  # for a process to be gone whose pipe is closed


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may take."""

    seconds: float = 3600.0
    memory_bytes: int = 8 * GIB


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker process, what it works on, and until when it may."""

    process: Any
    pipe: Any
    kind: str = ""
    busy: bool = False
    job: Any = None
    step: str = ""
    seconds: float = math.inf
    deadline: float = math.inf

    def give(self, job: Any, seconds: float) -> None:
        self.job, self.busy = job, True
        self.seconds, self.deadline = seconds, math.inf  # the clock starts when the worker does
        with suppress(OSError):  # it is dead, which is seen when its answer is waited for
            self.pipe.send(job)

    def kill(self) -> None:
        """End the process and all that it started, also where it has died by itself or never began."""
        if self.process.pid is None:
            self.pipe.close()
            return
        pid, started = self.process.pid, self._started()
        ours = self.process.is_alive() or not psutil.pid_exists(pid)  # else it died, and its number was given away
        self.process.kill()
        self.process.join()
        if ours:
            end_session(pid)
        self.pipe.close()
        for child in started:
            with suppress(psutil.Error):
                child.kill()

    def _started(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []


class Pool:
    """Worker processes that are reused, at most `count` of them at work at once.

    Workers are forked from a clean server process, not from the caller, whose threads and half-held locks they would
    inherit. A job may leave anything behind in its process, such as a thread, so a worker that has had a job of one
    `kind` gets no other kind. `seconds` says how long a job may take. `fresh` workers are interpreters of their own,
    which share nothing with the server, not even the order of sets. Use it as a context, so that no worker stays.
    """

    def __init__(
        self,
        work: Callable[[Any], Any],
        count: int,
        limits: Limits,
        kind: Callable[[Any], str] = lambda _: "",
        seconds: Callable[[Any], float] | None = None,
        progress: Callable[[Any, str], None] = lambda *_: None,
        fresh: bool = False,
    ) -> None:
        self._work, self._count, self._limits, self._kind = work, count, limits, kind
        self._seconds, self._progress = seconds or (lambda _: limits.seconds), progress
        self._fresh = fresh
        self._temporary = ExitStack()
        with storing(Path(tempfile.gettempdir())):
            self.folder = self._temporary.enter_context(temporary_folder())
        if count and not fresh:
            start_server()
        self._workers: list[_Worker] = []  # each is here from before its start until it has ended

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.kill()
        self._temporary.close()

    def interrupt(self) -> None:
        """End what is at work, from another thread; each job is answered by the death of its worker."""
        for worker in self._at_work():
            worker.process.kill()

    def run(self, jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Yield (job, result or Failure) as they finish; jobs are started in order, and taken when a worker is free."""
        coming = iter(jobs)
        return self.run_from(lambda: next(coming, None))

    def run_from(
        self, next_job: Callable[[], Any], answered: Callable[[Any, Any], None] = lambda *_: None
    ) -> Generator[tuple[Any, Any]]:
        """The same with jobs from a function, which returns None while it has none; ends when no worker is busy.

        `answered` is called with a job and its answer before the worker gets its next job, which may follow from them.
        """
        while True:
            self._fill(next_job)
            busy = self._at_work()
            if not busy:
                return
            _await(busy)
            for worker in busy:
                answer = _answer(worker, self._progress)
                if answer is _BUSY:
                    continue
                job, worker.busy = worker.job, False
                if not worker.process.is_alive():
                    self._workers.remove(worker)
                answered(job, answer)
                self._fill(next_job)  # before the answer is yielded, so that no worker waits for the disk
                yield job, answer

    def _at_work(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.busy]

    def _fill(self, next_job: Callable[[], Any]) -> None:
        while len(self._at_work()) < self._count and (job := next_job()) is not None:
            self._worker(self._kind(job)).give(job, self._seconds(job))

    def _worker(self, kind: str) -> _Worker:
        """An idle worker of the kind, or one that had no job yet, or a new one; too many idle ones are ended."""
        idle = [worker for worker in self._workers if not worker.busy]
        for wanted in (kind, ""):
            for worker in idle:
                if worker.kind == wanted:
                    worker.kind = kind
                    return worker
        while idle and len(self._workers) >= 2 * self._count:
            worker = idle.pop(0)
            worker.kill()
            self._workers.remove(worker)
        return self._start(kind)

    def _start(self, kind: str) -> _Worker:
        context: Any = multiprocessing.get_context("spawn" if self._fresh or not _can_fork() else "forkserver")
        ours, theirs = context.Pipe()
        with _STARTING, interrupts_held_back(), without_main(), nullcontext() if self._fresh else _another_hash_seed():
            place = WorkerPlace(self._limits.memory_bytes, str(self.folder), str(Path.cwd()), dict(os.environ))
            worker = _Worker(context.Process(target=serve, args=(self._work, theirs, place)), ours, kind)
            self._workers.append(worker)  # before Ctrl-C can come: the interpreter would wait for it at its end
            worker.process.start()
        theirs.close()  # else its end would not be seen
        return worker


def run_all(
    work: Callable[[Any], Any],
    jobs: Sequence[Any],
    workers: int,
    limits: Limits,
    kind: Callable[[Any], str] = lambda _: "",
    *,
    fresh: bool = False,
) -> list[tuple[Any, Any]]:
    with Pool(work, min(workers, len(jobs)), limits, kind, fresh=fresh) as pool:
        return list(pool.run(jobs))


def isolated(work: Callable[[Any], Any], job: Any, limits: Limits, what: str) -> Any:
    """Return `work(job)`; `what` begins the sentence about work that hangs, dies or is out of memory."""
    ((_, answer),) = run_all(partial(_caught, work), [job], 1, limits)
    if isinstance(answer, AacbenchError):
        raise answer
    if isinstance(answer, Failure):
        raise UsageError(f"{what}: {answer.reason}.")
    return answer


def _caught(work: Callable[[Any], Any], job: Any) -> Any:
    try:
        return work(job)
    except StoreError:
        raise
    except AacbenchError as error:
        return UsageError(str(error))  # others may have more arguments than a pipe can carry


def start_server() -> None:
    """Start the process that workers are forked from, unless it runs. It imports while the caller goes on."""
    if _can_fork():
        with interrupts_held_back(), _another_hash_seed():
            forkserver.set_forkserver_preload(PRELOADED)
            forkserver.ensure_running()


def _can_fork() -> bool:
    return len(tempfile.gettempdir()) <= _LONGEST_SOCKET_FOLDER


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C reaches the whole group, and a child that still starts would answer it with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        resource_tracker.ensure_running()  # comes with the first child, and lets the signal through again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _another_hash_seed() -> Iterator[None]:
    """Give processes that start now another order of sets, also where the environment sets it for all of them.

    A fresh worker keeps the order that is set, so one of the two differs from any process that built before.
    """
    before = os.environ.get("PYTHONHASHSEED", "")
    if not before.isdecimal():  # then each process draws its own
        yield
        return
    os.environ["PYTHONHASHSEED"] = str((int(before) + 1) % 2**32)
    try:
        yield
    finally:
        os.environ["PYTHONHASHSEED"] = before


@contextmanager
def without_main() -> Iterator[None]:
    """Hide the main module from processes that start now: multiprocessing would run the caller's script in each."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _await(busy: list[_Worker]) -> None:
    """Wait until a worker has something to say, dies, or has run out of time."""
    soonest = min(worker.deadline for worker in busy)
    timeout = None if soonest == math.inf else max(0.0, soonest - time.monotonic())
    # A process that a method started may hold the pipe open, so the death of the worker is watched for itself.
    connection.wait([end for worker in busy for end in (worker.pipe, worker.process.sentinel)], timeout)


def _answer(worker: _Worker, progress: Callable[[Any, str], None]) -> Any:
    try:
        while worker.pipe.poll():
            answer = worker.pipe.recv()
            if isinstance(answer, StoreError):
                raise answer  # not this cell's fault, and no other cell could be stored either
            if isinstance(answer, Failure):
                return replace(answer, step=worker.step)
            if isinstance(answer, Progress):
                progress(worker.job, answer.text)
            elif isinstance(answer, Started):
                worker.step, worker.deadline = answer.step, time.monotonic() + worker.seconds
            else:
                return answer
    except (EOFError, OSError):
        pass  # it has died
    else:
        if worker.process.is_alive() and time.monotonic() < worker.deadline:
            return _BUSY
    in_time = time.monotonic() < worker.deadline
    if in_time:
        worker.process.join(_END_SECONDS)  # a pipe closes a moment before its process has an exit code
    code = worker.process.exitcode
    worker.kill()
    if not in_time:
        return Failure("timeout", f"It took longer than {worker.seconds:.6g} seconds", worker.step)
    return Failure("error", f"The worker process died ({_described(code)})", worker.step)


_OUTSIDE = "it used memory that is not its own, or wrote to the graph, which is read-only"
_CAUSES: dict[int, str] = {
    signal.SIGABRT: "it stopped itself, as after writing outside an array",
    signal.SIGSEGV: _OUTSIDE,
    signal.SIGBUS: _OUTSIDE,
}
_INDEXES = "`NUMBA_BOUNDSCHECK=1 aacbench check NAME` finds an index out of bounds"


def _described(code: int | None) -> str:
    if code is None:
        return "it closed its connection"
    if -code in _CAUSES:
        return f"signal {-code}: {_CAUSES[-code]}; {_INDEXES}"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
