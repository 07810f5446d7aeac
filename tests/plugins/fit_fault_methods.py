"""Methods whose `fit` misbehaves, each in one way; every one has a name that says how."""

import os
import sys
import time

import numpy as np

from aacbench.plugins import LabelHeuristic, Method, ScalarHeuristic, Unsupported, hookimpl


class Unreadable(BaseException):
    def __str__(self):
        raise ValueError("no message")


def too_large(context):
    return LabelHeuristic({"rows": np.zeros((context.graph.vertices, 64), dtype=np.int32)}, "differential")


def flat(context):
    return ScalarHeuristic(_zero)


def _zero(u, t):
    return 0


def fit_raises(budget, info, params):
    raise ValueError("no fit")


def fit_leaves(budget, info, params):
    sys.exit(3)


def fit_too_large(budget, info, params):
    return {**params, "K": 10**6}


def fit_junk(budget, info, params):
    return "junk"


def fit_unwritable(budget, info, params):
    return {"K": float("inf"), "rows": object()}


def fit_odd_reason(budget, info, params):
    return Unsupported("this is beyond it: \ud800")


def fit_hangs(budget, info, params):
    while True:
        time.sleep(1)


def fit_allocates(budget, info, params):
    return {"K": int(np.ones(10 * 2**30, dtype=np.uint8)[0])}


def fit_exits_at_once(budget, info, params):
    os._exit(0)


def fit_segfaults(budget, info, params):
    import ctypes

    ctypes.string_at(0)


def fit_returns_nothing(budget, info, params):
    return None


def fit_odd_keys(budget, info, params):
    return {("K", 1): 2}


def fit_interrupts(budget, info, params):
    raise KeyboardInterrupt


def fit_unreadable(budget, info, params):
    raise Unreadable


def fit_unreadable_reason(budget, info, params):
    return Unsupported(Unreadable())


class Hollow(dict):
    def items(self):
        raise RuntimeError("there is nothing in it")

    keys = __iter__ = items


def fit_hollow(budget, info, params):
    return Hollow(K=1)


def fit_changes_what_it_is_given(budget, info, params):
    object.__setattr__(budget, "bytes_per_vertex", 10**6)
    object.__setattr__(info, "vertices", 1)
    params["K"] = 3
    return params


def fit_needs_coordinates(budget, info, params):
    return params if info.coordinates else Unsupported("it needs coordinates")


FITS = {
    "fit-raises": fit_raises,
    "fit-leaves": fit_leaves,
    "fit-too-large": fit_too_large,
    "fit-junk": fit_junk,
    "fit-unwritable": fit_unwritable,
    "fit-odd-reason": fit_odd_reason,
    "fit-hangs": fit_hangs,
    "fit-allocates": fit_allocates,
    "fit-exits-at-once": fit_exits_at_once,
    "fit-segfaults": fit_segfaults,
    "fit-needs-coordinates": fit_needs_coordinates,
    "fit-returns-nothing": fit_returns_nothing,
    "fit-odd-keys": fit_odd_keys,
    "fit-interrupts": fit_interrupts,
    "fit-unreadable": fit_unreadable,
    "fit-unreadable-reason": fit_unreadable_reason,
    "fit-hollow": fit_hollow,
    "fit-changes-what-it-is-given": fit_changes_what_it_is_given,
}


@hookimpl
def aacbench_methods():
    for name, fit in FITS.items():
        yield Method(name, "misbehaves as its name says", fit, too_large if name == "fit-too-large" else flat)
