"""Shrink a counterexample: drop vertices and arcs and simplify weights while the check still fails."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from aacbench.graphs.record import Array, Graph, from_arcs

STEPS = 250
_MOST_SHORTCUTS = 4
SECONDS = 10.0  # a slow method must not run into its time limit for a smaller counterexample


def shrunk(graph: Graph, fails: Callable[[Graph], bool], steps: int = STEPS) -> Graph:
    """Return the smallest failing graph found in at most `steps` tries; the graph itself if none is smaller."""
    left, deadline = steps, time.monotonic() + SECONDS
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(graph):
            if left == 0 or time.monotonic() > deadline:
                return graph
            left -= 1
            if fails(candidate):
                graph, smaller = candidate, True
                break
    return graph


def _smaller(graph: Graph) -> Iterator[Graph]:
    """Every graph that is one step smaller, the largest steps first."""
    vertices = np.arange(graph.vertices)
    size = graph.vertices // 2
    while size >= 1:
        for start in range(0, graph.vertices, size):
            if graph.vertices > size:
                yield _without_vertices(graph, vertices[start : start + size])
        size //= 2
    for vertex in range(graph.vertices):
        yield from _bypassed(graph, vertex)
    for arc in range(graph.arcs):
        u, v = int(graph.sources[arc]), int(graph.indices[arc])
        forth = (graph.sources == u) & (graph.indices == v)
        back = (graph.sources == v) & (graph.indices == u)
        if u < v and back.any():
            yield _with_arcs(graph, ~(forth | back), graph.weights)  # keeps a symmetric graph symmetric
        yield _with_arcs(graph, ~forth, graph.weights)
    yield from _simpler_weights(graph)


def _bypassed(graph: Graph, vertex: int) -> Iterator[Graph]:
    """Replace a vertex by shortcut arcs, which makes a cycle shorter instead of breaking it."""
    into, out = np.flatnonzero(graph.indices == vertex), np.flatnonzero(graph.sources == vertex)
    if not 0 < len(into) * len(out) <= _MOST_SHORTCUTS:
        return
    first, second = np.repeat(into, len(out)), np.tile(out, len(into))
    tails = np.concatenate([graph.sources, graph.sources[first]])
    heads = np.concatenate([graph.indices, graph.indices[second]])
    weights = np.concatenate([graph.weights, graph.weights[first] + graph.weights[second]])
    joined = _made(graph, graph.vertices, tails, heads, weights, graph.coords)
    yield _without_vertices(joined, np.array([vertex]))


def _simpler_weights(graph: Graph) -> Iterator[Graph]:
    everything = np.ones(graph.arcs, dtype=bool)
    for simple in (np.ones_like(graph.weights), np.round(graph.weights), np.round(graph.weights, 1)):
        if _is_shorter(simple, graph.weights):
            yield _with_arcs(graph, everything, simple)
    for weight in np.unique(graph.weights):
        for value in (1, np.round(weight), np.round(weight, 1)):
            changed = np.where(graph.weights == weight, value, graph.weights).astype(graph.weights.dtype)
            if _is_shorter(changed, graph.weights):
                yield _with_arcs(graph, everything, changed)


def _is_shorter(new: Array, old: Array) -> bool:
    """Whether the new weights need fewer digits, so that simplifying ends."""
    return sum(len(repr(w)) for w in new.tolist()) < sum(len(repr(w)) for w in old.tolist())


def _without_vertices(graph: Graph, dropped: Array) -> Graph:
    kept = np.setdiff1d(np.arange(graph.vertices), dropped)
    place = np.full(graph.vertices, -1)
    place[kept] = np.arange(len(kept))
    tails, heads = place[graph.sources], place[graph.indices]
    inside = (tails >= 0) & (heads >= 0)
    coords = None if graph.coords is None else graph.coords[kept]
    return _made(graph, len(kept), tails[inside], heads[inside], graph.weights[inside], coords)


def _with_arcs(graph: Graph, kept: Array, weights: Array) -> Graph:
    return _made(graph, graph.vertices, graph.sources[kept], graph.indices[kept], weights[kept], graph.coords)


def _made(graph: Graph, vertices: int, tails: Array, heads: Array, weights: Array, coords: Array | None) -> Graph:
    return from_arcs(
        vertices, tails, heads, weights, coords=coords, name=graph.name, declared_directed=graph.declared_directed
    )
