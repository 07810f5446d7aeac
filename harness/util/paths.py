"""The folders of data and caches; only this module reads their environment variables."""

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
    return _folder_from("AACBENCH_DATA")


def cache_folder() -> Path:
    """Return `$AACBENCH_CACHE`, else the user's cache folder, else (if not writable) a private temporary one."""
    configured = _configured_cache()
    try:
        configured.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=configured):
            return configured
    except OSError as error:
        instead = _temporary_cache()
        if _folder_from("AACBENCH_CACHE") is not None:
            _warn_once(configured, error.strerror, instead)
        return instead


def cache_folders() -> tuple[Path, ...]:
    """Return the folders to search: a configured cache that cannot be written may still be readable."""
    return tuple(dict.fromkeys((_configured_cache(), cache_folder())))


def _folder_from(variable: str) -> Path | None:
    value = os.environ.get(variable, "").strip()
    return Path(value).expanduser() if value else None


def _configured_cache() -> Path:
    return _folder_from("AACBENCH_CACHE") or platformdirs.user_cache_path("aacbench")


def _temporary_cache() -> Path:
    try:
        return _own_folder_below(Path(tempfile.gettempdir()))
    except OSError:
        raise AacbenchError("No cache folder is writable; set AACBENCH_CACHE to one that is.") from None


@cache
def _own_folder_below(parent: Path) -> Path:
    # Compiled kernels are loaded from here and run, so no other user may be able to write here.
    if hasattr(os, "getuid"):
        folder = parent / f"aacbench-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_private(folder.lstat()):
                return folder
        except OSError:
            pass
    folder = Path(tempfile.mkdtemp(prefix="aacbench-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _is_private(found: os.stat_result) -> bool:
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not others_write


@cache
def _warn_once(configured: Path, reason: str | None, instead: Path) -> None:
    warnings.warn(
        f"AACBENCH_CACHE={configured} cannot be written ({reason}); this run uses {instead} instead.", stacklevel=4
    )
