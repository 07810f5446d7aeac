"""Batches of queries on several threads; the answers do not depend on how many there are."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search import astar
from aacbench.search.answers import Answers, from_tables
from aacbench.search.layouts import Layout, memo_for, no_labels
from aacbench.search.networks import Network
from aacbench.search.policy import POLICIES, Policy, parse
from aacbench.search.python_tier import search_python
from aacbench.search.workspace import borrow, give_back

_CHUNK = 16  # queries a thread takes at a time: enough to hide the call, few enough to share the work evenly


def search(
    network: Network,
    heuristic: Any,
    sources: npt.ArrayLike,
    targets: npt.ArrayLike,
    policy: Policy | str = POLICIES["modern"],
    *,
    threads: int = 1,
    paths: bool = False,
) -> Answers:
    """A* from each source to its target, in the graph's own vertex numbers.

    `heuristic` is a label layout (compiled), or a callable h(u, t) (plain Python: the same counts, slowly). On integer
    weights a bound that is no integer is cut to one, which cannot raise it.
    """
    if isinstance(policy, str):
        policy = parse(policy)
    s, t = _vertices(network, sources), _vertices(network, targets)
    if len(s) != len(t):
        raise UsageError(f"{len(s)} sources and {len(t)} targets do not pair up.")
    if callable(heuristic):
        return search_python(network.graph, heuristic, s, t, policy, paths=paths)
    if not isinstance(heuristic, Layout):
        kind = type(heuristic).__name__
        raise UsageError(f"a heuristic is a layout, such as alt_layout makes, or a function h(u, t), not a {kind}.")
    heuristic.check_fits(network)
    return _compiled(network, heuristic.labels, s, t, policy, max(1, threads), paths)


def dijkstra(network: Network, sources: npt.ArrayLike, targets: npt.ArrayLike, **options: Any) -> Answers:
    """A* that knows nothing, h = 0, with the options of `search`."""
    return search(network, no_labels(network), sources, targets, **options)


def _compiled(
    network: Network, labels: Any, sources: Array, targets: Array, policy: Policy, threads: int, paths: bool
) -> Answers:
    numbers = astar.numbers(network.graph.weights.dtype)
    rules = astar.rules(policy)
    costs = np.empty((len(sources), len(astar.COSTS)), dtype=network.graph.weights.dtype)
    counts = np.empty((len(sources), len(astar.COUNTS)), dtype=np.int64)
    found: list[Array] = [np.empty(0, dtype=np.int64)] * len(sources)
    starts, goals = network.place[sources].astype(np.int64), network.place[targets].astype(np.int64)

    def work_through(chunks: Iterator[slice]) -> None:
        work, memo = borrow(network), memo_for(labels)
        for chunk in chunks:
            ends, rows = (starts[chunk], goals[chunk]), (costs[chunk], counts[chunk])
            heap = astar.search_all(network.arcs, labels, memo, work, rules, numbers, *ends, *rows)
            work = work._replace(heap=heap)
            if paths:
                found[chunk.start] = _path(network, work.path, sources[chunk.start], costs, counts, chunk.start)
        give_back(network, work)

    _share(work_through, len(sources), 1 if paths else _CHUNK, threads)
    bad = np.flatnonzero(costs[:, astar.COST] == astar.NOT_FINITE)
    if len(bad):
        raise UsageError(
            f"h is not a finite number, or beyond 2^62, on the way from {sources[bad[0]]} to {targets[bad[0]]}."
        )
    return from_tables(costs, counts, found if paths else None)


def _share(work_through: Callable[[Iterator[slice]], None], count: int, size: int, threads: int) -> None:
    chunks = iter([slice(start, min(start + size, count)) for start in range(0, count, size)])
    if threads == 1 or count <= size:
        work_through(chunks)
        return
    with ThreadPoolExecutor(threads) as pool:  # a list's iterator hands each chunk to one thread only
        try:
            for done in [pool.submit(work_through, chunks) for _ in range(threads)]:
                done.result()
        finally:
            for _ in chunks:  # after an error or an interrupt nobody is to begin another
                pass


def _path(network: Network, buffer: Array, source: int, costs: Array, counts: Array, query: int) -> Array:
    if costs[query, astar.COST] < 0:
        return np.empty(0, dtype=np.int64)
    edges = counts[query, astar.PATH_EDGES]
    tail = network.original[buffer[len(buffer) - edges :]]
    return np.concatenate(([source], tail)).astype(np.int64)


def _vertices(network: Network, values: npt.ArrayLike) -> Array:
    array = np.atleast_1d(np.asarray(values))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise UsageError("sources and targets must be lists of vertex numbers.")
    if array.min() < 0 or array.max() >= network.graph.vertices:
        wrong = array[(array < 0) | (array >= network.graph.vertices)][0]
        raise UsageError(f"vertex {wrong} is not in the graph, which has vertices 0..{network.graph.vertices - 1}.")
    return array.astype(np.int64)
