"""Do a piece of work in a forked process while this one goes on."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """Do `work`, which must leave its result in files, while the body of the `with` runs; both are done at its end.

    Work that fails in the other process is done again in this one, where its exception can be seen.
    """
    child = os.fork()
    if child == 0:
        _do(work)
    try:
        yield
    finally:
        _, status = os.waitpid(child, 0)
    if status != 0:
        work()


def _do(work: Callable[[], object]) -> None:
    """In the fork: work, and never return."""
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)
