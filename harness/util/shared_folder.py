"""A temporary folder that processes of one machine share by name; the last of them to leave removes it."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aacbench.util.atomic_io import is_still
from aacbench.util.cleanup import this_host


@contextmanager
def shared_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yield the folder; first remove those that nobody is in any more, because their processes were killed.

    Whoever is in it holds a shared lock on it, which the operating system releases when a process dies.
    """
    # With the host's name, because the parent may be on a file system of several machines.
    purpose = f"aacbench-{os.getuid()}-{this_host()}"
    for path in parent.glob(f"{purpose}+*"):
        _remove_if_empty(path)
    folder = parent / f"{purpose}+{name}"
    descriptor = _entered(folder)
    try:
        yield folder
    finally:
        _leave(folder, descriptor)


def _entered(folder: Path) -> int:
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # removed in between
            descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if is_still(folder, descriptor):
                return descriptor
            os.close(descriptor)


def _leave(folder: Path, descriptor: int) -> None:
    with suppress(OSError):  # somebody else is still in it
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        _leave(folder, os.open(folder, os.O_RDONLY))
