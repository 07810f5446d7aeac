"""The limit of time: kept in the main thread, and gone when the block is left."""

import signal
import threading
import time

import pytest

from aacbench.util.timeouts import at_most


def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError, match=r"longer than 0\.05 seconds"), at_most(0.05):
        threading.Event().wait(30)


def test_what_is_in_time_leaves_nothing_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with at_most(0.05):
        pass
    time.sleep(0.1)
    assert signal.getsignal(signal.SIGALRM) is before


def test_in_another_thread_there_is_no_limit() -> None:
    ended = []

    def work() -> None:
        with at_most(0.01):
            time.sleep(0.05)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended
