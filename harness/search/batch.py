"""Batches of queries on one or several threads; the number of threads changes no answer."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search import astar
from aacbench.search.astar import Answers, Numbers, Rules, answers_from_tables
from aacbench.search.layouts import Layout, no_labels
from aacbench.search.networks import Arcs, Network, Workspace, borrow, give_back
from aacbench.search.policy import POLICIES, Policy, parse
from aacbench.search.python_tier import search_python

_CHUNK = 16  # queries per call of the kernel: enough to hide its overhead, few enough to balance the threads


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
    """Run A* from each source to its target, given in the graph's own vertex numbers.

    `heuristic` is a label layout (compiled) or a callable h(u, t) (plain Python: the same counts, but slow). On integer
    weights a fractional bound is cut to an integer, which never raises it. `paths=True` also returns the paths.
    """
    if isinstance(policy, str):
        policy = parse(policy)
    s, t = checked_vertices(network, sources), checked_vertices(network, targets)
    if len(s) != len(t):
        raise UsageError(f"The number of sources ({len(s)}) and of targets ({len(t)}) must be equal.")
    if callable(heuristic):
        return search_python(network.graph, heuristic, s, t, policy, paths=paths)
    if not isinstance(heuristic, Layout):
        kind = type(heuristic).__name__
        raise UsageError(
            f"A heuristic must be a layout, such as alt_layout returns, or a function h(u, t), not a {kind}."
        )
    heuristic.check_fits(network)
    return _compiled(network, heuristic, s, t, policy, max(1, threads), paths)


def dijkstra(network: Network, sources: npt.ArrayLike, targets: npt.ArrayLike, **options: Any) -> Answers:
    """Run Dijkstra, which is A* with h = 0; the options are those of `search`."""
    return search(network, no_labels(network), sources, targets, **options)


def _compiled(
    network: Network, layout: Layout, sources: Array, targets: Array, policy: Policy, threads: int, paths: bool
) -> Answers:
    numbers = astar.numbers(network.graph.weights.dtype)
    rules = astar.rules(policy)
    costs = np.empty((len(sources), len(astar.COSTS)), dtype=network.graph.weights.dtype)
    counts = np.empty((len(sources), len(astar.COUNTS)), dtype=np.int64)
    found_paths: list[Array] = [np.empty(0, dtype=np.int64)] * len(sources)
    starts, goals = network.place[sources].astype(np.int64), network.place[targets].astype(np.int64)

    def work_through(chunks: Iterator[slice]) -> None:
        work, memo = borrow(network), layout.borrow()
        for chunk in chunks:
            ends, rows = (starts[chunk], goals[chunk]), (costs[chunk], counts[chunk])
            work = search_rows(network.arcs, layout.labels, memo, work, rules, numbers, *ends, *rows)
            if paths:
                found_paths[chunk.start] = _path(network, work.path, sources[chunk.start], costs, counts, chunk.start)
        give_back(network, work)
        layout.idle.append(memo)

    _run_chunks(work_through, len(sources), 1 if paths else _CHUNK, threads)
    bad = np.flatnonzero(costs[:, astar.COST] == astar.NOT_FINITE)
    if len(bad):
        raise UsageError(
            f"A bound is not a finite number, or is beyond 2^62, in the search from {sources[bad[0]]} "
            f"to {targets[bad[0]]}."
        )
    negative = np.flatnonzero(counts[:, astar.H_WORK] < 0)
    if len(negative):
        raise UsageError(
            f"The heuristic reports negative work, {counts[negative[0], astar.H_WORK]}, in the search from "
            f"{sources[negative[0]]} to {targets[negative[0]]}; give add_work counts of 0 or more."
        )
    return answers_from_tables(costs, counts, found_paths if paths else None)


def search_rows(
    arcs: Arcs, labels: Any, memo: Any, work: Workspace, rules: Rules, numbers: Numbers, *ends_and_rows: Array
) -> Workspace:
    """Fill the rows of all these queries; return the workspace, with a larger heap if re-expansions needed one."""
    done, count = 0, len(ends_and_rows[0])
    while (done := astar.search_all(arcs, labels, memo, work, rules, numbers, *ends_and_rows, done)) < count:
        work = work._replace(heap=np.empty(2 * len(work.heap), dtype=work.heap.dtype))
    return work


def _run_chunks(work_through: Callable[[Iterator[slice]], None], count: int, size: int, threads: int) -> None:
    chunks = iter([slice(start, min(start + size, count)) for start in range(0, count, size)])
    if threads == 1 or count <= size:
        work_through(chunks)
        return
    with ThreadPoolExecutor(threads) as pool:  # a list iterator gives each chunk to one thread only
        try:
            for done in [pool.submit(work_through, chunks) for _ in range(threads)]:
                done.result()
        finally:
            for _ in chunks:  # after an error or an interrupt, no thread starts another chunk
                pass


def _path(network: Network, buffer: Array, source: int, costs: Array, counts: Array, query: int) -> Array:
    if costs[query, astar.COST] < 0:
        return np.empty(0, dtype=np.int64)
    edges = counts[query, astar.PATH_EDGES]
    tail = network.original[buffer[len(buffer) - edges :]]
    return np.concatenate(([source], tail)).astype(np.int64)


def checked_vertices(network: Network, values: npt.ArrayLike) -> Array:
    array = np.atleast_1d(np.asarray(values))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind == "U" and network.graph.names is not None:
        raise UsageError(f"Vertices must be numbers; graph.vertex_by_name[{str(array.flat[0])!r}] is that of a name.")
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise UsageError("Vertices must be a list of vertex numbers.")
    if array.min() < 0 or array.max() >= network.graph.vertices:
        wrong = array[(array < 0) | (array >= network.graph.vertices)][0]
        raise UsageError(f"Vertex {wrong} is not in the graph, which has the vertices 0..{network.graph.vertices - 1}.")
    return array.astype(np.int64)
