"""How much memory this process holds, and the most it held during a piece of work."""

import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

import psutil

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def begin_watch() -> int:
    """The bytes held now; where the system allows it (Linux does), the peak is counted anew from here."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return psutil.Process().memory_info().rss


def peak() -> int:
    """The most bytes held since the watch began; elsewhere than on Linux, since the process began."""
    with suppress(OSError):
        if found := _PEAK.search(Path("/proc/self/status").read_text(encoding="ascii", errors="replace")):
            return int(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # macOS counts bytes, other systems kibibytes
