"""Graphs of a plugin: a good one, and one for every way in which a loader can go wrong."""

import os
import time
from pathlib import Path

from aacbench.plugins import GraphSource, Method, ScalarHeuristic, hookimpl


def ring(vertices=12, weight=3):
    from aacbench.graphs import from_arcs

    here = list(range(vertices))
    there = [(v + 1) % vertices for v in here]
    return from_arcs(vertices, here + there, there + here, [weight] * (2 * vertices), name="its own name")


def failing():
    raise ValueError("no map today")


def junk():
    return {"vertices": 12}


def forged():
    graph = ring()
    graph.__dict__["digest"] = "0" * 64
    return graph


def once_and_again():
    """A ring on its first call; after that another one."""
    counter = Path(os.environ["COUNTER"])
    calls = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(calls + 1))
    return ring(weight=3 if calls == 0 else 4)


@hookimpl
def aacbench_graphs():
    yield GraphSource("own:ring", "twelve vertices in a ring", ring)
    yield GraphSource("own:failing", "raises", failing)
    yield GraphSource("own:leaving", "exits", lambda: os._exit(3))
    yield GraphSource("own:hanging", "never comes", lambda: time.sleep(3600))
    yield GraphSource("own:junk", "no graph", junk)
    yield GraphSource("own:forged", "says that it is another", forged)
    yield GraphSource("own:changing", "another one from the second call on", once_and_again)


def build(context):
    if os.environ.get("HANG") == context.graph.name:
        time.sleep(3600)
    return ScalarHeuristic(lambda u, t: 0)


@hookimpl
def aacbench_methods():
    yield Method("zero", "no bound", lambda budget, info, params: params, build)
