"""Locks that keep two runs from doing the same thing at once; the system frees those of a process that died."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aacbench.util.atomic_io import is_still, make_folder, storing

LOCKS = "locks"


@contextmanager
def file_lock(root: Path, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of this name, such as a cell's id; False where another run holds it (never so with `wait`).

    Look at the cell again once it is yours: the run that held it may just have committed it.
    """
    path = root / LOCKS / name
    with storing(root):
        make_folder(path.parent)
        descriptor = _locked(path, wait)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        _release(path, descriptor)


def sweep_locks(root: Path) -> None:
    """Remove the files of locks that nobody holds: those of processes that were killed."""
    for path in (root / LOCKS).glob("*"):
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_still(path, descriptor):
                    path.unlink()
            finally:
                os.close(descriptor)


def _locked(path: Path, wait: bool) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if is_still(path, descriptor):  # else its last holder has removed it in between
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _release(path: Path, descriptor: int) -> None:
    with suppress(OSError):
        path.unlink()
    # Said aloud, because a worker forked meanwhile shares the lock and would keep it while it lives.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
