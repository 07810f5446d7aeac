"""What a worker process does: take a job, say that it starts, work, answer; until there are no more."""

import os
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aacbench.errors import StoreError

STARTED = "started"
_LOOK_AT_PARENT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell has no result: an outcome and a sentence."""

    outcome: str
    reason: str


def serve(work: Callable[[Any], Any], pipe: Any, memory_bytes: int, temporary: str, parent: int) -> None:
    """Work through jobs from the pipe; an exception of `work` is answered as a Failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group, and the run ends its workers itself
    # Private memory only: graphs and pools are mapped from files and shared.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    os.environ["TMPDIR"] = temporary  # for its helper processes too; goes with the run, however that ends
    tempfile.tempdir = None
    os.dup2(2, 1)  # what a method prints is not the command's output
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while (job := _next(pipe)) is not None:
        pipe.send(STARTED)
        _send(pipe, _done(work, job))


def _next(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return None


def _done(work: Callable[[Any], Any], job: Any) -> Any:
    try:
        return work(job)
    except StoreError as error:
        return error
    except MemoryError:
        return Failure("out-of-memory", "the cell needed more memory than it may have")
    except BaseException as error:  # a method may raise anything
        return Failure("error", f"the cell ended with {type(error).__name__}")


def _send(pipe: Any, answer: Any) -> None:
    try:
        pipe.send(answer)
    except Exception as error:  # an answer that cannot be pickled
        pipe.send(Failure("error", f"the cell's result could not be sent: {type(error).__name__}"))


def _end_with(parent: int) -> None:
    """A killed run cannot stop its workers, and one that hangs would stay for ever."""
    while os.getppid() == parent:
        time.sleep(_LOOK_AT_PARENT_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
