"""Call plugin code in a forked process first, to find out whether it hangs or ends its process."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

SECONDS = 30.0  # declaring a plugin takes microseconds, but its imports may take a while
_POLL_SECONDS = 0.02
_STREAMS_CLOSED = 113  # exit code of a fork whose plugin closed the output streams

Trial = Callable[[], object]


def try_out(trials: Sequence[Trial]) -> dict[int, str]:
    """Call each trial once in a fork, and return the reason for each index that hung or ended its process.

    The trials run one after the other in one fork, which is cheap if all is well; after a failure the rest run in
    another fork. Exceptions that a trial raises are ignored here.
    """
    failed: dict[int, str] = {}
    begin = 0
    while begin < len(trials):
        done, reason = _try(trials[begin:])
        if reason:
            failed[begin + done] = reason
        begin += done + 1
    return failed


def _try(trials: Sequence[Trial]) -> tuple[int, str]:
    """Return how many trials came back before one failed, and the reason of that one (empty if none failed)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _call_all(trials, writing)
    os.close(writing)
    try:
        return _watch(child, reading, len(trials))
    finally:
        os.close(reading)
        _end(child)


def _call_all(trials: Sequence[Trial], writing: int) -> None:
    """In the fork: call the trials, write a byte after each one, and never return."""
    try:
        os.setsid()  # so that processes which a plugin starts can be killed with it
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
        for trial in trials:
            with suppress(BaseException):
                trial()
            if not _streams_are_open():
                os._exit(_STREAMS_CLOSED)
            os.write(writing, b".")
    finally:
        os._exit(0)


def _streams_are_open() -> bool:
    """Whether the process can still print."""
    try:
        os.fstat(1)
        os.fstat(2)
    except OSError:
        return False
    return not any(stream.closed for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__) if stream)


def _watch(child: int, reading: int, count: int) -> tuple[int, str]:
    done, deadline = 0, time.monotonic() + SECONDS
    while done < count:
        # Checked before the pipe, so that no byte is missed; and checked at all, because a process that a plugin
        # started may hold the pipe open.
        death = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if select.select([reading], [], [], 0 if death else _POLL_SECONDS)[0]:
            finished = len(os.read(reading, count))
            if finished:
                done, deadline = done + finished, time.monotonic() + SECONDS
                continue
            time.sleep(_POLL_SECONDS)  # it closed the pipe and is about to die or hang
        if death and (death.si_code, death.si_status) == (os.CLD_EXITED, _STREAMS_CLOSED):
            return done, "It closes the streams that the command prints to."
        if death:
            how = "exit code" if death.si_code == os.CLD_EXITED else "signal"
            return done, f"It ends the process that loads it ({how} {death.si_status})."
        if time.monotonic() > deadline:
            return done, f"It was not loaded after {SECONDS:g} seconds."
    return done, ""


def _end(child: int) -> None:
    for kill in (os.killpg, os.kill):  # it may not lead a process group yet
        with suppress(OSError):
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
