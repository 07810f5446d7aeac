"""Reading a file that a user names: regular files only, since a pipe or a device may have no end."""

import errno
import stat
from io import BufferedReader
from pathlib import Path


def open_input(path: Path) -> BufferedReader:
    """Open a regular file; whatever else the path names is an OSError whose `strerror` says what to do."""
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise OSError(errno.EINVAL, "the name contains a NUL character", str(path)) from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a folder is an error with a reason of its own
        raise OSError(errno.EINVAL, "it is a pipe or a device; write its content to a file", str(path))
    return path.open("rb")


def read_input(path: Path) -> bytes:
    with open_input(path) as stream:
        return stream.read()
