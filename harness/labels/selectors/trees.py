"""Shortest-path trees, and where in one the bounds of the landmarks so far are worst."""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.networks import Arcs, Network
from aacbench.search.workspace import borrow, give_back
from aacbench.util.compiled import kernel

ROOT = -1  # the parent of a root, and of what it does not reach


def shortest_path_tree(network: Network, root: int) -> tuple[Array, Array, Array]:
    """Distances from the root (-1 is unreachable), each vertex's parent, and the vertices reached, nearest first.

    A parent comes before its children even where arcs weigh nothing.
    """
    graph = network.graph
    distances = np.empty(graph.vertices, dtype=graph.weights.dtype)
    parents = np.empty(graph.vertices, dtype=np.int64)
    order = np.empty(graph.vertices, dtype=np.int64)
    work = borrow(network)
    reached = grow_tree(network.arcs, np.int64(network.place[root]), distances, parents, order, work.heap)
    give_back(network, work)
    placed = parents[network.place]
    mothers = np.where(placed < 0, ROOT, network.original[placed])
    return distances[network.place], mothers, network.original[order[:reached]].astype(np.int64)


@kernel
def grow_tree(arcs: Arcs, source: int, distances: Array, parents: Array, order: Array, heap: Array) -> int:
    """Dijkstra from the source that notes parents and the order of settling; returns how many were settled."""
    distances[:] = -1
    parents[:] = -1
    distances[source] = 0
    zero = distances[source]
    sift_up(heap, 0, zero, zero, np.uint32(0), np.uint32(source))
    size, settled = 1, 0
    while size > 0:
        g, u = heap[0].f, heap[0].vertex
        size -= 1
        sift_down(heap, size)
        if g > distances[u]:
            continue
        order[settled] = u
        settled += 1
        for arc in range(arcs.indptr[u], arcs.indptr[u + np.uint32(1)]):
            v = arcs.heads[arc]
            through = g + arcs.weights[arc]
            if distances[v] < 0 or through < distances[v]:
                distances[v] = through
                parents[v] = u
                sift_up(heap, size, through, zero, np.uint32(0), v)
                size += 1
    return settled


@kernel
def worst_leaf(order: Array, parents: Array, slack: Array, blocked: Array) -> int:
    """The leaf below the vertex of the largest size, down the largest children; -1 where every size is zero.

    A vertex's size is the slack of its subtree added up, or zero where the subtree holds a blocked vertex. Ties go to
    the lowest vertex. `slack` and `blocked` are used up.
    """
    heaviest = np.full(len(parents), -1, dtype=np.int64)  # the largest child
    best = -1
    for k in range(len(order) - 1, -1, -1):
        v = order[k]
        if blocked[v]:
            slack[v] = 0
        if slack[v] > 0 and (best < 0 or slack[v] > slack[best] or (slack[v] == slack[best] and v < best)):
            best = v
        mother = parents[v]
        if mother >= 0:
            slack[mother] += slack[v]
            blocked[mother] |= blocked[v]
            rival = heaviest[mother]
            if rival < 0 or slack[v] > slack[rival] or (slack[v] == slack[rival] and v < rival):
                heaviest[mother] = v
    while best >= 0 and heaviest[best] >= 0:
        best = heaviest[best]
    return best
