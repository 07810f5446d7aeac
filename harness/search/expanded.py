"""Which vertices one search expands, for pictures and lessons; the counts of a study need no such list."""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.astar import Answers
from aacbench.search.batch import checked_vertices, search
from aacbench.search.networks import Network
from aacbench.search.policy import POLICIES, Policy, parse
from aacbench.search.python_tier import closed_python


def expanded_vertices(
    network: Network, heuristic: object, source: int, target: int, policy: Policy | str = POLICIES["modern"]
) -> tuple[Array, Answers]:
    """Return the vertices that A* expands, in ascending order and each once, and the answer with its path.

    Vertices that only a goal search settles are not among them.
    """
    if isinstance(policy, str):
        policy = parse(policy)
    answers = search(network, heuristic, [source], [target], policy, paths=True)
    (s,), (t,) = checked_vertices(network, source), checked_vertices(network, target)
    if s == t:
        return np.empty(0, dtype=np.int64), answers
    if callable(heuristic):
        return closed_python(network.graph, heuristic, int(s), int(t), policy), answers
    work = network.idle[-1]  # the search has just given it back, with the records of its only query
    closed = (work.state["stamp"] == work.stamp[0]) & (work.state["closed"] != 0)
    return np.sort(network.original[closed].astype(np.int64)), answers
