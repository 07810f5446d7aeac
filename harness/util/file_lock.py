"""File locks between runs; the operating system releases those of a dead process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aacbench.util.atomic_io import is_still, make_folder, storing

LOCKS = "locks"


@contextmanager
def file_lock(root: Path, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of this name, such as a cell id; yield False if another run holds it, unless `wait`.

    Read the cell again once you hold its lock: the previous holder may have just committed it.
    """
    path = root / LOCKS / name
    with storing(root):
        make_folder(path.parent)
        descriptor = _acquire(path, wait)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        _release(path, descriptor)


def any_locked(root: Path) -> bool:
    """Return whether a run holds a lock below this folder."""
    return any(_is_locked(path) for path in (root / LOCKS).glob("*"))


def _is_locked(path: Path) -> bool:
    """Return whether a run holds this file; one that a killed run left is not held."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:  # released in between
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sweep_locks(root: Path) -> None:
    for path in (root / LOCKS).glob("*"):
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_still(path, descriptor):
                    path.unlink()
            finally:
                os.close(descriptor)


def _acquire(path: Path, wait: bool) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if is_still(path, descriptor):  # otherwise the previous holder removed it in between
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
    # Explicitly, because a forked worker shares the lock and would keep it as long as it lives.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
