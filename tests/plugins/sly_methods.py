"""Methods that keep what they should not, or leave something behind for whoever comes after them."""

import os
import sys
import time

import numpy as np

from aacbench.labels.exact import Direction, distances
from aacbench.plugins import BatchHeuristic, Method, ScalarHeuristic, hookimpl

REMEMBERED = {}
ASKED = [0]


def fits(budget, info, params):
    return params


def remembered(arrays, us, t):
    return REMEMBERED[t][us] if t in REMEMBERED else np.zeros(len(us), dtype=np.int64)


def remember(context):
    """Exact distances to the targets it will be asked for, where no array shows them."""
    REMEMBERED.update({int(t): distances(context.network, int(t), Direction.TO) for t in context.validation.targets})
    return BatchHeuristic({}, remembered)


def now_and_then(context):
    def h(u, t):
        ASKED[0] += 1
        return ASKED[0] % 2

    return ScalarHeuristic(h)


def fork(context):
    os.fork()
    return ScalarHeuristic(lambda u, t: 0)


def one(context):
    return ScalarHeuristic(lambda u, t: int(u != t))


def shallow(context):
    sys.setrecursionlimit(sys.getrecursionlimit() // 20)
    raise RuntimeError("and it is gone, but for what it set")


def deep(context):
    def down(steps):
        return 0 if not steps else down(steps - 1)

    down(500)
    return ScalarHeuristic(lambda u, t: 0)


def least(context):
    return BatchHeuristic({}, below_all)


def below_all(arrays, us, t):
    return np.full(len(us), np.iinfo(np.int64).min)


def truth(context):
    return ScalarHeuristic(lambda u, t: u != t)


def endless(params):
    time.sleep(600)


BUILDS = {
    "remember": remember,
    "now-and-then": now_and_then,
    "a-fork": fork,
    "b-one": one,
    "c-shallow": shallow,
    "d-deep": deep,
    "least": least,
    "truth": truth,
}


@hookimpl
def aacbench_methods():
    yield from (Method(name, "is sly", fits, build) for name, build in BUILDS.items())
    yield Method("endless-parts", "is sly", fits, one, made_of=endless)
