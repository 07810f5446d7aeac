"""Cells in a pool of reused worker processes with limits of time and memory; a worker's death is an outcome."""

import math
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Any

import psutil

from aacbench.errors import StoreError
from aacbench.processes.worker import Failure, Started, end_session, serve
from aacbench.util.atomic_io import storing
from aacbench.util.cleanup import temporary_folder

GIB = 2**30
_BUSY = object()
_END_SECONDS = 5.0  # for a process to be gone whose pipe is closed


@dataclass(frozen=True, slots=True)
class Limits:
    """What one cell may take."""

    seconds: float = 3600.0
    memory_bytes: int = 8 * GIB


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker process, what it works on, and until when it may."""

    process: Any
    pipe: Any
    job: Any = None
    kind: str = ""
    step: str = ""
    deadline: float = field(default=math.inf)

    def give(self, job: Any) -> None:
        self.job, self.deadline = job, math.inf  # the clock starts when the worker does
        with suppress(OSError):  # it is dead, which is seen when its answer is waited for
            self.pipe.send(job)

    def kill(self) -> None:
        """End the process and all that it started, also where it has died by itself."""
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


class Workers:
    """A pool of worker processes, started at once so that they import while the run is being planned.

    Workers are spawned, not forked: a fork would inherit threads and half-held locks. Use it as a context, so that no
    worker stays behind. A job of a `kind` may leave anything behind in its worker, such as a thread, so that worker is
    given jobs of the same kind only.
    """

    def __init__(
        self, work: Callable[[Any], Any], count: int, limits: Limits, kind: Callable[[Any], str] = lambda _: ""
    ) -> None:
        self._work, self._count, self._limits, self._kind = work, count, limits, kind
        self._temporary = ExitStack()
        with storing(Path(tempfile.gettempdir())):
            self.folder = self._temporary.enter_context(temporary_folder())
        # More than there are cores would not begin sooner; they are started when there is something for them to do.
        self._idle = [_start(work, limits, self.folder) for _ in range(min(count, os.cpu_count() or 1))]
        self._busy: list[_Worker] = []

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._busy + self._idle:
            worker.kill()
        self._temporary.close()

    def run(self, jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Yield (job, result or Failure) as they finish; jobs are started in order, and asked for when one is free."""
        coming, busy = iter(jobs), self._busy
        while True:
            while len(busy) < self._count and (job := next(coming, None)) is not None:
                self._assign(job)
            if not busy:
                return
            _await(busy)
            for worker in busy.copy():
                answer = _answer(worker, self._limits)
                if answer is _BUSY:
                    continue
                job = worker.job
                busy.remove(worker)
                self._idle += [worker] if worker.process.is_alive() else []
                following = next(coming, None) if self._idle else None
                if following is not None:
                    self._assign(following)  # before the answer is dealt with, so that nobody waits for the disk
                yield job, answer

    def _assign(self, job: Any) -> None:
        kind, idle = self._kind(job), self._idle
        worker = next((worker for worker in idle if worker.kind in ("", kind)), None)
        if worker is not None:
            idle.remove(worker)
        else:
            while idle:
                idle.pop().kill()
            worker = _start(self._work, self._limits, self.folder)
        worker.kind = kind
        self._busy.append(worker)
        worker.give(job)


def run_cells(
    work: Callable[[Any], Any],
    jobs: Sequence[Any],
    workers: int,
    limits: Limits,
    kind: Callable[[Any], str] = lambda _: "",
) -> list[tuple[Any, Any]]:
    """Jobs in a pool of their own, all of them: (job, result or Failure) as they finished."""
    with Workers(work, min(workers, len(jobs)), limits, kind) as pool:
        return list(pool.run(jobs))


def _start(work: Callable[[Any], Any], limits: Limits, temporary: Path) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(work, theirs, limits.memory_bytes, str(temporary), os.getpid()))
    # Ctrl-C reaches the whole group, and a child that still imports would answer it with a traceback. The tracker comes
    # with the first child and would let the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()  # else its end would not be seen
    return _Worker(process, ours)


def _await(busy: list[_Worker]) -> None:
    """Wait until a worker has something to say, dies, or has run out of time."""
    soonest = min(worker.deadline for worker in busy)
    timeout = None if soonest == math.inf else max(0.0, soonest - time.monotonic())
    # A process that a method started may hold the pipe open, so the death of the worker is watched for itself.
    connection.wait([end for worker in busy for end in (worker.pipe, worker.process.sentinel)], timeout)


def _answer(worker: _Worker, limits: Limits) -> Any:
    """What became of the worker's job, or `_BUSY`."""
    try:
        while worker.pipe.poll():
            answer = worker.pipe.recv()
            if isinstance(answer, StoreError):
                raise answer  # not this cell's fault, and no other cell could be stored either
            if isinstance(answer, Failure):
                return replace(answer, step=worker.step)
            if not isinstance(answer, Started):
                return answer
            worker.step, worker.deadline = answer.step, time.monotonic() + limits.seconds
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
        return Failure("timeout", f"the cell took longer than {limits.seconds:g} seconds", worker.step)
    return Failure("error", f"the worker process died ({_described(code)})", worker.step)


def _described(code: int | None) -> str:
    if code is None:
        return "it closed its connection"
    if -code in (signal.SIGSEGV, signal.SIGBUS):
        return f"signal {-code}: it used memory that is not its own, or wrote to the graph, which may only be read"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
