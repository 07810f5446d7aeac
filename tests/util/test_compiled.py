"""Machine code on disk: damage or a full disk costs a compilation, never a result."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
from aacbench.util.compiled import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def square(x):
    return x * x

@kernel
def negate(x):
    return -x

print(double(3), square(3), negate(3))
print(sum(sum(function.stats.cache_hits.values()) for function in (double, square, negate)))
"""
DAMAGES = (lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"x" * 99)


def cache_hits(folder, **more):
    """Run three kernels with their cache in this folder, and return how many came from the cache."""
    script = folder / "kernels.py"
    if not script.exists():
        script.write_text(SCRIPT)
    environment = {**os.environ, "AACBENCH_CACHE": str(folder / "cache")}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    results, hits = done.stdout.splitlines()
    assert results == "6 9 -3"
    return int(hits)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_anew(tmp_path, suffix):
    assert cache_hits(tmp_path) == 0
    files = list(tmp_path.rglob(f"*.{suffix}"))
    for file, damage in zip(files, DAMAGES, strict=True):
        file.write_bytes(damage(file.read_bytes()))
    assert (cache_hits(tmp_path), cache_hits(tmp_path)) == (0, 3)


def test_a_disk_without_room_costs_only_time(tmp_path):
    def no_room():
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    assert cache_hits(tmp_path, preexec_fn=no_room) == 0
