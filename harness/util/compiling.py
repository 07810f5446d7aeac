"""Telling a user that kernels are being compiled, which takes seconds and is done once for each machine."""

import time
from collections.abc import Callable
from typing import Any

from numba.core import event

COMPILES = "numba:compile"
SENTENCE = "compiling kernels (on first use only, about a minute)"
_QUIET_SECONDS = 1.0  # without any compilation, before the next one is worth a word


class Compilations(event.Listener):  # type: ignore[misc]  # numba has no types
    """Calls `tell` when compilation begins; kernels compiled within others, or right after them, are not told."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._depth, self._ended = tell, 0, -_QUIET_SECONDS

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1 and time.monotonic() - self._ended >= _QUIET_SECONDS:
            self._tell(SENTENCE)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        self._ended = time.monotonic()


def tell_always(tell: Callable[[str], None]) -> None:
    event.register(COMPILES, Compilations(tell))


def tell_within(tell: Callable[[str], None]) -> Any:
    """Return a context in which compilations are told."""
    return event.install_listener(COMPILES, Compilations(tell))
