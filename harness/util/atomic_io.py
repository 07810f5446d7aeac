"""Writing files so that they survive a crash, and one sentence for an error of the operating system."""

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from aacbench.errors import StoreError
from aacbench.util.cleanup import UNFINISHED, scratch_name

_RERUN = "then run the same command again: finished cells are kept."
_SENTENCES = {
    errno.ENOSPC: "The disk of {root} is full; free some space, " + _RERUN,
    errno.EDQUOT: "Your disk quota for {root} is used up; free some space, " + _RERUN,
    errno.EFBIG: "A file in {root} would exceed the limit on file sizes; raise it (ulimit -f unlimited), " + _RERUN,
    errno.EROFS: "{root} is on a read-only disk; {instead}.",
    errno.EACCES: "No permission to write to {root}; {instead}, or change its permissions.",
    errno.EPERM: "No permission to write to {root}; {instead}, or change its permissions.",
    errno.ENOTDIR: "{root} is not a folder, or has a file where a folder must be; {instead}.",
    errno.ENOLCK: "The file system of {root} does not support file locks; {instead}, on another disk.",
}
_OTHERWISE = "{root} could not be written ({reason}); {instead}, or repair the disk, " + _RERUN
# Some network file systems cannot sync a folder; a caller could do nothing about it.
_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP)
_AT_ONCE = 2**14  # bytes that are read at once: more than most files of a cell have


@contextmanager
def storing(root: Path, instead: str = "choose another folder with --out") -> Iterator[None]:
    """Turn an OSError into a StoreError with one sentence that names the folder, mostly a study's, and what to do."""
    try:
        yield
    except OSError as error:
        sentence = _SENTENCES.get(error.errno or 0, _OTHERWISE)
        raise StoreError(sentence.format(root=root, instead=instead, reason=error.strerror or error)) from error


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on disk; if that fails, there is none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: a full disk or a size limit accepts the first part without an error."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def append_all(descriptor: int, data: bytes) -> None:
    """Append to an open file and wait until it is on disk; if that fails, nothing is added."""
    length = os.fstat(descriptor).st_size
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, length)
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file atomically: a reader sees the old content or the new, never a mixture."""
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
    """Create a folder and its parents, and wait until their names are on disk."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with suppress(FileExistsError):
        path.mkdir()
    sync_folder(path.parent)


def fill_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder with these files, completely or not at all, unless it is there; nothing is synced."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(scratch_name(UNFINISHED))
    unfinished.mkdir()
    try:
        for name, data in files.items():
            (unfinished / Path(name).name).write_bytes(data)
        unfinished.rename(folder)
    except OSError:
        remove(unfinished)
        if not folder.is_dir():  # else another process was first
            raise


def sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(descriptor)


def read_in(descriptor: int, name: str) -> bytes:
    """Return the content of a file in an opened folder."""
    file, parts = os.open(name, os.O_RDONLY, dir_fd=descriptor), []
    try:
        while part := os.read(file, _AT_ONCE):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)


def is_still(path: Path, descriptor: int) -> bool:
    """Return whether the path still names the opened file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def remove(path: Path) -> None:
    """Remove a file or folder as far as possible; a later sweep removes the rest."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
