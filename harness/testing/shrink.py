"""Smaller graphs on which the same check still fails: parts are dropped and weights made simple, as long as it does."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from aacbench.graphs.record import Array, Graph, from_arcs

STEPS = 250
_MOST_WAYS = 4
SECONDS = 10.0  # a method that builds slowly is not to run out of its time over a nicer counterexample


def shrunk(graph: Graph, fails: Callable[[Graph], bool], steps: int = STEPS) -> Graph:
    """The smallest graph found in so many tries; the graph itself where nothing can be left out."""
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
    """Every way to make the graph smaller by a step, the boldest first."""
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
            yield _with_arcs(graph, ~(forth | back), graph.weights)  # else a symmetric graph would no longer be one
        yield _with_arcs(graph, ~forth, graph.weights)
    yield from _simpler_weights(graph)


def _bypassed(graph: Graph, vertex: int) -> Iterator[Graph]:
    """Without a vertex, but with the ways through it as arcs: a cycle gets shorter so, where it would fall apart."""
    into, out = np.flatnonzero(graph.indices == vertex), np.flatnonzero(graph.sources == vertex)
    if not 0 < len(into) * len(out) <= _MOST_WAYS:
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
        if _plainer(simple, graph.weights):
            yield _with_arcs(graph, everything, simple)
    for weight in np.unique(graph.weights):
        for value in (1, np.round(weight), np.round(weight, 1)):
            changed = np.where(graph.weights == weight, value, graph.weights).astype(graph.weights.dtype)
            if _plainer(changed, graph.weights):
                yield _with_arcs(graph, everything, changed)


def _plainer(new: Array, old: Array) -> bool:
    """Whether fewer digits are needed, so that simplifying comes to an end."""
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
