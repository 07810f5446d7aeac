"""A contraction hierarchy as a heuristic: a search upwards from the goal, then each asked vertex evaluated once.

Contraction is in plain Python, for small graphs. The bound is the exact distance.
"""

import heapq
import math

from numba import njit

from aacbench.plugins import GoalSearch, LabelHeuristic, Method, Scratch, Unsupported, hookimpl
from aacbench.plugins.kernels import add_work, get, is_set, put

UNREACHABLE = 2**61
SETTLED = 50  # vertices that a search for a path around a vertex may settle


def fit(budget, info, params):
    if not info.integral:
        return Unsupported("the weights of the hierarchy are whole numbers")
    return {**params, "room": budget.total_bytes(info)}


def build(context):
    made = context.artifact("hierarchy", lambda: contracted(context.graph))
    arrays = {name: made[name] for name in ("up", "up_heads", "up_weights", "down", "down_heads", "down_weights")}
    size = sum(array.nbytes for array in arrays.values())
    if size > context.params["room"]:
        return Unsupported("the hierarchy does not fit", bytes_needed=size)
    scratch = {
        "reached": Scratch(1, "weight", math.inf),  # distance to the goal by downward arcs alone
        "exact": Scratch(1, "weight"),
        "place": Scratch(1, "int", -1),
        "heap": Scratch(1, "int", None),
        "stack": Scratch(1, "int", None),
    }
    goal = GoalSearch(start, scratch=scratch)
    return LabelHeuristic(arrays, distance, goal=goal, facts={"shortcuts": made["shortcuts"]})


def contracted(graph):
    """The arcs that lead upwards, by tail, and those that lead downwards, by head, with those of shortcuts."""
    out, into = [{} for _ in range(graph.vertices)], [{} for _ in range(graph.vertices)]
    for u, v, w in zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True):
        out[u][v] = into[v][u] = w
    up, down, shortcuts = [{} for _ in out], [{} for _ in out], 0
    queue = [(len(out[v]) + len(into[v]), v) for v in range(graph.vertices)]
    heapq.heapify(queue)
    while queue:
        _, v = heapq.heappop(queue)
        needed = needed_shortcuts(out, into, v)
        cost = len(needed) - len(out[v]) - len(into[v])
        if queue and (cost, v) > queue[0]:
            heapq.heappush(queue, (cost, v))
            continue
        up[v], down[v] = dict(out[v]), dict(into[v])
        for u in into[v]:
            del out[u][v]
        for w in out[v]:
            del into[w][v]
        for u, w, length in needed:
            out[u][w] = into[w][u] = length
        shortcuts += len(needed)
    return {**rows("up", up), **rows("down", down), "shortcuts": shortcuts}


def needed_shortcuts(out, into, v):
    found = []
    for u, first in into[v].items():
        lengths = {w: first + second for w, second in out[v].items() if w != u}
        around = distances_around(out, u, v, max(lengths.values(), default=0))
        found += [(u, w, length) for w, length in lengths.items() if around.get(w, math.inf) > length]
    return found


def distances_around(out, source, avoided, limit):
    best, settled, queue = {source: 0}, 0, [(0, source)]
    while queue and settled < SETTLED:
        d, x = heapq.heappop(queue)
        if d > best[x] or d > limit:
            continue
        settled += 1
        for y, w in out[x].items():
            if y != avoided and d + w < best.get(y, math.inf):
                best[y] = d + w
                heapq.heappush(queue, (d + w, y))
    return best


def rows(name, arcs):
    import numpy as np

    heads = [v for each in arcs for v in each]
    weights = [w for each in arcs for w in each.values()]
    return {
        name: np.cumsum([0, *map(len, arcs)]).astype(np.int32),
        f"{name}_heads": np.array(heads, dtype=np.int32),
        f"{name}_weights": np.array(weights, dtype=np.int64),
    }


@njit
def start(labels, scratch, t):
    """Dijkstra from the goal against the arcs that lead down to it."""
    put(scratch.reached, t, 0, 0)
    size = push(scratch, 0, t)
    while size > 0:
        v = scratch.heap[0]
        size = pop(scratch, size)
        add_work(scratch, 1)
        for arc in range(labels.down[v], labels.down[v + 1]):
            x, length = labels.down_heads[arc], get(scratch.reached, v) + labels.down_weights[arc]
            if length < get(scratch.reached, x):
                put(scratch.reached, x, 0, length)
                size = push(scratch, size, x)


@njit
def distance(labels, scratch, u, t):
    """The least of the way down from u, and of each arc upwards with the distance from its head."""
    size = 1
    scratch.stack[0] = u
    while size > 0:
        v, ready = scratch.stack[size - 1], True
        least = get(scratch.reached, v)
        for arc in range(labels.up[v], labels.up[v + 1]):
            x = labels.up_heads[arc]
            if is_set(scratch.exact, x):
                least = min(least, labels.up_weights[arc] + get(scratch.exact, x))
            else:
                scratch.stack[size] = x
                size += 1
                ready = False
                break
        if ready:
            if not is_set(scratch.exact, v):
                put(scratch.exact, v, 0, least)
                add_work(scratch, 1)
            size -= 1
    found = get(scratch.exact, u)
    return found if found < UNREACHABLE else 0


@njit
def push(scratch, size, v):
    """Add a vertex to the heap, or lift it, whose distance has become less."""
    hole = get(scratch.place, v)
    if hole < 0:
        hole = size
        size += 1
    key = get(scratch.reached, v)
    while hole > 0 and get(scratch.reached, scratch.heap[(hole - 1) // 2]) > key:
        move(scratch, hole, scratch.heap[(hole - 1) // 2])
        hole = (hole - 1) // 2
    move(scratch, hole, v)
    return size


@njit
def pop(scratch, size):
    """Remove the first vertex of the heap."""
    put(scratch.place, scratch.heap[0], 0, -1)
    size -= 1
    last, hole = scratch.heap[size], 0
    key = get(scratch.reached, last)
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        if child + 1 < size:
            child += get(scratch.reached, scratch.heap[child + 1]) < get(scratch.reached, scratch.heap[child])
        if get(scratch.reached, scratch.heap[child]) >= key:
            break
        move(scratch, hole, scratch.heap[child])
        hole = child
    if size > 0:
        move(scratch, hole, last)
    return size


@njit
def move(scratch, hole, v):
    scratch.heap[hole] = v
    put(scratch.place, v, 0, hole)


@hookimpl
def aacbench_methods():
    yield Method("hierarchy", "exact distances from a contraction hierarchy", fit, build)
