"""Methods that change the graph behind their build: when they are asked, or from a thread that stays."""

import ctypes
import threading

import numpy as np

from aacbench.plugins import BatchHeuristic, Method, ScalarHeuristic, hookimpl

VICTIM = []  # empty in the process that rebuilds the heuristic, so that its bounds are the same


def fit(budget, info, params):
    return params


def zero(array):
    ctypes.memset(array.ctypes.data, 0, array.nbytes)


def change():
    for array in VICTIM:
        zero(array)


def build_batch(many):
    def build(context):
        VICTIM[:] = [context.network.arcs.weights]
        return BatchHeuristic({}, many)

    return build


def when_sampled(arrays, us, t):
    change()
    return np.zeros(len(us), dtype=np.int64)


def when_audited(arrays, us, t):
    if len(us) == 81:  # every vertex at once
        change()
    return np.zeros(len(us), dtype=np.int64)


def build_when_searched(context):
    VICTIM[:] = [context.network.arcs.weights]
    return ScalarHeuristic(lambda u, t: change() or 0)


def build_thread(context):
    """A thread that begins when the heuristic is first asked, long after this has returned."""
    asked = threading.Event()
    weights = context.network.arcs.weights
    thread = threading.Thread(target=lambda: asked.wait() and zero(weights), daemon=True)
    thread.start()

    def h(u, t):
        asked.set()
        thread.join()
        return 0

    return ScalarHeuristic(h)


LATE = threading.Event()


def build_late_thread(context):
    """A thread that changes the graph once the cell is over, which a test says."""
    weights = context.network.arcs.weights

    def wait():
        LATE.wait()
        zero(weights)
        LATE.clear()

    threading.Thread(target=wait, daemon=True).start()
    return ScalarHeuristic(lambda u, t: 0)


def build_quietly(context):
    context.pools.farthest(2)
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("when-sampled", "changes the graph as its name says", fit, build_batch(when_sampled))
    yield Method("when-audited", "changes the graph as its name says", fit, build_batch(when_audited))
    yield Method("when-searched", "changes the graph as its name says", fit, build_when_searched)
    yield Method("from-a-thread", "changes the graph as its name says", fit, build_thread)
    yield Method("from-a-late-thread", "changes the graph as its name says", fit, build_late_thread)
    yield Method("quiet", "changes the graph as its name says", fit, build_quietly)
