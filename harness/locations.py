"""Where aacbench looks for data and keeps its caches: the only place that reads these settings."""

import os
import tempfile
from pathlib import Path

import platformdirs


def data_folder() -> Path | None:
    """The user's own folder of data sets, `$AACBENCH_DATA`, or None where it is not set."""
    value = os.environ.get("AACBENCH_DATA", "").strip()
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """`$AACBENCH_CACHE`, else the user's cache folder, else (nothing writable) a temporary one."""
    value = os.environ.get("AACBENCH_CACHE", "").strip()
    wanted = Path(value).expanduser() if value else platformdirs.user_cache_path("aacbench")
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError:
        fallback = Path(tempfile.gettempdir()) / f"aacbench-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
        fallback.mkdir(parents=True, exist_ok=True)
        return fallback
