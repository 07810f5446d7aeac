"""Where aacbench looks for data and keeps its caches: the only place that reads these settings."""

import atexit
import os
import shutil
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

import platformdirs

from aacbench.errors import AacbenchError


def data_folder() -> Path | None:
    """The user's own folder of data sets, `$AACBENCH_DATA`, or None where it is not set."""
    return _setting("AACBENCH_DATA")


def cache_folder() -> Path:
    """`$AACBENCH_CACHE`, else the user's cache folder, else (nothing writable) a temporary one of the user's own."""
    wanted = _wanted_cache()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError as error:
        instead = _temporary_cache()
        if _setting("AACBENCH_CACHE") is not None:
            _warn_once(wanted, error.strerror, instead)
        return instead


def cache_folders() -> tuple[Path, ...]:
    """Where something may have been kept: a wanted cache that cannot be written may still be read."""
    return tuple(dict.fromkeys((_wanted_cache(), cache_folder())))


def _setting(variable: str) -> Path | None:
    value = os.environ.get(variable, "").strip()
    return Path(value).expanduser() if value else None


def _wanted_cache() -> Path:
    return _setting("AACBENCH_CACHE") or platformdirs.user_cache_path("aacbench")


def _temporary_cache() -> Path:
    try:
        return _own_folder_below(Path(tempfile.gettempdir()))
    except OSError:
        raise AacbenchError("no folder for the cache can be written; set AACBENCH_CACHE to one that can.") from None


@cache
def _own_folder_below(parent: Path) -> Path:
    # Compiled kernels are loaded from here, and to load them is to run them: nobody else may have put them there.
    if hasattr(os, "getuid"):
        folder = parent / f"aacbench-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if _ours_alone(folder.lstat()):
                return folder
        except OSError:
            pass
    folder = Path(tempfile.mkdtemp(prefix="aacbench-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _ours_alone(found: os.stat_result) -> bool:
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not others_write


@cache
def _warn_once(wanted: Path, reason: str | None, instead: Path) -> None:
    warnings.warn(
        f"AACBENCH_CACHE={wanted} cannot be written ({reason}), so {instead} is the cache of this run.", stacklevel=4
    )
