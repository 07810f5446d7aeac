"""A time limit for plugin code that runs in the main process."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer; native code that never returns cannot be stopped this way."""
    if threading.current_thread() is not threading.main_thread():  # signals arrive only there
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
