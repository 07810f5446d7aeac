"""Names of unfinished files that tell which process owns them, so that those of dead processes can be removed."""

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

UNFINISHED = ".unfinished"  # the purpose of files that are being written
ABANDONED_AFTER_SECONDS = 24 * 3600


def this_host() -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "_", platform.node())


def scratch_name(purpose: str) -> str:
    """Return a unique name that tells the owner: `purpose~host~pid~token`."""
    return f"{purpose}~{this_host()}~{os.getpid()}~{secrets.token_hex(6)}"


def is_scratch(path: Path) -> bool:
    parts = path.name.split("~")
    return len(parts) == 4 and parts[2].isascii() and parts[2].isdigit()


def abandoned(path: Path) -> bool:
    """Return whether the owner of a scratch name is dead, or has not touched it for a day."""
    _, host, pid, _ = path.name.split("~")
    if host == this_host() and not _alive(int(pid)):
        return True
    try:
        # Not the modification time: a cell that was set aside may have been written long ago.
        return time.time() - path.stat().st_ctime > ABANDONED_AFTER_SECONDS
    except OSError:
        return False


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # alive, but of another user
    return True


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a temporary folder and remove it; first remove those that killed processes left."""
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
