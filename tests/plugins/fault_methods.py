"""Methods that misbehave, each in one way; every one has a name that says how."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from aacbench.plugins import (
    BatchHeuristic,
    Claims,
    LabelHeuristic,
    Method,
    Parameter,
    ScalarHeuristic,
    hookimpl,
)

LEFT_BEHIND = {}


def fits(budget, info, params):
    return params


def _zero(u, t):
    return 0


def hang(context):
    while True:
        time.sleep(1)


def hang_and_hold_on(context):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang(context)


def allocate(context):
    return ScalarHeuristic(np.ones(10 * 2**30, dtype=np.uint8).item)


def raise_at_query_57(context):
    queries, latest = 0, -1

    def h(u, t):
        nonlocal queries, latest
        queries, latest = queries + (t != latest), t
        if queries == 57:
            raise ZeroDivisionError("query 57")
        return 0

    return ScalarHeuristic(h)


def raise_odd_text(context):
    raise ValueError("not text: \ud800")


def raise_interrupt(context):
    raise KeyboardInterrupt


class Unreadable(BaseException):
    def __str__(self):
        raise ValueError("no message")


def raise_unreadable(context):
    raise Unreadable


def doubled(context):
    pool = context.pools.farthest(2)
    return BatchHeuristic({"rows": pool.forward[:2].T.copy()}, twice_the_bound)


def twice_the_bound(arrays, us, t):
    rows = arrays["rows"].astype(np.int64)
    return 2 * np.abs(rows[us] - rows[t]).max(axis=1)


def jagged(context):
    pool = context.pools.farthest(2)
    return BatchHeuristic({"rows": pool.forward[:2].T.copy()}, every_other)


def every_other(arrays, us, t):
    rows = arrays["rows"].astype(np.int64)
    return np.where(us % 2, 0, np.abs(rows[us] - rows[t]).max(axis=1))


def not_a_number(context):
    return ScalarHeuristic(lambda u, t: float("nan"))


def not_a_number_in_arrays(context):
    return BatchHeuristic({"rows": np.full(context.graph.vertices, np.nan, dtype=np.float32)}, look_up)


def look_up(arrays, us, t):
    return arrays["rows"][us]


def too_large(context):
    return LabelHeuristic({"rows": np.zeros((context.graph.vertices, 64), dtype=np.int32)}, "differential")


def set_flags(context):
    context.graph.weights.flags.writeable = True
    context.graph.weights[:] = 1
    return ScalarHeuristic(_zero)


def _overwrite(array):
    import ctypes

    ctypes.memset(array.ctypes.data, 0, array.nbytes)


def overwrite_weights(context):
    _overwrite(context.graph.weights)
    return ScalarHeuristic(_zero)


def overwrite_arcs(context):
    _overwrite(context.network.arcs.weights)
    return ScalarHeuristic(_zero)


def overwrite_queries(context):
    _overwrite(context.validation.sources)
    return ScalarHeuristic(_zero)


def overwrite_and_ask_for_a_pool(context):
    _overwrite(context.network.arcs.weights)
    context.pools.farthest(2)
    return ScalarHeuristic(_zero)


def overwrite_and_raise(context):
    _overwrite(context.network.arcs.weights)
    raise ValueError("gone")


def overwrite_later(context):
    weights = context.network.arcs.weights

    def h(u, t):
        _overwrite(weights)
        return 0

    return ScalarHeuristic(h)


def replace_arrays(context):
    object.__setattr__(context.graph, "weights", context.graph.weights * 2)
    return ScalarHeuristic(_zero)


def leave(context):
    sys.exit(0)


def leave_at_once(context):
    os._exit(0)


def kill_itself(context):
    os.kill(os.getpid(), signal.SIGKILL)


def keep_in_module(context):
    LEFT_BEHIND["rows"] = np.ones(context.graph.vertices, dtype=np.int32)
    return BatchHeuristic({}, from_module)


def from_module(arrays, us, t):
    return np.minimum(LEFT_BEHIND["rows"][us], us != t).astype(np.int64)


def keep_in_closure(context):
    rows = np.zeros(context.graph.vertices, dtype=np.int32)
    return BatchHeuristic({}, lambda arrays, us, t: rows[us])


def return_nothing(context):
    return None


def return_text(context):
    return "h"


def flat(context):
    return ScalarHeuristic(_zero)


def search_junk(params):
    return 3


def search_exits(params):
    os._exit(7)


def print_much(context):
    print("this must not reach the command's output")
    return ScalarHeuristic(_zero)


def start_a_child(context):
    import subprocess

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(os.environ["FAULT_CHILD"]).write_text(str(child.pid))
    hang(context)


def clocked(context):
    """Takes its numbers from the clock, and not from the seed."""
    noise = np.full(context.graph.vertices, time.time_ns() % 2**31, dtype=np.int32)
    return BatchHeuristic({"noise": noise}, nothing)


def seeded(context):
    """Takes its numbers from the seed, and claims that the seed changes nothing, unless it says so."""
    noise = np.random.default_rng(context.seed).integers(9, size=context.graph.vertices, dtype=np.int32)
    return BatchHeuristic({"noise": noise}, nothing)


def nothing(arrays, us, t):
    return np.zeros(len(us), dtype=np.int64)


def raise_store_error(context):
    from aacbench.errors import StoreError

    raise StoreError("the method says that the disk is full.")


def go_away(context):
    """Leaves its worker in another folder, with something left to be computed there."""
    os.chdir(os.environ["FAULT_FOLDER"])
    context.pools.farthest(3)
    return ScalarHeuristic(_zero)


def slow(context):
    time.sleep(0.3)
    return ScalarHeuristic(_zero)


BUILDS = {
    "hang": hang,
    "hang-and-hold-on": hang_and_hold_on,
    "allocate": allocate,
    "raise-at-query-57": raise_at_query_57,
    "raise-odd-text": raise_odd_text,
    "raise-interrupt": raise_interrupt,
    "raise-unreadable": raise_unreadable,
    "doubled": doubled,
    "jagged": jagged,
    "not-a-number": not_a_number,
    "not-a-number-in-arrays": not_a_number_in_arrays,
    "too-large": too_large,
    "set-flags": set_flags,
    "overwrite-weights": overwrite_weights,
    "overwrite-arcs": overwrite_arcs,
    "overwrite-queries": overwrite_queries,
    "overwrite-and-ask-for-a-pool": overwrite_and_ask_for_a_pool,
    "overwrite-and-raise": overwrite_and_raise,
    "overwrite-later": overwrite_later,
    "replace-arrays": replace_arrays,
    "leave": leave,
    "leave-at-once": leave_at_once,
    "kill-itself": kill_itself,
    "keep-in-module": keep_in_module,
    "keep-in-closure": keep_in_closure,
    "return-nothing": return_nothing,
    "return-text": return_text,
    "print-much": print_much,
    "start-a-child": start_a_child,
    "raise-store-error": raise_store_error,
    "go-away": go_away,
    "slow": slow,
    "clocked": clocked,
    "seeded": seeded,
}


@hookimpl
def aacbench_methods():
    for name, build in BUILDS.items():
        yield Method(name, "misbehaves as its name says", fits, build)
    yield Method("search-junk", "misbehaves as its name says", fits, flat, search=search_junk)
    yield Method("search-exits", "misbehaves as its name says", fits, flat, search=search_exits)
    grid = {"K": Parameter(1, "changes nothing")}
    yield Method("seeded-and-says-so", "has a seed", fits, seeded, Claims(deterministic=False))
    yield Method("clocked-grid", "has settings to choose from", fits, clocked, parameters=grid)
    yield Method("honestly-random", "has a seed", fits, flat, Claims(deterministic=False))
    yield Method("jagged-and-says-so", "inconsistent, honestly", fits, jagged, Claims(consistent=False))
