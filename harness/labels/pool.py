"""Landmark pools: landmarks with their distance tables, farthest-point sampling, and pools on disk."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array, frozen
from aacbench.labels.exact import Direction, distance_rows, distances
from aacbench.labels.table import Table, fits_int32
from aacbench.search.networks import Network
from aacbench.util import array_store

_SMALLEST = 16  # landmarks of a stored pool
_IN_MEMORY = 2**28  # bytes of a table; a larger one is computed in the file it is stored in


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Landmarks and their distances, one row per landmark, in the graph's own vertex order; -1 is unreachable.

    `forward[k, v]` is d(l_k, v) and `backward[k, v]` is d(v, l_k); on a symmetric graph they are the same array.
    `seconds` is the computing time, also for a pool that was read from disk. A pool `at` some vertices has only their
    columns, in ascending order; `columns_of` finds the column of a vertex in either kind of pool.
    """

    landmarks: Array
    forward: Array
    backward: Array
    seconds: float
    vertices: Array | None = None  # of the columns, where these are not all vertices

    def __len__(self) -> int:
        return len(self.landmarks)

    @property
    def symmetric(self) -> bool:
        return self.forward is self.backward

    def take(self, chosen: Array | slice) -> "Pool":
        """Return the pool of some of the landmarks, in the type it would have by itself."""
        forward = _narrowed(self.forward[chosen])
        backward = forward if self.symmetric else _narrowed(self.backward[chosen])
        return Pool(self.landmarks[chosen], forward, backward, self.seconds, self.vertices)

    def at(self, vertices: Array) -> "Pool":
        """Return the pool with the columns of these vertices only, in the same type."""
        wanted = np.unique(vertices)
        columns = self.columns_of(wanted)
        forward = frozen(self.forward[:, columns], self.forward.dtype)
        backward = forward if self.symmetric else frozen(self.backward[:, columns], self.backward.dtype)
        return Pool(self.landmarks, forward, backward, self.seconds, wanted)

    def columns_of(self, vertices: Array) -> Array:
        """Return the positions of vertices in the rows of the tables."""
        if self.vertices is None:
            return vertices
        found = np.searchsorted(self.vertices, vertices)
        if not np.array_equal(self.vertices[np.minimum(found, len(self.vertices) - 1)], vertices):
            raise UsageError("The pool has no column of some of these vertices; ask for a pool at all of them.")
        return found

    def first(self, count: int) -> "Pool":
        """Return the pool of the first `count` landmarks, charged its share of the time."""
        if not 0 <= count <= len(self):
            raise UsageError(f"Cannot take the first {count} landmarks from a pool of {len(self)}.")
        return replace(self.take(slice(count)), seconds=self.seconds * count / max(1, len(self)))


def farthest_points(
    network: Network,
    count: int,
    *,
    start: int | None = None,
    component: Array | None = None,
    shorter: Pool | None = None,
    at: Array | None = None,
    scratch: Path | None = None,
) -> Pool:
    """Return a pool by farthest-point sampling over a component, by default the largest strong one.

    The first landmark is `start`, by default the component's lowest vertex. Each further one maximises the forward
    distance from the nearest landmark; ties go to the lowest vertex. The first K landmarks do not depend on `count`,
    so the rows of a `shorter` pool with the same start are taken, not computed again. With `at`, only the columns of
    these vertices are kept. With `scratch`, the tables are files in this folder, not memory.
    """
    inside = components.largest(network.graph) if component is None else np.unique(component)
    first = int(inside[0]) if start is None else start
    if not 0 < count <= len(inside):
        raise UsageError(f"Cannot choose {count} landmarks from a component of {len(inside)} vertices.")
    if first not in inside:
        raise UsageError(f"The first landmark, {first}, is not in the component.")
    began = time.perf_counter()
    ahead = [] if shorter is None else list(shorter.forward)
    back = [] if shorter is None else list(shorter.backward)
    columns = None if at is None else np.unique(at)
    forward = _table(network, count, columns, scratch, "forward")
    backward = forward if network.graph.symmetric else _table(network, count, columns, scratch, "backward")
    landmarks: list[int] = []

    def fill_backward(k: int, landmark: int) -> None:
        backward.put(k, back[k] if k < len(back) else distances(network, landmark, Direction.TO))

    with ThreadPoolExecutor(1) as thread:
        waiting: list[Future[None]] = []
        for landmark, row in farthest_rows(network, first, inside, count, ahead):
            forward.put(len(landmarks), row)
            if backward is not forward:
                waiting.append(thread.submit(fill_backward, len(landmarks), landmark))
            landmarks.append(landmark)
        for done in waiting:
            done.result()
    seconds = time.perf_counter() - began + (0.0 if shorter is None else shorter.seconds)
    return _finished(landmarks, forward, backward, seconds, columns)


def of_landmarks(
    network: Network,
    landmarks: npt.ArrayLike,
    threads: int = 2,
    *,
    at: Array | None = None,
    scratch: Path | None = None,
) -> Pool:
    """Return the pool of given landmarks, in their order; `at` and `scratch` are those of `farthest_points`."""
    chosen = np.asarray(landmarks, dtype=np.int64)
    if chosen.ndim != 1 or not chosen.size:
        raise UsageError("A pool needs a list of at least one landmark.")
    began = time.perf_counter()
    forward, backward = (distance_rows(network, chosen.tolist(), side, threads) for side in Direction)
    pool = of_rows(network, chosen.tolist(), forward, backward, at, scratch)
    return replace(pool, seconds=time.perf_counter() - began)


def of_rows(
    network: Network,
    landmarks: Sequence[int],
    forward: Iterable[Array],
    backward: Iterable[Array],
    at: Array | None = None,
    scratch: Path | None = None,
) -> Pool:
    """Return the pool with these rows, which are read once; on a symmetric graph only the forward ones."""
    columns = None if at is None else np.unique(at)

    def filled(rows: Iterable[Array], name: str) -> Table:
        found = _table(network, len(landmarks), columns, scratch, name)
        for k, row in enumerate(rows):
            found.put(k, row)
        return found

    ahead = filled(forward, "forward")
    back = ahead if network.graph.symmetric else filled(backward, "backward")
    return _finished(landmarks, ahead, back, 0.0, columns)


def _table(network: Network, count: int, columns: Array | None, scratch: Path | None, name: str) -> Table:
    large = scratch is not None and columns is None and count * network.graph.vertices * 4 > _IN_MEMORY
    return Table(count, columns, scratch / name if scratch is not None and large else None)


def _finished(landmarks: npt.ArrayLike, forward: Table, backward: Table, seconds: float, columns: Array | None) -> Pool:
    ahead = forward.finished()
    back = ahead if backward is forward else backward.finished()
    return Pool(np.array(landmarks, dtype=np.int64), ahead, back, seconds, columns)


def stored_farthest_points(
    root: Path, network: Network, count: int, *, start: int | None = None, check: Callable[[], None] = lambda: None
) -> Pool:
    """Return `farthest_points` from disk, as a prefix of a longer pool if there is one; else compute and store it.

    The size of a stored pool is a power of two, so that a budget sweep computes few pools, each from the one before.
    `check` is called before a pool is stored; it raises an exception to prevent that.
    """
    inside = components.largest(network.graph)
    first = int(inside[0]) if start is None else start
    size = min(len(inside), max(_SMALLEST, 1 << (count - 1).bit_length())) if 0 < count <= len(inside) else count
    for longer in sorted({size, *(size << k for k in range(1, 5))}):
        if pool := _read(root, _key(network, first, longer)):
            return pool.first(count)
    shorter = next((pool for less in _powers_below(size) if (pool := _read(root, _key(network, first, less)))), None)

    def compute(scratch: Path | None) -> Pool:
        return farthest_points(network, size, start=first, component=inside, shorter=shorter, scratch=scratch)

    return stored(root, _key(network, first, size), compute, check).first(count)


def _powers_below(size: int) -> Iterator[int]:
    """The sizes of smaller stored pools, largest first."""
    while size > _SMALLEST:
        size = 1 << ((size - 1).bit_length() - 1)
        yield size


def stored(
    root: Path, key: str, compute: Callable[[Path | None], Pool], check: Callable[[], None] = lambda: None
) -> Pool:
    """Return the pool stored under the key; if there is none, compute, check and store it, then read it back.

    `compute` gets a folder for its tables, or None where there can be none.
    """
    if pool := _read(root, key):
        return pool
    with array_store.scratch(root) as folder:
        try:
            pool = compute(folder)
        except OSError:
            pool = compute(None)  # a full or read-only disk costs memory, not the result
        check()
        arrays = {"landmarks": pool.landmarks, "forward": pool.forward}
        if not pool.symmetric:
            arrays["backward"] = pool.backward
        if pool.vertices is not None:
            arrays["vertices"] = pool.vertices
        try:
            array_store.write(root, key, arrays, {"seconds": pool.seconds})
        except OSError:
            return pool
    return _read(root, key) or pool


def farthest_rows(
    network: Network, first: int, inside: Array, count: int, known: Sequence[Array] = ()
) -> Iterator[tuple[int, Array]]:
    """Yield landmarks by farthest-point sampling with their forward rows, of which the first are `known`."""
    graph = network.graph
    highest = np.iinfo(np.int64).max if graph.integral else np.inf
    nearest = np.full(graph.vertices, -1, dtype=graph.weights.dtype)
    nearest[inside] = highest
    landmark = first
    for k in range(count):
        row = known[k].astype(nearest.dtype) if k < len(known) else distances(network, landmark, Direction.FROM)
        np.minimum(nearest, np.where(row < 0, highest, row), out=nearest)
        nearest[landmark] = -1  # never chosen twice, even if every distance is zero
        yield landmark, row
        landmark = int(np.argmax(nearest))


def _narrowed(table: Array) -> Array:
    """Return a table as int32 if every distance fits, as if its rows had been computed without any others."""
    return frozen(table, np.int32) if table.dtype == np.int64 and fits_int32(table) else table


def _key(network: Network, start: int, count: int) -> str:
    return array_store.key_of({"pool": "fps/1", "graph": network.graph.digest, "start": start, "count": count})


def _read(root: Path, key: str) -> Pool | None:
    artifact = array_store.read(root, key)
    if artifact is None:
        return None
    arrays = artifact.arrays
    forward = arrays["forward"]
    backward = arrays.get("backward", forward)
    return Pool(arrays["landmarks"], forward, backward, artifact.facts["seconds"], arrays.get("vertices"))


def covering_radius(pool: Pool, component: Array) -> float:
    """Return max over v of min over l of d(l, v); infinite if some vertex is reached by no landmark."""
    return _radius(pool.forward, pool.forward, component)


def symmetric_covering_radius(pool: Pool, component: Array) -> float:
    """Return max over v of min over l of max(d(l, v), d(v, l)), which limits directed bounds."""
    return _radius(pool.forward, pool.backward, component)


def _radius(there: Array, back: Array, component: Array) -> float:
    nearest = np.full(len(component), np.inf)
    for ahead, behind in zip(there, back, strict=True):  # one by one: a large pool does not fit into memory twice
        one, other = ahead[component], behind[component]
        np.minimum(nearest, np.where((one < 0) | (other < 0), np.inf, np.maximum(one, other)), out=nearest)
    return float(nearest.max())
