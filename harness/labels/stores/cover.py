"""A vertex cover whose complement is cheap to decode: rows are stored for the cover only.

For v outside the cover every neighbour is inside it, so d(l, v) is the least d(l, x) + w(x, v) over the arcs into v,
and d(v, l) the least w(v, x) + d(x, l) over the arcs out of v. A landmark has a distance of 0 to itself, which no arc
gives, so landmarks stay in the cover.
"""

import numpy as np

from aacbench.graphs.record import Array
from aacbench.search.networks import Arcs, Network, degrees
from aacbench.util.compiled import kernel

MOST_ARCS = 4  # in each direction, of a vertex without a row: decoding reads a row for each

_OPEN, _OUTSIDE, _INSIDE = 0, 1, 2


def vertex_cover(network: Network, landmarks: Array) -> Array:
    """Return which vertices have rows, in the network's order: all but a greedily chosen independent set."""
    stay = np.zeros(network.graph.vertices, dtype=np.bool_)
    stay[network.place[landmarks]] = True
    for arcs in (network.arcs, network.backward):
        stay |= degrees(arcs) > MOST_ARCS
    cover: Array = independent(network.arcs, network.backward, network.graph.symmetric, stay) != _OUTSIDE
    return cover


@kernel
def independent(ahead: Arcs, behind: Arcs, symmetric: bool, stay: Array) -> Array:
    """Choose vertices without a common arc, repeatedly one with the fewest undecided neighbours, and mark them 1.

    Parallel lists of both directions count a neighbour twice where arcs go both ways; only the order depends on it.
    """
    vertices = len(stay)
    sides = 1 if symmetric else 2
    state = np.zeros(vertices, dtype=np.int8)
    degree = np.zeros(vertices, dtype=np.int64)
    for v in range(vertices):
        state[v] = _INSIDE if stay[v] else _OPEN
    entries = np.int64(vertices)
    for v in range(vertices):
        for side in range(sides):
            arcs = ahead if side == 0 else behind
            for arc in range(arcs.indptr[v], arcs.indptr[v + 1]):
                if state[arcs.heads[arc]] == _OPEN:
                    degree[v] += 1
        entries += degree[v]
    # One list for each number of undecided neighbours; a vertex is entered again whenever its number falls.
    first = np.full(degree.max() + 1 if vertices else 1, -1, dtype=np.int64)
    following = np.empty(entries, dtype=np.int64)
    vertex = np.empty(entries, dtype=np.int64)
    entered = 0
    for v in range(vertices - 1, -1, -1):
        if state[v] == _OPEN:
            vertex[entered], following[entered] = v, first[degree[v]]
            first[degree[v]] = entered
            entered += 1
    fewest = 0
    while fewest < len(first):
        entry = first[fewest]
        if entry < 0:
            fewest += 1
            continue
        first[fewest] = following[entry]
        v = vertex[entry]
        if state[v] != _OPEN or degree[v] != fewest:
            continue
        state[v] = _OUTSIDE
        for side in range(sides):
            arcs = ahead if side == 0 else behind
            for arc in range(arcs.indptr[v], arcs.indptr[v + 1]):
                x = arcs.heads[arc]
                if state[x] != _OPEN:
                    continue
                state[x] = _INSIDE
                for way in range(sides):
                    around = ahead if way == 0 else behind
                    for second in range(around.indptr[x], around.indptr[x + np.uint32(1)]):
                        y = around.heads[second]
                        if state[y] == _OPEN:
                            degree[y] -= 1
                            vertex[entered], following[entered] = y, first[degree[y]]
                            first[degree[y]] = entered
                            entered += 1
                            fewest = min(fewest, degree[y])
    return state
