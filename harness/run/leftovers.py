"""What killed processes leave behind, and how it goes away."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from aacbench.run.canonical import ID_DIGITS
from aacbench.run.durable import remove
from aacbench.run.layout import CELLS, REPLACED, RUNS, UNFINISHED, scratch_name, this_host

ABANDONED_AFTER_SECONDS = 24 * 3600


def sweep(root: Path) -> None:
    """Remove what nobody works on any more; a cell whose replacement was interrupted comes back."""
    for path in _scratch(root):
        if not abandoned(path):
            continue
        if path.name.startswith(REPLACED):
            _restore(path)
            discard(path)
        else:
            remove(path)


def discard(aside: Path) -> None:
    """Remove a cell that was set aside; it is given another name first, because readers trust this one."""
    with suppress(OSError):
        remove(aside.rename(aside.with_name(scratch_name(UNFINISHED))))


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


def replaced_id(name: str) -> str:
    """The cell that a folder was set aside for."""
    return name[len(REPLACED) : len(REPLACED) + ID_DIGITS]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _scratch(root: Path) -> Iterator[Path]:
    for folder in (root, *(root / RUNS).glob("*"), *(root / CELLS).glob("*")):
        for kind in (UNFINISHED, REPLACED):
            yield from (path for path in folder.glob(f"{kind}*") if path.name.count("~") == 3)


def _restore(aside: Path) -> None:
    with suppress(OSError):  # where the new cell is in place, the old one cannot go there
        aside.rename(aside.with_name(replaced_id(aside.name)))
