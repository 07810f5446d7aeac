"""Names of what is not finished: they say who works on it, so that what a killed process left can be cleared away."""

import os
import platform
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished"  # how the name of what is being written begins
ABANDONED_AFTER_SECONDS = 24 * 3600


def this_host() -> str:
    """This machine's name in a form that fits into file names."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", platform.node())


def scratch_name(purpose: str) -> str:
    """A name nobody else uses, from which others see who works on it: `purpose~host~pid~token`."""
    return f"{purpose}~{this_host()}~{os.getpid()}~{secrets.token_hex(6)}"


def is_scratch(path: Path) -> bool:
    """Whether a name was made by `scratch_name`."""
    parts = path.name.split("~")
    return len(parts) == 4 and parts[2].isascii() and parts[2].isdigit()


def abandoned(path: Path) -> bool:
    """Whether the process that made a scratch name is dead, or has not touched it for a day."""
    _, host, pid, _ = path.name.split("~")
    if host == this_host() and not _alive(int(pid)):
        return True
    try:
        # Not the time of writing: a cell that is set aside may have been written long ago.
        return time.time() - path.stat().st_ctime > ABANDONED_AFTER_SECONDS
    except OSError:
        return False


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for temporary files that goes at the end, or where the process is killed, when the next one is made."""
    parent, purpose = Path(tempfile.gettempdir()), f"aacbench-{os.getuid()}"
    for path in parent.glob(f"{purpose}~*"):
        if is_scratch(path) and abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    folder = parent / scratch_name(purpose)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
