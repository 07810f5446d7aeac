"""Types, by mypy: a test, so that it runs beside the others and needs no second installation of everything."""

import os
import subprocess
import sys
from pathlib import Path

from project import ROOT, roots


def _as_installed(folder: Path) -> None:
    """The package's folders under the names they have once installed, which an editable installation hides."""
    mapped = roots()
    package = folder / "aacbench"
    package.mkdir()
    for path in mapped.pop("aacbench").iterdir():
        (package / path.name).symlink_to(path)
    for name, source in mapped.items():
        (package / name.partition(".")[2]).symlink_to(source)


def test_every_type_is_right(tmp_path: Path) -> None:
    _as_installed(tmp_path)
    # A folder between runs would make it quicker, and let one run's leftovers decide about the next.
    command = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "--config-file", str(ROOT / "pyproject.toml")]
    environment = {**os.environ, "MYPYPATH": str(tmp_path)}
    done = subprocess.run(
        [*command, "-p", "aacbench"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
