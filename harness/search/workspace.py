"""What one search thread keeps between queries, so that a query allocates nothing and does no O(V) work."""

from typing import NamedTuple

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.heap import entry_dtype
from aacbench.search.networks import Network


class Workspace(NamedTuple):
    """One record per vertex, a heap, and a buffer for the path.

    A vertex's record counts only if its `stamp` is the current one, `stamp[0]`; a new query raises that number.
    """

    state: Array
    heap: Array
    path: Array
    stamp: Array


def state_dtype(weight: np.dtype) -> np.dtype:
    """The record a search keeps per vertex: 32 bytes, so that two share a cache line."""
    return np.dtype(
        [
            ("g", weight),
            ("h", weight),
            ("stamp", np.uint32),
            ("parent", np.uint32),
            ("sequence", np.uint32),
            ("closed", np.uint32),
        ],
        align=True,
    )


def workspace(network: Network) -> Workspace:
    """A fresh workspace; its heap holds every entry a search without re-expansions can push."""
    weight, vertices = network.graph.weights.dtype, network.graph.vertices
    return Workspace(
        np.zeros(vertices, dtype=state_dtype(weight)),
        np.empty(network.graph.arcs + 2, dtype=entry_dtype(weight)),
        np.empty(vertices, dtype=np.uint32),
        np.zeros(1, dtype=np.uint32),
    )


def borrow(network: Network) -> Workspace:
    """A workspace for one thread: an idle one of this network's, or a fresh one."""
    try:
        return network.idle.pop()
    except IndexError:
        return workspace(network)


def give_back(network: Network, work: Workspace) -> None:
    """Keep a workspace for the next batch."""
    network.idle.append(work)
