"""Landmark pools: landmarks with their distance tables, farthest-point sampling, and pools on disk."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array, frozen
from aacbench.labels.exact import Direction, distances
from aacbench.search.networks import Network
from aacbench.util import array_store

_INT32_MAX = 2**31 - 1
_SMALLEST = 16  # landmarks of a stored pool


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Landmarks and their distances, one row per landmark, in the graph's own vertex order; -1 is unreachable.

    `forward[k, v]` is d(l_k, v) and `backward[k, v]` is d(v, l_k); on a symmetric graph they are the same array.
    `seconds` is the computing time, also for a pool that was read from disk.
    """

    landmarks: Array
    forward: Array
    backward: Array
    seconds: float

    def __len__(self) -> int:
        return len(self.landmarks)

    @property
    def symmetric(self) -> bool:
        return self.forward is self.backward

    def take(self, chosen: Array | slice) -> "Pool":
        """Return the pool of some of the landmarks, in the type it would have by itself."""
        forward = _narrowed(self.forward[chosen])
        backward = forward if self.symmetric else _narrowed(self.backward[chosen])
        return Pool(self.landmarks[chosen], forward, backward, self.seconds)

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
) -> Pool:
    """Return a pool by farthest-point sampling over a component, by default the largest strong one.

    The first landmark is `start`, by default the component's lowest vertex. Each further one maximises the forward
    distance from the nearest landmark; ties go to the lowest vertex. The first K landmarks do not depend on `count`,
    so the rows of a `shorter` pool with the same start are taken, not computed again.
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
    landmarks: list[int] = []
    rows: list[Array] = []
    waiting: list[Future[Array]] = []
    with ThreadPoolExecutor(1) as thread:
        for landmark, row in _sample(network, first, inside, count, ahead):
            landmarks.append(landmark)
            rows.append(row)
            if not network.graph.symmetric and len(rows) > len(back):
                waiting.append(thread.submit(distances, network, landmark, Direction.TO))
    forward = table(rows)
    backward = forward if network.graph.symmetric else table([*back[:count], *(row.result() for row in waiting)])
    seconds = time.perf_counter() - began + (0.0 if shorter is None else shorter.seconds)
    return Pool(np.array(landmarks, dtype=np.int64), forward, backward, seconds)


def of_landmarks(network: Network, landmarks: npt.ArrayLike, threads: int = 2) -> Pool:
    chosen = np.asarray(landmarks, dtype=np.int64)
    if chosen.ndim != 1 or not chosen.size:
        raise UsageError("A pool needs a list of at least one landmark.")
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        forward = table(list(pool.map(lambda l: distances(network, int(l), Direction.FROM), chosen)))
        backward = forward
        if not network.graph.symmetric:
            backward = table(list(pool.map(lambda l: distances(network, int(l), Direction.TO), chosen)))
    return Pool(chosen, forward, backward, time.perf_counter() - began)


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

    def compute() -> Pool:
        return farthest_points(network, size, start=first, component=inside, shorter=shorter)

    return stored(root, _key(network, first, size), compute, check).first(count)


def _powers_below(size: int) -> Iterator[int]:
    """The sizes of smaller stored pools, largest first."""
    while size > _SMALLEST:
        size = 1 << ((size - 1).bit_length() - 1)
        yield size


def stored(root: Path, key: str, compute: Callable[[], Pool], check: Callable[[], None] = lambda: None) -> Pool:
    """Return the pool stored under the key; if there is none, compute, check and store it, then read it back."""
    if pool := _read(root, key):
        return pool
    pool = compute()
    check()
    arrays = {"landmarks": pool.landmarks, "forward": pool.forward}
    if not pool.symmetric:
        arrays["backward"] = pool.backward
    try:
        array_store.write(root, key, arrays, {"seconds": pool.seconds})
    except OSError:
        return pool  # a full or read-only disk costs time, not the result
    return _read(root, key) or pool


def _sample(
    network: Network, first: int, inside: Array, count: int, known: Sequence[Array]
) -> Iterator[tuple[int, Array]]:
    """Yield landmarks with their rows, of which the first are `known`."""
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


def table(rows: list[Array]) -> Array:
    """Return the rows stacked into a read-only table, as int32 if every distance fits."""
    narrow = rows[0].dtype.kind == "i" and max(int(row.max()) for row in rows) <= _INT32_MAX
    stacked = np.empty((len(rows), len(rows[0])), dtype=np.int32 if narrow else np.result_type(*rows))
    for k, row in enumerate(rows):
        stacked[k] = row
    stacked.flags.writeable = False
    return stacked


def _narrowed(table: Array) -> Array:
    """Return a table as int32 if every distance fits, as if its rows had been computed without any others."""
    narrow = table.dtype == np.int64 and table.max(initial=0) <= _INT32_MAX
    return frozen(table, np.int32) if narrow else table


def _key(network: Network, start: int, count: int) -> str:
    return array_store.key_of({"pool": "fps/1", "graph": network.graph.digest, "start": start, "count": count})


def _read(root: Path, key: str) -> Pool | None:
    artifact = array_store.read(root, key)
    if artifact is None:
        return None
    arrays = artifact.arrays
    forward = arrays["forward"]
    return Pool(arrays["landmarks"], forward, arrays.get("backward", forward), artifact.facts["seconds"])


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
