"""Cells in a pool of reused worker processes with limits of time and memory; a worker's death is an outcome."""

import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from pathlib import Path
from typing import Any

import psutil

from aacbench.errors import StoreError
from aacbench.run.durable import storing
from aacbench.run.worker import STARTED, Failure, serve
from aacbench.scratch import temporary_folder

GIB = 2**30
_BUSY = object()
_END_SECONDS = 5.0  # for a worker that has nothing to do any more


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
    deadline: float = field(default=math.inf)

    def give(self, job: Any) -> None:
        self.job, self.deadline = job, math.inf  # the clock starts when the worker does
        with suppress(OSError):  # it is dead, which is seen when its answer is waited for
            self.pipe.send(job)

    def kill(self) -> None:
        """End the process and all that it started."""
        started = self._started()
        self.process.kill()
        self.process.join()
        self.pipe.close()
        for child in started:
            with suppress(psutil.Error):
                child.kill()

    def _started(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def end(self) -> None:
        """Let a worker that has nothing to do go, and end what it started."""
        started = self._started()  # once it has ended, nobody knows whose they are
        with suppress(OSError):
            self.pipe.send(None)
        self.process.join(_END_SECONDS)
        self.kill()
        for child in started:
            with suppress(psutil.Error):
                child.kill()


def run_cells(
    work: Callable[[Any], Any],
    jobs: Iterable[Any],
    workers: int,
    limits: Limits,
    kind: Callable[[Any], str] = lambda _: "",
) -> Generator[tuple[Any, Any]]:
    """Yield (job, result or Failure) as they finish; jobs are started in order, and asked for when a worker is free.

    Workers are spawned, not forked: a fork would inherit threads and half-held locks. Close the iterator when leaving
    it early, so that no worker stays behind. A job of a `kind` may leave anything behind in its worker, such as a
    thread, so that worker is given jobs of the same kind only.
    """
    coming = iter(jobs)
    busy: list[_Worker] = []
    idle: list[_Worker] = []
    with storing(Path(tempfile.gettempdir())):
        temporary = ExitStack()
        folder = temporary.enter_context(temporary_folder())

    def assign(job: Any) -> None:
        of = kind(job)
        worker = next((worker for worker in idle if worker.kind in ("", of)), None)
        if worker is not None:
            idle.remove(worker)
        else:
            while idle:
                idle.pop().kill()
            worker = _start(work, limits, folder)
        worker.kind = of
        busy.append(worker)
        worker.give(job)

    try:
        while True:
            while len(busy) < workers and (job := next(coming, None)) is not None:
                assign(job)
            if not busy:
                break
            _await(busy)
            for worker in busy.copy():
                answer = _answer(worker, limits)
                if answer is _BUSY:
                    continue
                job = worker.job
                busy.remove(worker)
                idle += [worker] if worker.process.is_alive() else []
                following = next(coming, None) if idle else None
                if following is not None:
                    assign(following)  # before the answer is dealt with, so that nobody waits for the disk
                yield job, answer
        while idle:
            idle.pop().end()
    finally:
        for worker in busy + idle:
            worker.kill()
        temporary.close()


def _start(work: Callable[[Any], Any], limits: Limits, temporary: Path) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(work, theirs, limits.memory_bytes, str(temporary), os.getpid()))
    process.start()
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
            if not (isinstance(answer, str) and answer == STARTED):
                return answer
            worker.deadline = time.monotonic() + limits.seconds
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
        return Failure("timeout", f"the cell took longer than {limits.seconds:g} seconds")
    return Failure("error", f"the worker process died ({_described(code)})")


def _described(code: int | None) -> str:
    if code is None:
        return "it closed its connection"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
