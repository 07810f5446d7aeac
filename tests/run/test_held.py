"""The memory of a piece of work: its own, whatever the process held and gave back before."""

import sys

import numpy as np
import pytest

from aacbench.run.held import begin_watch, peak

MIB = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a peak anew")
def test_the_peak_is_of_the_work_that_is_watched():
    larger = np.ones(200 * MIB, dtype=np.uint8)
    del larger
    before = begin_watch()
    taken = np.ones(64 * MIB, dtype=np.uint8)
    del taken
    assert 60 * MIB < peak() - before < 120 * MIB
