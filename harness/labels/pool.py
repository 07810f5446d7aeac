"""Landmark pools: farthest-point landmarks with their distance tables, computed once per graph, and kept on disk."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.exact import Direction, distances
from aacbench.search.networks import Network
from aacbench.util import array_store as artifacts

_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Landmarks and their distances, a row a landmark, in the graph's own vertex order; -1 is unreachable.

    `forward[k, v]` is d(l_k, v) and `backward[k, v]` is d(v, l_k): the same array on a symmetric graph. `seconds` is
    what computing them took, whether now or when they were put on disk.
    """

    landmarks: Array
    forward: Array
    backward: Array
    seconds: float

    def __len__(self) -> int:
        return len(self.landmarks)

    @property
    def symmetric(self) -> bool:
        """Whether one table serves both directions."""
        return self.forward is self.backward

    def take(self, chosen: Array) -> "Pool":
        """The pool of the landmarks at these positions."""
        forward = self.forward[chosen]
        backward = forward if self.symmetric else self.backward[chosen]
        return Pool(self.landmarks[chosen], forward, backward, self.seconds)

    def first(self, count: int) -> "Pool":
        """The pool of the first `count` landmarks, which is what a run for that count would have chosen."""
        if not 0 <= count <= len(self):
            raise UsageError(f"the first {count} landmarks cannot be taken from a pool of {len(self)}.")
        forward = self.forward[:count]
        backward = forward if self.symmetric else self.backward[:count]
        return Pool(self.landmarks[:count], forward, backward, self.seconds * count / max(1, len(self)))


def farthest_points(network: Network, count: int, *, start: int | None = None, component: Array | None = None) -> Pool:
    """Farthest-point sampling by forward distance over the component (the largest strong one), ties to the lowest id.

    The first landmark is `start`, by default the component's lowest vertex. The first K landmarks of a longer run are
    the run for K. On a symmetric graph there is one table; otherwise backward distances are computed beside forward.
    """
    inside = components.largest(network.graph) if component is None else np.unique(component)
    first = int(inside[0]) if start is None else start
    if not 0 < count <= len(inside):
        raise UsageError(f"{count} landmarks cannot be chosen from a component of {len(inside)} vertices.")
    if first not in inside:
        raise UsageError(f"the first landmark, {first}, is not in the component landmarks are chosen from.")
    began = time.perf_counter()
    if network.graph.symmetric:
        landmarks, forward = _collect(_sample(network, first, inside, count, lambda _: None))
        backward = forward
    else:
        waiting: list[Future[Array]] = []
        with ThreadPoolExecutor(1) as beside:
            turned = lambda l: waiting.append(beside.submit(distances, network, l, Direction.TO))  # noqa: E731
            landmarks, forward = _collect(_sample(network, first, inside, count, turned))
        backward = table([row.result() for row in waiting])
    return Pool(landmarks, forward, backward, time.perf_counter() - began)


def of_landmarks(network: Network, landmarks: npt.ArrayLike, threads: int = 2) -> Pool:
    """The pool of given landmarks, in their order."""
    chosen = np.asarray(landmarks, dtype=np.int64)
    if chosen.ndim != 1 or not chosen.size:
        raise UsageError("a pool is made of a list of at least one landmark.")
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        forward = table(list(pool.map(lambda l: distances(network, int(l), Direction.FROM), chosen)))
        backward = forward
        if not network.graph.symmetric:
            backward = table(list(pool.map(lambda l: distances(network, int(l), Direction.TO), chosen)))
    return Pool(chosen, forward, backward, time.perf_counter() - began)


def stored_farthest_points(
    root: Path,
    network: Network,
    count: int,
    *,
    start: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> Pool:
    """`farthest_points` from disk where it or a longer run is there, else computed and put there.

    A pool grows by doubling, so that a budget sweep computes few and every smaller K is a prefix. `check` is called
    before one is put on disk, and by raising keeps it from there.
    """
    inside = components.largest(network.graph)
    first = int(inside[0]) if start is None else start
    size = min(len(inside), max(16, 1 << (count - 1).bit_length())) if 0 < count <= len(inside) else count
    for longer in sorted({size, *(size << k for k in range(1, 5))}):
        kept = artifacts.read(root, _key(network, first, longer))
        if kept is not None:
            return _from_artifact(kept).first(count)
    computed = stored(
        root, _key(network, first, size), lambda: farthest_points(network, size, start=first, component=inside), check
    )
    return computed.first(count)


def stored(root: Path, key: str, compute: Callable[[], Pool], check: Callable[[], None] = lambda: None) -> Pool:
    """The pool that is kept under the key, else computed, checked and put there, and then read by memory map."""
    kept = artifacts.read(root, key)
    if kept is not None:
        return _from_artifact(kept)
    pool = compute()
    check()
    try:
        artifacts.write(root, key, _arrays(pool), {"seconds": pool.seconds})
    except OSError:
        return pool  # a full or read-only disk costs time, not the result
    kept = artifacts.read(root, key)
    return pool if kept is None else _from_artifact(kept)


def _sample(
    network: Network, first: int, inside: Array, count: int, chosen: Callable[[int], Any]
) -> Iterator[tuple[int, Array]]:
    graph = network.graph
    highest = np.iinfo(np.int64).max if graph.integral else np.inf
    nearest = np.full(graph.vertices, -1, dtype=graph.weights.dtype)
    nearest[inside] = highest
    landmark = first
    for _ in range(count):
        chosen(landmark)
        row = distances(network, landmark, Direction.FROM)
        np.minimum(nearest, np.where(row < 0, highest, row), out=nearest)
        nearest[landmark] = -1  # never twice, even where every distance is zero
        yield landmark, row
        landmark = int(np.argmax(nearest))


def _collect(sampled: Iterator[tuple[int, Array]]) -> tuple[Array, Array]:
    landmarks, rows = zip(*sampled, strict=True)
    return np.array(landmarks, dtype=np.int64), table(list(rows))


def table(rows: list[Array]) -> Array:
    """Rows stacked, as int32 where every distance fits."""
    narrow = rows[0].dtype.kind == "i" and max(int(row.max()) for row in rows) <= _INT32_MAX
    table = np.empty((len(rows), len(rows[0])), dtype=np.int32 if narrow else rows[0].dtype)
    for k, row in enumerate(rows):
        table[k] = row
    table.flags.writeable = False
    return table


def _key(network: Network, start: int, count: int) -> str:
    return artifacts.key_of({"pool": "fps/1", "graph": network.graph.digest, "start": start, "count": count})


def _arrays(pool: Pool) -> dict[str, Array]:
    arrays = {"landmarks": pool.landmarks, "forward": pool.forward}
    return arrays if pool.symmetric else {**arrays, "backward": pool.backward}


def _from_artifact(kept: artifacts.Artifact) -> Pool:
    forward = kept.arrays["forward"]
    return Pool(kept.arrays["landmarks"], forward, kept.arrays.get("backward", forward), kept.facts["seconds"])
