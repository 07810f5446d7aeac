"""What a worker process does: take a job, say that it starts, work, answer; until there are no more."""

import ctypes
import os
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

from aacbench.errors import StoreError

_LOOK_AT_PARENT_SECONDS = 0.5
_PR_SET_CHILD_SUBREAPER = 36  # Linux


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell has no result: an outcome, a sentence, and the step that its worker was at, if it told."""

    outcome: str
    reason: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """A worker's word that it begins a job, or a step of one: from now on the limit of time counts."""

    step: str = ""


class _Teller:
    """Where a worker's steps are told, and by which process; outside a worker nobody listens."""

    pipe: Any = None
    owner: int = -1


def begin_step(name: str) -> None:
    """Begin a step of a job that may take as long as a cell; if the worker hangs or dies in it, its name is told."""
    if _Teller.pipe is not None and _Teller.owner == os.getpid():
        _Teller.pipe.send(Started(name))


def end_session(session: int) -> None:
    """End every other process of a session: all that its first process started, unless that began its own."""
    for pid in psutil.pids():
        with suppress(OSError):  # gone already, or somebody else's
            if pid != os.getpid() and os.getsid(pid) == session:
                os.kill(pid, signal.SIGKILL)


def serve(work: Callable[[Any], Any], pipe: Any, memory_bytes: int, temporary: str, parent: int) -> None:
    """Work through jobs from the pipe; an exception of `work` is answered as a Failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever sends it: the run ends its workers itself
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # it was held back while this process was starting
    os.setsid()  # so that what a method starts can be found when this process is gone
    _adopt_orphans()
    _Teller.pipe, _Teller.owner = pipe, os.getpid()
    # Private memory only: graphs and pools are mapped from files and shared.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    os.environ["TMPDIR"] = temporary  # for its helper processes too; goes with the run, however that ends
    tempfile.tempdir = None
    os.dup2(2, 1)  # what a method prints is not the command's output
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while (job := _next(pipe)) is not None:
        pipe.send(Started())
        answer = _done(work, job)
        if os.getpid() != _Teller.owner:  # a method forked, and both came back: this one's answer is nobody's
            os._exit(0)
        _send(pipe, answer)


def _adopt_orphans() -> None:
    """Where the system can, have what a method's own processes start stay a child of this one, to be ended with it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _next(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return None


def _done(work: Callable[[Any], Any], job: Any) -> Any:
    try:
        return work(job)
    except StoreError as error:
        return error if _is_ours(error) else Failure("error", f"the cell ended with {type(error).__name__}: {error}")
    except MemoryError:
        return Failure("out-of-memory", "the cell needed more memory than it may have")
    except BaseException as error:  # a method may raise anything
        return Failure("error", f"the cell ended with {type(error).__name__}")


def _is_ours(error: BaseException) -> bool:
    """Whether the harness raised it: a method that says that the disk is full must not end the run."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.startswith(f"{__name__.partition('.')[0]}.")


def _send(pipe: Any, answer: Any) -> None:
    try:
        pipe.send(answer)
    except Exception as error:  # an answer that cannot be pickled
        pipe.send(Failure("error", f"the cell's result could not be sent: {type(error).__name__}"))


def _end_with(parent: int) -> None:
    """A killed run cannot stop its workers, and one that hangs would stay for ever."""
    while os.getppid() == parent:
        time.sleep(_LOOK_AT_PARENT_SECONDS)
    end_session(os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)
