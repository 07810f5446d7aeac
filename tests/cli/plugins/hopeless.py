"""A method that never comes back, one that takes its process with it, and one that is wrong by a factor of two."""

import os
import time

from aacbench.plugins import Method, ScalarHeuristic, hookimpl


def fit(budget, info, params):
    return params


def sleep(context):
    time.sleep(3600)


def crash(context):
    print("so long")
    os._exit(7)


def double(context):
    from aacbench.labels import Direction, distances

    net = context.network
    return ScalarHeuristic(lambda u, t: 2 * max(0, int(distances(net, t, Direction.TO)[u])))


@hookimpl
def aacbench_methods():
    yield Method("sleeper", "hangs", fit, sleep)
    yield Method("crasher", "crashes", fit, crash)
    yield Method("double", "twice the distance", fit, double)
