"""Whether git knows a file as it is."""

import shutil
import subprocess
from pathlib import Path


def uncommitted(path: Path) -> bool:
    """Whether a file in a git repository differs from what was committed; outside of one, or without git, never."""
    if shutil.which("git") is None:
        return False
    words = ["git", "-C", str(path.resolve().parent), "status", "--porcelain", "--", path.name]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0 and bool(done.stdout.strip())
