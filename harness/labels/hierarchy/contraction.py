"""Contraction of a graph, vertex by vertex: the arcs that lead upwards, shortcuts among them.

Vertices are taken by the arcs that their contraction adds, alone and in ratio to those it removes, and by depth, with
priorities updated when they come up. Those of very many neighbours come after all others, the fewest neighbours first:
to count their shortcuts would take most of the time and save few arcs. A shortcut u -> x is left out if a witness, a
path around the contracted vertex that is no longer, is found within a limit of work. A witness that is missed costs an
arc and changes no distance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.graphs.record import Array, Graph
from aacbench.labels.hierarchy.heaps import pop, push, rise, sink
from aacbench.util.compiled import kernel

NONE = np.int64(2**62)  # the weight of an arc that is not there
LOOKS = 4_000  # arcs that a search for witnesses looks at; a limit on vertices would not bound the work at hubs
FEWEST_LOOKS = 100  # the same around a vertex of high degree
FAVOURABLE = 8  # up to this degree a search may look at all of them
WORK, WORK_PER_ARC = 10**8, 2_000  # arcs that all searches may look at: so many, and more per arc and vertex
DENSE = 128  # neighbours; a vertex that has more is not judged by its shortcuts
_DEPTH, _RATIO = 4, 24  # weights in the priority, beside 1 for each arc added
_PARTS = 16  # of 1, in which priorities are whole numbers
_MOST = np.int64(2**29)  # a priority has room for no more
_HEAP = 1 << 14  # entries of a search for witnesses
_FINISHED, _TOO_MANY_ARCS, _TOO_MUCH_WORK = range(3)


@dataclass(frozen=True, eq=False, slots=True)
class Contraction:
    """Contracted vertices in their order, each with its arcs to vertices contracted later or never.

    The arcs of vertex `order[i]` are those from `first[i]` to `first[i + 1]`: their heads, the weights `out` of v -> x,
    and the weights `into` of x -> v, `NONE` where there is no such arc. On a symmetric graph `into` is `out`. The
    vertices that were not contracted are the core, and `core` has the arcs among them: tails, heads, weights.
    """

    order: Array
    first: Array
    heads: Array
    out: Array
    into: Array
    core: tuple[Array, Array, Array]
    vertices: int
    shortcuts: int
    stopped: str = ""
    """Why vertices are left; empty if none are."""

    @property
    def bytes_reached(self) -> int:
        """The least that the plain form takes: an arc upwards for each two vertices joined, and offsets."""
        return 8 * (len(self.heads) + len(self.core[0]) // 2) + 4 * self.vertices


_WHY = {_FINISHED: "", _TOO_MANY_ARCS: "it has too many shortcuts", _TOO_MUCH_WORK: "it takes too much work"}


def contract(graph: Graph, weights: Array, most_arcs: int) -> Contraction:
    """Contract the graph with these integer weights; stop once more than `most_arcs` arcs would be left upwards.

    Arcs in both directions between two vertices count once. What is left at the end counts, too: each of its arcs is
    an arc upwards whichever vertex comes next.
    """
    symmetric = graph.symmetric
    indptr, heads, out, into = _both_directions(graph, weights)
    most_work = WORK + WORK_PER_ARC * (graph.vertices + graph.arcs)
    found = contract_all(indptr, heads, out, into, symmetric, most_arcs, most_work)
    order, first, heads, out, into, tails, ends, lengths, shortcuts, why = found
    if symmetric:
        into = out
    return Contraction(
        order, first, heads, out, into, (tails, ends, lengths), graph.vertices, int(shortcuts), _WHY[why]
    )


def _both_directions(graph: Graph, weights: Array) -> tuple[Array, Array, Array, Array]:
    """Return rows of the neighbours of each vertex, with the weights out of it and into it."""
    weights = weights.astype(np.int64)
    if graph.symmetric:
        return graph.indptr.astype(np.int64), graph.indices.astype(np.int32), weights, weights.copy()
    tails, heads = graph.sources.astype(np.int64), graph.indices.astype(np.int64)
    absent = np.full(len(weights), NONE)
    keys = np.concatenate([tails * graph.vertices + heads, heads * graph.vertices + tails])
    unique, where = np.unique(keys, return_inverse=True)
    out, into = np.full(len(unique), NONE), np.full(len(unique), NONE)
    np.minimum.at(out, where, np.concatenate([weights, absent]))
    np.minimum.at(into, where, np.concatenate([absent, weights]))
    indptr = np.searchsorted(unique, np.arange(graph.vertices + 1) * graph.vertices)
    return indptr, (unique % graph.vertices).astype(np.int32), out, into


@kernel
def contract_all(indptr: Any, heads: Any, out: Any, into: Any, symmetric: Any, most_arcs: Any, most_work: Any) -> Any:
    n = len(indptr) - 1
    start, count, room = indptr[:-1].copy(), np.diff(indptr), np.diff(indptr)
    used, live = len(heads), len(heads)
    depth = np.zeros(n, dtype=np.int64)
    gone = np.zeros(n, dtype=np.bool_)
    place, placed = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    distance, stamp = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    keys, whose = np.empty(_HEAP, dtype=np.int64), np.empty(_HEAP, dtype=np.int32)
    clock = np.zeros(2, dtype=np.int64)  # the number of the latest search, and the arcs that searches looked at
    needed = np.empty((16, 16), dtype=np.int64)
    order, first = np.empty(n, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    up_heads = np.empty(len(heads) + 16, dtype=np.int32)
    up_out, up_into = np.empty(len(heads) + 16, dtype=np.int64), np.empty(len(heads) + 16, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    size, done, emitted, shortcuts, why = 0, 0, 0, 0, 0
    for v in range(n):
        if live // 2 > most_arcs:
            why = 1
            break
        if count[v] > DENSE:
            size = push(queue, size, _key_of_dense(count[v], v))
            continue
        needed = _room_for(needed, count[v])
        added, removed = _shortcuts(
            v, start, count, heads, out, into, symmetric, needed, distance, stamp, place, placed, keys, whose, clock
        )
        size = push(queue, size, _key(added, removed, depth[v], v))
        if clock[1] > most_work:
            why = 2
            break
    while size > 0 and why == 0:
        v = queue[0] & 0xFFFFFFFF
        size = pop(queue, size)
        dense = count[v] > DENSE
        if dense and size > 0 and _key_of_dense(count[v], v) > queue[0]:
            size = push(queue, size, _key_of_dense(count[v], v))
            continue
        needed = _room_for(needed, count[v])
        added, removed = _shortcuts(
            v, start, count, heads, out, into, symmetric, needed, distance, stamp, place, placed, keys, whose, clock
        )
        if clock[1] > most_work:
            why = 2
            break
        key = _key(added, removed, depth[v], v)
        if not dense and size > 0 and key > queue[0]:
            size = push(queue, size, key)
            continue
        if emitted + live // 2 > most_arcs:
            why = 1
            break
        degree = count[v]
        if emitted + degree > len(up_heads):
            larger = 2 * len(up_heads) + degree
            up_heads, up_out, up_into = _longer(up_heads, larger), _longer(up_out, larger), _longer(up_into, larger)
        wanted = used
        for k in range(start[v], start[v] + degree):
            up_heads[emitted], up_out[emitted], up_into[emitted] = heads[k], out[k], into[k]
            emitted += 1
            wanted += 2 * (count[heads[k]] + degree) + 4
        if wanted > len(heads):
            start, room, heads, out, into, used = _compacted(start, count, heads, out, into, wanted - used)
        order[done] = v
        done += 1
        first[done] = emitted
        gone[v] = True
        live -= 2 * degree
        for i in range(degree):
            u = heads[start[v] + i]
            depth[u] = max(depth[u], depth[v] + 1)
            _remove(u, v, start, count, heads, out, into)
            used, more = _connect(u, i, v, degree, start, count, room, used, heads, out, into, needed, place, placed)
            live += more
        shortcuts += added
        count[v] = 0
    tails, ends, lengths = _rest(gone, start, count, heads, out)
    up = up_heads[:emitted].copy(), up_out[:emitted].copy(), up_into[:emitted].copy()
    return order[:done].copy(), first[: done + 1].copy(), up[0], up[1], up[2], tails, ends, lengths, shortcuts, why


@kernel
def _key(added: Any, removed: Any, depth: Any, v: Any) -> Any:
    """The priority of a vertex and, for ties, its number, in one number."""
    priority = _PARTS * (added + _DEPTH * depth) + _PARTS * _RATIO * added // max(1, removed)
    return (min(priority, _MOST) << 32) | v


@kernel
def _key_of_dense(degree: Any, v: Any) -> Any:
    """The same for a vertex of very many neighbours: above all others."""
    return ((_MOST + degree) << 32) | v


@kernel
def _looks(degree: Any) -> Any:
    return max(FEWEST_LOOKS, min(LOOKS, FAVOURABLE * LOOKS // max(1, degree)))


@kernel
def _shortcuts(
    v: Any,
    start: Any,
    count: Any,
    heads: Any,
    out: Any,
    into: Any,
    symmetric: Any,
    needed: Any,
    distance: Any,
    stamp: Any,
    place: Any,
    placed: Any,
    keys: Any,
    whose: Any,
    clock: Any,
) -> Any:
    """Fill `needed[i, j]` with the shortcut from neighbour i to neighbour j, or `NONE`; return arcs added and removed.

    On a symmetric graph an edge counts as one arc.
    """
    degree, at = count[v], start[v]
    looks = _looks(degree)
    added, removed = 0, 0
    for i in range(degree):
        for j in range(degree):
            needed[i, j] = NONE
        removed += (out[at + i] < NONE) + (not symmetric and into[at + i] < NONE)
    clock[0] += 1
    for i in range(degree):
        place[heads[at + i]], placed[heads[at + i]] = i, -clock[0] - 1
    mark = -clock[0] - 1
    for i in range(degree):
        first = into[at + i]
        if first == NONE:
            continue
        lowest = i + 1 if symmetric else 0
        longest, missing = np.int64(-1), 0
        for j in range(lowest, degree):
            if j != i and out[at + j] < NONE:
                longest = max(longest, first + out[at + j])
                missing += 1
        if missing == 0:
            continue
        # Witnesses: Dijkstra from the neighbour without v, until every other neighbour has one or a limit is met.
        clock[0] += 1
        now, source = clock[0], heads[at + i]
        distance[source], stamp[source] = 0, now
        keys[0], whose[0] = 0, source
        size, left = 1, looks
        while size > 0 and left > 0 and missing > 0:
            d, x = keys[0], whose[0]
            size -= 1
            sink(keys, whose, size)
            if d > distance[x]:
                continue
            if d > longest:
                break
            left -= count[x]
            clock[1] += count[x]
            for k in range(start[x], start[x] + count[x]):
                y = heads[k]
                if y == v or out[k] == NONE:
                    continue
                through = d + out[k]
                if through > longest:
                    continue
                known = stamp[y] == now
                if known and distance[y] <= through:
                    continue
                if placed[y] == mark and place[y] >= lowest and place[y] != i:
                    limit = first + out[at + place[y]]
                    if through <= limit and not (known and distance[y] <= limit):
                        missing -= 1
                distance[y], stamp[y] = through, now
                if left > 0 and size < len(keys):
                    rise(keys, whose, size, through, y)
                    size += 1
        for j in range(lowest, degree):
            if j != i and out[at + j] < NONE:
                x, length = heads[at + j], first + out[at + j]
                if stamp[x] != now or distance[x] > length:
                    needed[i, j] = length
                    added += 1
                    if symmetric:
                        needed[j, i] = length
    clock[1] += degree * degree
    return added, removed


@kernel
def _connect(
    u: Any,
    i: Any,
    v: Any,
    degree: Any,
    start: Any,
    count: Any,
    room: Any,
    used: Any,
    heads: Any,
    out: Any,
    into: Any,
    needed: Any,
    place: Any,
    placed: Any,
) -> Any:
    """Put the shortcuts of neighbour i of v into its row; return the end of the used part, and the entries added."""
    at = start[u]
    for k in range(at, at + count[u]):
        place[heads[k]], placed[heads[k]] = k - at, u
    more = 0
    for j in range(degree):
        x, length, back = heads[start[v] + j], needed[i, j], needed[j, i]
        if min(length, back) == NONE:
            continue
        if placed[x] == u:
            k = at + place[x]
            out[k], into[k] = min(out[k], length), min(into[k], back)
            continue
        if count[u] == room[u]:
            larger = 2 * room[u] + 2
            for k in range(count[u]):
                heads[used + k], out[used + k], into[used + k] = heads[at + k], out[at + k], into[at + k]
            start[u], room[u] = used, larger
            at = used
            used += larger
        k = at + count[u]
        heads[k], out[k], into[k] = x, length, back
        count[u] += 1
        more += 1
    for k in range(at, at + count[u]):
        placed[heads[k]] = -1
    return used, more


@kernel
def _remove(u: Any, v: Any, start: Any, count: Any, heads: Any, out: Any, into: Any) -> None:
    """Remove v from the row of u; the last entry takes its place."""
    last = start[u] + count[u] - 1
    k = start[u]
    while heads[k] != v:
        k += 1
    heads[k], out[k], into[k] = heads[last], out[last], into[last]
    count[u] -= 1


@kernel
def _compacted(start: Any, count: Any, heads: Any, out: Any, into: Any, wanted: Any) -> Any:
    """The rows one behind the other in longer arrays, with as much free space as they take, and what is wanted."""
    n, live = len(start), count.sum()
    begin, used = np.empty_like(start), 0
    size = 3 * live + 2 * wanted + 16
    new_heads, new_out, new_into = np.empty(size, dtype=np.int32), np.empty(size, np.int64), np.empty(size, np.int64)
    for v in range(n):
        begin[v] = used
        for k in range(start[v], start[v] + count[v]):
            new_heads[used], new_out[used], new_into[used] = heads[k], out[k], into[k]
            used += 1
    return begin, count.copy(), new_heads, new_out, new_into, used


@kernel
def _rest(gone: Any, start: Any, count: Any, heads: Any, out: Any) -> Any:
    """The arcs among the vertices that were not contracted: tails, heads and weights."""
    total = 0
    for v in range(len(gone)):
        if not gone[v]:
            for k in range(start[v], start[v] + count[v]):
                total += out[k] < NONE
    tails, ends, lengths = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int64)
    at = 0
    for v in range(len(gone)):
        if not gone[v]:
            for k in range(start[v], start[v] + count[v]):
                if out[k] < NONE:
                    tails[at], ends[at], lengths[at] = v, heads[k], out[k]
                    at += 1
    return tails, ends, lengths


@kernel
def _longer(array: Any, size: Any) -> Any:
    result = np.empty(size, dtype=array.dtype)
    result[: len(array)] = array
    return result


@kernel
def _room_for(needed: Any, degree: Any) -> Any:
    return needed if degree <= len(needed) else np.empty((2 * degree, 2 * degree), dtype=np.int64)
