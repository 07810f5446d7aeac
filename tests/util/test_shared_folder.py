"""The folder that processes share: it is there as long as one of them is in it."""

import subprocess
import sys
from pathlib import Path

from aacbench.util.shared_folder import shared_folder

ENTER_AND_WAIT = """
import sys, time
from pathlib import Path
from aacbench.util.shared_folder import shared_folder
with shared_folder(Path(sys.argv[1]), "run") as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    time.sleep(600)
"""


def test_the_last_to_leave_removes_it(tmp_path: Path) -> None:
    with shared_folder(tmp_path, "run") as first:
        with shared_folder(tmp_path, "run") as second:
            assert first == second
            (first / "file").touch()
        assert (first / "file").exists()
    assert list(tmp_path.iterdir()) == []


def test_one_of_a_killed_process_is_removed_and_one_in_use_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENTER_AND_WAIT, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    left = Path(process.stdout.readline().strip())
    with shared_folder(tmp_path, "other"):
        assert left.exists()
    process.kill()
    process.communicate()
    assert left.exists()
    with shared_folder(tmp_path, "other"):
        assert not left.exists()
