"""Avoid (Goldberg and Werneck 2005): each landmark lies behind the region that earlier ones bound worst.

`Growing` is a pool that grows by one landmark at a time, with the ALT bounds of the landmarks so far.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distances
from aacbench.labels.pool import Pool, farthest_rows, of_rows
from aacbench.labels.table import RowStore
from aacbench.search.heap import sift_down, sift_up
from aacbench.search.networks import Arcs, Network, borrow, give_back
from aacbench.util.compiled import allocation_free, kernel

Row = Callable[[], Array]  # reads a row, which may be in a file


@dataclass(slots=True)
class Growing:
    """Landmarks and their rows of distances; on a symmetric graph `backward` is `forward`.

    `away` is the forward distance of each vertex from its nearest landmark.
    """

    network: Network
    landmarks: list[int] = field(default_factory=list)
    forward: list[Row] = field(default_factory=list)
    backward: list[Row] = field(default_factory=list)
    away: Array = field(init=False)
    store: RowStore = field(default_factory=RowStore)

    def __post_init__(self) -> None:
        if self.network.graph.symmetric:
            self.backward = self.forward
        self.away = np.full(self.network.graph.vertices, np.inf)

    @property
    def one_table(self) -> bool:
        return self.backward is self.forward

    def add(self, landmark: int) -> None:
        self._append(landmark, *(self._read_later(landmark, side) for side in self._sides))

    def add_farthest(self, first: int, inside: Array, count: int) -> None:
        """Add landmarks by farthest-point sampling; a second thread computes the rows of the other direction."""
        with ThreadPoolExecutor(1) as thread:
            found = [
                (landmark, self.store.put(row), [thread.submit(self._read_later, landmark, s) for s in self._sides[1:]])
                for landmark, row in farthest_rows(self.network, first, inside, count)
            ]
        for landmark, ahead, back in found:
            self._append(landmark, ahead, *(side.result() for side in back))

    @property
    def _sides(self) -> tuple[Direction, ...]:
        return (Direction.FROM,) if self.one_table else (Direction.FROM, Direction.TO)

    def _read_later(self, landmark: int, side: Direction) -> Row:
        return self.store.put(distances(self.network, landmark, side))

    def only(self, positions: Iterable[int]) -> "Growing":
        fewer = Growing(self.network, store=self.store)
        fewer.take_from(self, positions)
        return fewer

    def take_from(self, other: "Growing", positions: Iterable[int]) -> None:
        for k in positions:
            self._append(other.landmarks[k], other.forward[k], other.backward[k])

    def bounds_from(self, root: int) -> Array:
        """Return the ALT bound on d(root, v) for every v."""
        best = np.zeros(self.network.graph.vertices, dtype=self.network.graph.weights.dtype)
        for read in self.forward:
            row = read()
            raise_bounds(best, row, row[root], True, self.one_table)
        for read in () if self.one_table else self.backward:
            row = read()
            raise_bounds(best, row, row[root], False, True)
        return best

    def pool(self) -> Pool:
        return of_rows(self.network, self.landmarks, *self.rows())

    def rows(self) -> tuple[Iterator[Array], Iterator[Array]]:
        return (read() for read in self.forward), (read() for read in self.backward)

    def _append(self, landmark: int, ahead: Row, back: Row | None = None) -> None:
        self.landmarks.append(landmark)
        self.forward.append(ahead)
        if back is not None and not self.one_table:
            self.backward.append(back)
        lower_to(self.away, ahead())


@kernel
def raise_bounds(best: Array, row: Array, at_root: Any, ahead: bool, back: bool) -> None:
    """Raise bounds on d(root, v) to those of one landmark, from d(l, v), d(v, l) or both; -1 is unreachable."""
    if at_root < 0:
        return
    for v in range(len(best)):
        if row[v] >= 0:
            further = row[v] - at_root
            if ahead and further > best[v]:
                best[v] = further
            if back and -further > best[v]:
                best[v] = -further


@kernel
def lower_to(best: Array, row: Array) -> None:
    for v in range(len(best)):
        if row[v] >= 0 and row[v] < best[v]:
            best[v] = row[v]


ROOT = -1  # the parent of the root and of unreachable vertices


def avoid(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Return a pool of `count` landmarks; the first K of a longer run are the run for K."""
    grown = Growing(network)
    extend(grown, count, rng)
    return grown.pool()


def extend(grown: Growing, count: int, rng: np.random.Generator) -> None:
    inside = components.largest(grown.network.graph)
    while len(grown.landmarks) < min(count, len(inside)):
        grown.add(next_landmark(grown, inside, rng))


def next_landmark(grown: Growing, inside: Array, rng: np.random.Generator) -> int:
    """Return the leaf below the worst-bounded part of the shortest-path tree of a random root.

    The probability of a root grows with the square of its distance from the nearest landmark. If every bound is exact,
    return the vertex farthest from all landmarks.
    """
    root = _root(grown, inside, rng)
    distances, parents, order = shortest_path_tree(grown.network, root)
    member = np.zeros(len(distances), dtype=np.bool_)
    member[inside] = True
    # As floats, since sums of integers may not fit 64 bits.
    slack = np.maximum(distances - grown.bounds_from(root), 0).astype(np.float64)
    blocked = np.zeros(len(distances), dtype=np.bool_)
    blocked[grown.landmarks] = True
    leaf = int(worst_leaf(order[member[order]], parents, slack, blocked))
    return leaf if leaf >= 0 else _farthest(grown, inside)


def _root(grown: Growing, inside: Array, rng: np.random.Generator) -> int:
    if not grown.landmarks:
        return int(rng.choice(inside))
    away = grown.away[inside]
    largest = away.max()
    share = np.square(away / largest) if largest > 0 else np.ones(len(inside))
    return int(rng.choice(inside, p=share / share.sum()))


def _farthest(grown: Growing, inside: Array) -> int:
    away = grown.away.copy()
    away[grown.landmarks] = -1
    return int(inside[np.argmax(away[inside])])


def shortest_path_tree(network: Network, root: int) -> tuple[Array, Array, Array]:
    """Return distances from the root (-1 is unreachable), parents, and the reached vertices, nearest first.

    A parent comes before its children, also where arcs have weight zero.
    """
    graph = network.graph
    distances = np.empty(graph.vertices, dtype=graph.weights.dtype)
    parents = np.empty(graph.vertices, dtype=np.int64)
    order = np.empty(graph.vertices, dtype=np.int64)
    work = borrow(network)
    reached = grow_tree(network.arcs, np.int64(network.place[root]), distances, parents, order, work.heap)
    give_back(network, work)
    placed = parents[network.place]
    renumbered = np.where(placed < 0, ROOT, network.original[placed])
    return distances[network.place], renumbered, network.original[order[:reached]].astype(np.int64)


@allocation_free
def grow_tree(arcs: Arcs, source: int, distances: Array, parents: Array, order: Array, heap: Array) -> int:
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
    """Return the leaf reached from the vertex of the largest size by descending to the largest child each time.

    The size of a vertex is the summed slack of its subtree, or zero if the subtree has a blocked vertex. Ties go to the
    lowest vertex. Return -1 if every size is zero. `slack` and `blocked` are overwritten.
    """
    heaviest = np.full(len(parents), -1, dtype=np.int64)  # the largest child
    best = -1
    for k in range(len(order) - 1, -1, -1):
        v = order[k]
        if blocked[v]:
            slack[v] = 0
        if slack[v] > 0 and (best < 0 or slack[v] > slack[best] or (slack[v] == slack[best] and v < best)):
            best = v
        parent = parents[v]
        if parent >= 0:
            slack[parent] += slack[v]
            blocked[parent] |= blocked[v]
            rival = heaviest[parent]
            if rival < 0 or slack[v] > slack[rival] or (slack[v] == slack[rival] and v < rival):
                heaviest[parent] = v
    while best >= 0 and heaviest[best] >= 0:
        best = heaviest[best]
    return best
