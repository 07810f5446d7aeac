"""Machine code on disk: damage or a full disk costs a compilation, never a result."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
from aacbench.graphs import from_arcs
from aacbench.labels import distances
from aacbench.search import network
print(distances(network(from_arcs(3, [0, 1], [1, 2], [4, 5])), 0).tolist())
"""


def run(cache, **more):
    environment = {**os.environ, "AACBENCH_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0, 4, 9]\n"


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"x" * 99])
def test_damaged_machine_code_is_compiled_anew(tmp_path, suffix, damage):
    run(tmp_path)
    files = list(tmp_path.rglob(f"*.{suffix}"))
    assert files
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    run(tmp_path)


def test_a_disk_without_room_costs_only_time(tmp_path):
    def no_room():
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    run(tmp_path, preexec_fn=no_room)
