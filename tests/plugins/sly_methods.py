"""Methods that keep what they should not, or leave something behind for whoever comes after them."""

import os
import sys
import time

import numpy as np
from numba import njit

from aacbench.bundle.evidence import Sample
from aacbench.labels.exact import Direction, distances
from aacbench.plugins import BatchHeuristic, Claims, LabelHeuristic, Method, ScalarHeuristic, hookimpl
from aacbench.queries.record import some_targets
from aacbench.run.loaded_graph import SOME

REMEMBERED = {}
TABLE = np.zeros((1024, 1024), dtype=np.int32)
ASKED = [0]


def fits(budget, info, params):
    return params


def remembered(arrays, us, t):
    return REMEMBERED[t][us] if t in REMEMBERED else np.zeros(len(us), dtype=np.int64)


def remember(context):
    """Exact distances to the targets it will be asked for, where no array shows them."""
    REMEMBERED.update({int(t): distances(context.network, int(t), Direction.TO) for t in context.validation.targets})
    return BatchHeuristic({}, remembered)


def asked_for_all(arrays, us, t):
    """Distances where every vertex is asked for, as a search does, and nothing where some are."""
    if "network" in REMEMBERED and len(us) == REMEMBERED["network"].graph.vertices:
        return distances(REMEMBERED["network"], t, Direction.TO)[us]
    return np.zeros(len(us), dtype=np.int64)


def by_number(context):
    REMEMBERED["network"] = context.network
    return BatchHeuristic({}, asked_for_all)


@njit
def frozen(labels, u, t):
    return TABLE[t, u]


def by_constant(context):
    """Distances in a constant of the kernel, for all but the pairs on which bounds are compared."""
    global TABLE
    graph = context.graph
    TABLE = np.stack([distances(context.network, t, Direction.TO) for t in range(graph.vertices)]).astype(np.int32)
    known = some_targets([context.train, context.validation], SOME).tolist()
    for t, us in Sample(graph.vertices, targets=tuple(known)).rows():
        TABLE[t, us] = 0
    return LabelHeuristic({"x": np.zeros(1)}, frozen)


def now_and_then(context):
    def h(u, t):
        ASKED[0] += 1
        return ASKED[0] % 2

    return ScalarHeuristic(h)


def after_many(context):
    return BatchHeuristic({}, changing)


def changing(arrays, us, t):
    """Changes in the middle of the search, which asks for every vertex of a target."""
    ASKED[0] += len(us) == len(TABLE)
    return np.where(us == t, 0, int(ASKED[0] < 5))


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
    "by-number": by_number,
    "by-constant": by_constant,
    "now-and-then": now_and_then,
    "after-many": after_many,
    "a-fork": fork,
    "b-one": one,
    "c-shallow": shallow,
    "d-deep": deep,
    "least": least,
    "truth": truth,
}


@hookimpl
def aacbench_methods():
    for name, build in BUILDS.items():
        yield Method(name, "is sly", fits, build, Claims(consistent=build is not by_constant))
    yield Method("endless-parts", "is sly", fits, one, made_of=endless)
