"""Batch functions that work where they were built and nowhere else."""

import os
import sys
import time

import numpy as np

from aacbench.contract.method import BatchHeuristic

BUILT = []


def leaves(arrays, us, t):
    """Ends the process."""
    if not BUILT:
        os.abort()
    return np.zeros(len(us))


def exits(arrays, us, t):
    """Asks Python to stop."""
    if not BUILT:
        sys.exit(3)
    return np.zeros(len(us))


def hangs(arrays, us, t):
    """Never ends."""
    while not BUILT:
        time.sleep(0.01)
    return np.zeros(len(us))


def remembers(arrays, us, t):
    """Zero the first time in a process that did not build it, and one ever after, even if imported anew."""
    value = 1.0 if BUILT else getattr(sys, "_noted", 0.0)
    sys._noted = 1.0
    return np.full(len(us), value)


def writes(arrays, us, t):
    """Keeps notes in its own arrays."""
    arrays["notes"][0] += 1
    return np.zeros(len(us))


def kills_its_parent(arrays, us, t):
    """Takes the helper down with it."""
    if not BUILT:
        os.kill(os.getppid(), 9)
        time.sleep(60)
    return np.zeros(len(us))


def build(network, function):
    """One of the above."""
    BUILT.append("built")
    return BatchHeuristic({"notes": np.zeros(1)}, globals()[function])
