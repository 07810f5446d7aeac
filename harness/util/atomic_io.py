"""Writing that survives a crash: synced files and folders, and one sentence when the disk says no."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aacbench.errors import StoreError
from aacbench.util.cleanup import UNFINISHED, scratch_name

_AGAIN = "then run the same command again: finished cells are kept."
_SENTENCES = {
    errno.ENOSPC: "the disk that holds {root} is full; free some space, " + _AGAIN,
    errno.EDQUOT: "your disk quota does not let {root} grow; free some space, " + _AGAIN,
    errno.EFBIG: "a file in {root} would pass the limit on file sizes; raise it (ulimit -f unlimited), " + _AGAIN,
    errno.EROFS: "{root} is on a read-only disk; choose another folder with --out.",
    errno.EACCES: "{root} may not be written to; choose another folder with --out, or change its permissions.",
    errno.EPERM: "{root} may not be written to; choose another folder with --out, or change its permissions.",
    errno.ENOTDIR: "{root} is not a folder, or holds a file where a folder must be; choose another with --out.",
    errno.ENOLCK: "the disk that holds {root} knows no file locks; choose a folder on another disk with --out.",
}
_OTHERWISE = "{root} could not be written to ({reason}); choose another folder with --out, or mend the disk, " + _AGAIN
# Some network file systems cannot sync a folder; there is nothing a caller could do about it.
_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP)


@contextmanager
def storing(root: Path) -> Iterator[None]:
    """Turn what the operating system says into one sentence that names the study's folder."""
    try:
        yield
    except OSError as error:
        sentence = _SENTENCES.get(error.errno or 0, _OTHERWISE)
        raise StoreError(sentence.format(root=root, reason=error.strerror or error)) from error


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: a disk that fills up, or a limit, takes the first part without an error."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in the place of another: a reader finds the old one or the new one, never a mixture."""
    unfinished = path.with_name(scratch_name(UNFINISHED))
    try:
        write_file(unfinished, data)
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, so that their names survive a crash."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with suppress(FileExistsError):
        path.mkdir()
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(descriptor)


def is_still(path: Path, descriptor: int) -> bool:
    """Whether what was opened is what now has this name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def remove(path: Path) -> None:
    """Remove a file or a folder as far as that is possible; what stays is swept later."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
