"""Temporary folders go with their process, or with the next one that makes one."""

import os
import subprocess
import sys
import tempfile

from aacbench.util.cleanup import scratch_name, temporary_folder


def test_the_folder_of_a_killed_process_goes_when_the_next_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    ours = tmp_path / scratch_name(f"aacbench-{os.getuid()}")
    dead = tmp_path / ours.name.replace(f"~{os.getpid()}~", f"~{process.pid}~")
    foreign = tmp_path / f"aacbench-{os.getuid()}~of~somebody"
    for folder in (ours, dead, foreign):
        folder.mkdir()
    with temporary_folder() as folder:
        assert folder.parent == tmp_path
        assert sorted(tmp_path.iterdir()) == sorted([ours, foreign, folder])
    assert sorted(tmp_path.iterdir()) == sorted([ours, foreign])
