"""Machine code on disk: damage or a full disk costs a compilation, never a result."""

import os
import subprocess
import sys

SCRIPT = """
import numba
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

@kernel
def halve(x):
    return x // 2

@kernel
def increase(x):
    return x + 1

@numba.njit(cache=True)  # as an author of a plugin may write
def decrease(x):
    return x - 1

functions = double, square, negate, halve, increase, decrease
print(*(function(3) for function in functions))
print(sum(sum(function.stats.cache_hits.values()) for function in functions))
"""


def flipped(quarter):
    def damage(data):
        at = quarter * (len(data) - 1) // 4
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return damage


def half(data):
    return data[: len(data) // 2]


OF_INDEXES, OF_CODES = (lambda data: b"", half, flipped(2)), (half, flipped(1), flipped(2))


def cache_hits(folder, **more):
    """Run six kernels with their cache in this folder, and return how many came from the cache."""
    script = folder / "kernels.py"
    if not script.exists():
        script.write_text(SCRIPT)
    environment = {**os.environ, "AACBENCH_CACHE": str(folder / "cache")}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    results, hits = done.stdout.splitlines()
    assert results == "6 9 -3 1 4 2"
    return int(hits)


def test_damaged_machine_code_is_compiled_anew_and_replaced(tmp_path):
    """Each damage to the index of one kernel or to the code of another."""
    assert cache_hits(tmp_path) == 0
    indexes, codes = (sorted(tmp_path.rglob(f"*.{suffix}")) for suffix in ("nbi", "nbc"))
    for file, damage in zip(indexes[:3] + codes[3:], OF_INDEXES + OF_CODES, strict=True):
        file.write_bytes(damage(file.read_bytes()))
    assert (cache_hits(tmp_path), cache_hits(tmp_path)) == (0, 6)
    one, other, open_to_all = (next(tmp_path.rglob(f"*{name}*.nbc")) for name in ("increase", "negate", "square"))
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())  # code of another function
    other.write_bytes(content)
    open_to_all.chmod(0o666)  # which anybody could have written
    assert (cache_hits(tmp_path), cache_hits(tmp_path)) == (3, 6)
    assert len(list(tmp_path.rglob("*square*.nbc"))) == 1  # what was replaced is gone


def test_code_that_checks_its_indexes_is_kept_apart(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    assert cache_hits(tmp_path) == 0
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert (cache_hits(tmp_path), cache_hits(tmp_path)) == (0, 6)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "0")
    assert cache_hits(tmp_path) == 6


def test_a_disk_without_room_costs_only_time(tmp_path):
    def no_room():
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    assert cache_hits(tmp_path, preexec_fn=no_room) == 0
