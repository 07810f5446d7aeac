"""Plugins tried out in a process of their own before the command loads them: one that hangs or dies there stays out."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

SECONDS = 30.0  # a plugin is declared in microseconds; what it imports may take a while
_LOOK_SECONDS = 0.02
_CLOSED = 113  # an exit code of our own

Trial = Callable[[], object]


def try_out(trials: Sequence[Trial]) -> dict[int, str]:
    """Call each of these once, elsewhere, and say which of them hung or ended their process, and how.

    They are called one after the other in one fork of this process, which costs next to nothing where all is well;
    after one that fails the others go on in another fork. What they raise is no concern of this function.
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
    """How many were called before one failed, and how that one did; nothing if none failed."""
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
    """In the fork: call them, tell after each one that it is done, and never return."""
    try:
        os.setsid()  # so that what a plugin starts can be ended with it
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
        for trial in trials:
            with suppress(BaseException):
                trial()
            if not _streams_are_open():
                os._exit(_CLOSED)
            os.write(writing, b".")
    finally:
        os._exit(0)


def _streams_are_open() -> bool:
    """Whether the command could still print something after this."""
    try:
        os.fstat(1)
        os.fstat(2)
    except OSError:
        return False
    return not any(stream.closed for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__) if stream)


def _watch(child: int, reading: int, count: int) -> tuple[int, str]:
    done, deadline = 0, time.monotonic() + SECONDS
    while done < count:
        # Asked before the pipe is, so that nothing it told is missed; and asked at all, since a process that a plugin
        # started may hold the pipe open.
        death = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if select.select([reading], [], [], 0 if death else _LOOK_SECONDS)[0]:
            told = len(os.read(reading, count))
            if told:
                done, deadline = done + told, time.monotonic() + SECONDS
                continue
            time.sleep(_LOOK_SECONDS)  # it closed the pipe, and is about to die, or to hang
        if death and (death.si_code, death.si_status) == (os.CLD_EXITED, _CLOSED):
            return done, "it closes the streams that the command prints to."
        if death:
            how = "exit code" if death.si_code == os.CLD_EXITED else "signal"
            return done, f"it ends the process that loads it ({how} {death.si_status})."
        if time.monotonic() > deadline:
            return done, f"it was not loaded after {SECONDS:g} seconds."
    return done, ""


def _end(child: int) -> None:
    for kill in (os.killpg, os.kill):  # it may not have come to be a group's first process
        with suppress(OSError):
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
