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
    """Return `$AACBENCH_CACHE`, else the user's cache folder, else (if not usable) a private temporary one."""
    configured, wanted = _configured_cache(), _folder_from("AACBENCH_CACHE") is not None
    try:
        configured.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=configured):
            found = configured.stat()
    except OSError as error:
        reason = error.strerror
    else:
        if _is_private(found):
            return configured
        reason, wanted = "it must belong to you, and nobody else may write to it: chmod go-w", True
    instead = _temporary_cache()
    if wanted:
        _warn_once(configured, reason, instead)
    return instead


def cache_folders() -> tuple[Path, ...]:
    """Return the folders to search: a configured cache that cannot be written may still be readable."""
    return tuple(dict.fromkeys((_configured_cache(), cache_folder())))


def expanded(path: str | Path) -> Path:
    """Return the path with `~` replaced by the home folder; that of an unknown user stays, as in a shell."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _folder_from(variable: str) -> Path | None:
    value = os.environ.get(variable, "").strip()
    return expanded(value) if value else None


def _configured_cache() -> Path:
    return _folder_from("AACBENCH_CACHE") or platformdirs.user_cache_path("aacbench")


def _temporary_cache() -> Path:
    try:
        return _own_folder_below(Path(tempfile.gettempdir()))
    except OSError:
        raise AacbenchError("No cache folder is writable; set AACBENCH_CACHE to one that is.") from None


@cache
def _own_folder_below(parent: Path) -> Path:
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
    return stat.S_ISDIR(found.st_mode) and is_own(found)


def is_own(found: os.stat_result) -> bool:
    """Return whether no other user can have written this: compiled kernels are loaded from a cache and run."""
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _warn_once(configured: Path, reason: str | None, instead: Path) -> None:
    warnings.warn(
        f"The cache folder {configured} cannot be used ({reason}); this run uses {instead} instead.", stacklevel=4
    )
