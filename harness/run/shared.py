"""What cells share, computed once for all workers: landmark pools, and Dijkstra's answers as the reference."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aacbench.graphs import components
from aacbench.graphs.record import Array, frozen
from aacbench.labels.pool import Pool, farthest_points, of_landmarks, stored_farthest_points
from aacbench.labels.selectors import select, stored_selection
from aacbench.queries.record import QuerySet
from aacbench.run.loaded_graph import LoadedGraph
from aacbench.search import Answers, Network, dijkstra, parse
from aacbench.util import array_store as artifacts
from aacbench.util.atomic_io import storing
from aacbench.util.compiled import kernel_digest
from aacbench.util.file_lock import file_lock

LARGE = 2**30  # bytes of the tables of a pool that is neither stored nor in memory unless all its columns are wanted


class Pools:
    """Pools of one graph, in a folder shared by all workers; without a folder they are computed each time.

    `seconds` is what those asked for took to compute, now or earlier; `spent` is how long this build waited for them.
    Before a pool is stored, `check` must find the graph unchanged: all cells would read the pool of another graph.
    """

    def __init__(self, network: Network, folder: Path | None = None, check: Callable[[], None] = lambda: None) -> None:
        self._network = network
        self._folder = folder
        self._check = check
        self._charged: dict[tuple[object, ...], dict[int, float]] = {}
        self._whole: list[tuple[Pool, Pool]] = []  # pools at some vertices, and what they were cut from
        self._room = len(components.largest(network.graph))
        self._digest = network.graph.digest  # before the method could change the graph
        self.spent = 0.0

    @property
    def seconds(self) -> float:
        """The time to charge: of pools with the same start, that of the largest, which holds the others."""
        return sum(max(sizes.values()) for sizes in self._charged.values())

    def is_large(self, count: int) -> bool:
        graph = self._network.graph
        width = (4 if graph.integral else 8) * (1 if graph.symmetric else 2)
        return min(count, self._room) * graph.vertices * width > LARGE

    def farthest(self, count: int, start: int | None = None, *, at: Array | None = None) -> Pool:
        if at is not None and start is None and self.is_large(count):
            return self._streamed("fps", count, 0, at)
        wanted = min(count, self._room)
        with self._computing(f"{start}"):
            if self._folder is None:
                pool = farthest_points(self._network, wanted, start=start)
            else:
                pool = stored_farthest_points(self._folder, self._network, wanted, start=start, check=self._check)
        return self._cut(self._charge(pool, count, "farthest", start), at)

    def selected(self, selector: str, count: int, seed: int = 0, *, at: Array | None = None) -> Pool:
        if selector == "fps":
            return self.farthest(count, at=at)
        if at is not None and self.is_large(count):
            return self._streamed(selector, count, seed, at)
        wanted = min(count, self._room)
        with self._computing(f"{selector}-{wanted}-{seed}"):
            if self._folder is None:
                pool = select(self._network, selector, wanted, seed)
            else:
                pool = stored_selection(self._folder, self._network, selector, wanted, seed, check=self._check)
        return self._cut(self._charge(pool, wanted, selector, wanted, seed), at)

    def of(self, landmarks: npt.ArrayLike, *, at: Array | None = None) -> Pool:
        """The pool of given landmarks, which is not stored."""
        with self._timed():
            pool = of_landmarks(self._network, np.asarray(landmarks), at=at)
        return self._charge(pool, len(pool), "given", len(self._charged))

    def rows(self, pool: Pool, chosen: npt.ArrayLike) -> Pool:
        """Whole rows, from the pool that this one was cut from if there is one, else computed; in the pool's type."""
        positions = np.asarray(chosen, dtype=np.int64)
        whole = next((whole for cut, whole in self._whole if cut is pool), pool)
        if whole.vertices is None:
            forward = whole.forward[positions]
            backward = forward if whole.symmetric else whole.backward[positions]
            return Pool(whole.landmarks[positions], forward, backward, whole.seconds)
        found = self.of(pool.landmarks[positions])
        forward = frozen(found.forward, pool.forward.dtype)
        return replace(
            found, forward=forward, backward=forward if found.symmetric else frozen(found.backward, pool.backward.dtype)
        )

    def _cut(self, pool: Pool, at: Array | None) -> Pool:
        if at is None:
            return pool
        self._whole.append((pool.at(at), pool))
        return self._whole[-1][0]

    def _streamed(self, selector: str, count: int, seed: int, at: Array) -> Pool:
        """A pool at some vertices, of which no more is ever stored or in memory."""
        wanted = min(count, self._room)
        with self._computing(f"{selector}-{wanted}-{seed}-columns"):
            if self._folder is None:
                pool = select(self._network, selector, wanted, seed, at=at)
            else:
                pool = stored_selection(self._folder, self._network, selector, wanted, seed, at=at, check=self._check)
        return self._charge(pool, wanted, selector, wanted, seed)

    def _charge(self, pool: Pool, count: int, *kind: object) -> Pool:
        """Note what a pool cost; of one kind, a smaller pool is a prefix of a larger one."""
        self._charged.setdefault(kind, {})[count] = pool.seconds
        return pool

    @contextmanager
    def _computing(self, name: str) -> Iterator[None]:
        """One worker computes a pool while the others wait for it: they would only compute the same beside it."""
        with ExitStack() as held:
            held.enter_context(self._timed())
            if self._folder is not None:
                held.enter_context(file_lock(self._folder, f"pool-{self._digest[:24]}-{name}", wait=True))
            yield

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spent += time.perf_counter() - began


def references(
    folders: Sequence[Path], loaded: LoadedGraph, parts: Mapping[str, QuerySet], policy: str
) -> dict[str, Answers]:
    """Dijkstra's answers to the queries of each split, from one of the folders, or searched now and kept in the first.

    Workers that need the same parts share them out: each searches what nobody is searching yet, then waits.
    """
    found: dict[str, Answers] = {}
    for wait in (False, True):
        for name, queries in parts.items():
            if name not in found:
                answers = _reference(folders, loaded, queries, policy, wait)
                found |= {} if answers is None else {name: answers}
    return found


def _reference(
    folders: Sequence[Path], loaded: LoadedGraph, queries: QuerySet, policy: str, wait: bool
) -> Answers | None:
    folder, net = folders[0], loaded.net
    key = _key(net, queries, policy)
    if key in loaded.references:
        return loaded.references[key]
    kept = next(filter(None, (artifacts.read(each, key) for each in folders)), None)
    if kept is None:
        with file_lock(folder, f"reference-{key[:24]}", wait=wait) as mine:
            kept = artifacts.read(folder, key)  # another worker may have searched it meanwhile
            if kept is None and not mine:
                return None
            if kept is None:
                answers = dijkstra(net, queries.sources, queries.targets, policy=parse(policy))
                loaded.check()  # what a method has changed, even now in a thread of its own, must not be kept
                if not loaded.raised:
                    queries.check_optima(answers.cost, net.graph)
                with storing(folder.parent):
                    artifacts.write(folder, key, answers.columns(), {})
                return loaded.references.setdefault(key, answers)
    return loaded.references.setdefault(key, Answers(**kept.arrays, paths=None))


def _key(net: Network, queries: QuerySet, policy: str) -> str:
    made_from = {"graph": net.graph.digest, "queries": queries.digest, "policy": policy, "engine": kernel_digest()}
    return artifacts.key_of({"reference": "dijkstra/2", **made_from})
