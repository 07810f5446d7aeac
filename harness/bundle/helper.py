"""The helper process that rebuilds heuristics: one for each process that asks, started when first needed."""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import Any

from aacbench.errors import ReloadError
from aacbench.util.paths import cache_folder

_START_SECONDS = 300.0  # the imports, on a machine that is busy with other things
_GRACE_SECONDS = 120.0  # loading a graph and compiling the built-in kernel, which the helper's own limit leaves out


class Helper:
    """A running helper; ask it one thing at a time."""

    def __init__(self) -> None:
        # Its machine code is kept apart. Compiling freezes a module's globals into the code, so code that was compiled
        # after a build could smuggle in what the build left there; only fresh processes write to this folder.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        environment = {**os.environ, "PYTHONPATH": path, "AACBENCH_CACHE": str(cache_folder() / "fresh")}
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "aacbench.bundle.reload_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        self._ready = False

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        assert self.process.stdin is not None
        if not self._ready:
            self._receive(_START_SECONDS)
            self._ready = True
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError:
            raise ReloadError("the process that rebuilds heuristics has ended; run again.") from None
        return self._receive(request["timeout"] + _GRACE_SECONDS)

    def end(self) -> None:
        """Stop the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _receive(self, timeout: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        deadline = time.monotonic() + timeout
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise ReloadError(f"the process that rebuilds heuristics did not answer within {timeout:g} seconds.")
            part = self.process.stdout.read(2**16)
            if not part:
                raise ReloadError("the process that rebuilds heuristics ended without an answer.")
            line += part
        answer: dict[str, Any] = json.loads(line)
        return answer


_LOCK = threading.Lock()
_RUNNING: list[Helper] = []


def start() -> None:
    """Start this process's helper, unless there is one that lives: it imports while its owner goes on."""
    with _LOCK:
        _running()


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """Ask this process's helper, which is started anew where there is none or the last one failed."""
    with _LOCK:
        try:
            return _running().ask(request)
        except BaseException:  # also Ctrl-C: an answer that was not waited for must not meet the next request
            while _RUNNING:
                _RUNNING.pop().end()
            raise


def _running() -> Helper:
    if _RUNNING and (_RUNNING[0].owner != os.getpid() or _RUNNING[0].process.poll() is not None):
        _RUNNING.clear()  # a parent's helper answers the parent only
    if not _RUNNING:
        _RUNNING.append(Helper())
    return _RUNNING[0]


@atexit.register
def _end() -> None:
    while _RUNNING:
        helper = _RUNNING.pop()
        if helper.owner == os.getpid():
            helper.end()
