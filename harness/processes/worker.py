"""What a worker process does: take a job, say that it starts, work, answer; until there are no more."""

import ctypes
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

import psutil

from aacbench.errors import StoreError
from aacbench.util.text import describe, one_line, raised_by_us

_REPORT_SECONDS, _LONGEST_PROGRESS = 0.2, 100
_PR_SET_CHILD_SUBREAPER = 36  # Linux


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job has no result: an outcome, a sentence, and the step that its worker was at, if it said."""

    outcome: str
    reason: str
    step: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """A worker's message that it begins a job, or a step of one: the time limit counts from now."""

    step: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """A worker's message about how far a job has come."""

    text: str


class _Reporter:
    """The pipe to the pool, and the process that may use it; there is none outside a worker."""

    pipe: Any = None
    owner: int = -1
    reported: float = 0.0

    @classmethod
    def send(cls, message: Any) -> None:
        if cls.pipe is not None and cls.owner == os.getpid():
            cls.pipe.send(message)


def begin_step(name: str) -> None:
    """Begin a step of a job, with a time limit of its own; a Failure names the step that the worker was at."""
    _Reporter.send(Started(name))


def report_progress(text: str) -> None:
    """Show a line about the job under way; more than a few a second are left out."""
    now = time.monotonic()
    if now - _Reporter.reported >= _REPORT_SECONDS:
        _Reporter.reported = now
        _Reporter.send(Progress(one_line(str(text), _LONGEST_PROGRESS)))


def failure_of(error: BaseException) -> Failure:
    """The outcome of a job that raised this exception."""
    if isinstance(error, MemoryError):
        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        more_than = "there is" if limit == resource.RLIM_INFINITY else f"its limit of {limit / 2**30:g} GiB"
        return Failure("out-of-memory", f"It needed more memory than {more_than}", trace=_trace(error))
    return Failure("error", describe(error), trace=_trace(error))


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # an exception whose message cannot be read
        return "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__


def end_session(session: int) -> None:
    """End every other process of a session: all that its first process started, unless that began its own."""
    for pid in psutil.pids():
        with suppress(OSError):  # gone already, or somebody else's
            if pid != os.getpid() and os.getsid(pid) == session:
                os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """Where a worker works: its memory limit, its temporary folder, and the folder and variables of its pool."""

    memory_bytes: int
    temporary: str
    folder: str
    environment: dict[str, str]


def serve(work: Callable[[Any], Any], pipe: Any, place: WorkerPlace) -> None:
    """Work through jobs from the pipe; an exception of `work` is answered as a Failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever sends it: the run ends its workers itself
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # it was held back while this process was starting
    os.setsid()  # so that what a method starts can be found when this process is gone
    _adopt_orphans()
    _Reporter.pipe, _Reporter.owner = pipe, os.getpid()
    # Private memory only: graphs and pools are mapped from files and shared.
    resource.setrlimit(resource.RLIMIT_DATA, (place.memory_bytes, place.memory_bytes))
    os.chdir(place.folder)
    os.environ.clear()
    os.environ.update(place.environment)
    os.environ["TMPDIR"] = place.temporary  # for its own children too; goes with the run, however that ends
    tempfile.tempdir = None
    _reseed()
    os.dup2(2, 1)  # what a method prints is not the command's output
    threading.Thread(target=_end_with_pool, daemon=True).start()
    while (job := _next(pipe)) is not None:
        pipe.send(Started())
        answer = _done(work, job)
        if os.getpid() != _Reporter.owner:  # a method forked, and this is the child, which nobody waits for
            os._exit(0)
        _send(pipe, answer)


def _reseed() -> None:
    """Give the global generators a state of their own: forks of one server would all draw the same numbers."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _adopt_orphans() -> None:
    """Where the system can, have what a method's own processes start stay a child of this one, to be ended with it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _next(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except (EOFError, OSError):  # the pool is gone
        return None


def _done(work: Callable[[Any], Any], job: Any) -> Any:
    try:
        return work(job)
    except BaseException as error:  # a method may raise anything
        # Only the harness itself may say that the disk is full and end the run.
        return error if isinstance(error, StoreError) and raised_by_us(error) else failure_of(error)


def _send(pipe: Any, answer: Any) -> None:
    try:
        pipe.send(answer)
    except OSError:  # the pool is gone, and this process ends after it
        return
    except Exception as error:  # an answer that cannot be pickled
        pipe.send(Failure("error", f"The result cannot be sent to another process: {describe(error)}"))


def _end_with_pool() -> None:
    """End this process with the pool's: a killed run cannot stop its workers, and one that hangs would stay for ever.

    The server that forked it is no sign: it lives as long as any of its workers.
    """
    pool = multiprocessing.parent_process()
    assert pool is not None
    connection.wait([pool.sentinel])
    end_session(os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)
