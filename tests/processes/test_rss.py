"""The memory of a piece of work: its own, whatever the process held and gave back before."""

import subprocess
import sys

import pytest

MIB = 2**20
WATCHED = f"""
import numpy as np
from aacbench.processes.rss import begin_watch, peak

larger = np.ones(200 * {MIB}, dtype=np.uint8)
del larger
before = begin_watch()
taken = np.ones(64 * {MIB}, dtype=np.uint8)
del taken
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a peak anew")
def test_the_peak_is_of_the_work_that_is_watched():
    # In a process of its own: an old one may hold so much free memory that it need not grow.
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    assert 60 * MIB < int(done.stdout) < 120 * MIB
