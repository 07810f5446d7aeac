"""A limit of time for an author's code that the command itself must call."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError where Python code takes longer; machine code that does not come back cannot be stopped so."""
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"it took longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
