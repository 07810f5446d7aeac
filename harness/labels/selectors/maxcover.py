"""Maxcover (Goldberg and Werneck 2005): the landmarks of avoid, exchanged while that covers more arcs."""

from typing import Any

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool
from aacbench.labels.selectors.avoid import Growing, extend
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.networks import Network
from aacbench.util.compiled import kernel

CANDIDATES, ATTEMPTS = 4, 5  # per landmark: candidates to choose from, and calls of avoid to find them


def maxcover(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Return avoid's landmarks after all exchanges with a candidate that cover more arcs, the best exchange first.

    A landmark covers an arc if its bound equals the arc's weight. Candidates are found by repeatedly dropping each
    landmark with probability one half and letting avoid fill the gaps.
    """
    grown = _candidates(network, count, rng)
    wanted = min(count, len(grown.landmarks))
    if wanted == len(grown.landmarks):
        return grown.pool()
    chosen = exchanged(_covered(grown), wanted)
    return grown.only(chosen).pool()


def exchanged(covers: Array, wanted: int) -> list[int]:
    """Return the chosen rows of `covers`, one row per candidate, after all improving exchanges from the first rows."""
    chosen = np.arange(wanted)
    while True:
        gains = exchange_gains(covers, owners(covers, chosen), wanted)
        gains[chosen] = 0
        taken, place = divmod(int(np.argmax(gains)), wanted)
        if gains[taken, place] <= 0:
            return chosen.tolist()
        chosen[place] = taken


@kernel
def owners(covers: Array, chosen: Array) -> Array:
    """Return the only chosen position that covers each arc: -1 if there is none, -2 if there are several."""
    owner = np.full(covers.shape[1], -1, dtype=np.int64)
    for place in range(len(chosen)):
        row = covers[chosen[place]]
        for arc in range(len(owner)):
            if row[arc]:
                owner[arc] = place if owner[arc] == -1 else -2
    return owner


@kernel
def exchange_gains(covers: Array, owner: Array, wanted: int) -> Array:
    """Return how many more arcs are covered if a candidate (row) replaces a chosen landmark (column)."""
    relevant = np.flatnonzero(owner != -2)  # an arc covered twice stays covered
    covered_alone = np.zeros(wanted + 1, dtype=np.int64)
    for arc in relevant:
        covered_alone[owner[arc] + 1] += 1
    gains = np.empty((len(covers), wanted), dtype=np.int64)
    by = np.empty(wanted + 1, dtype=np.int64)
    for candidate in range(len(covers)):
        by[:] = 0
        for arc in relevant:
            by[owner[arc] + 1] += covers[candidate, arc]  # a sum instead of an unpredictable branch
        for place in range(wanted):
            gains[candidate, place] = by[0] + by[place + 1] - covered_alone[place + 1]
    return gains


def _candidates(network: Network, count: int, rng: np.random.Generator) -> Growing:
    """Return avoid's own landmarks, followed by those it adds to random halves of its current ones."""
    inside = components.largest(network.graph)
    current = Growing(network)
    extend(current, count, rng)
    every, known = current.only(range(len(current.landmarks))), set(current.landmarks)
    most = min(CANDIDATES * count, len(inside))
    attempts = len(current.landmarks)
    while len(known) < most and attempts < ATTEMPTS * count:
        current = current.only(np.flatnonzero(rng.random(len(current.landmarks)) < 0.5).tolist())
        before = len(current.landmarks)
        extend(current, count, rng)
        fresh = [k for k in range(before, len(current.landmarks)) if current.landmarks[k] not in known]
        every.take_from(current, fresh[: most - len(known)])
        known.update(current.landmarks[k] for k in fresh[: most - len(known)])
        attempts += len(current.landmarks) - before or 1
    return every


def _covered(grown: Growing) -> Array:
    """Return for each landmark whether it covers each arc (u, v): d(l, v) = d(l, u) + w, or d(u, l) = w + d(v, l)."""
    graph = grown.network.graph
    covers = np.empty((len(grown.landmarks), graph.arcs), dtype=np.bool_)
    wide = graph.weights.dtype
    for k, rows in enumerate(zip(grown.forward, grown.backward, strict=True)):
        ahead, back = (read().astype(wide, copy=False) for read in rows)
        care = 0 if graph.integral else RELATIVE_TOLERANCE * max(ahead.max(), back.max())
        tight(graph.sources, graph.indices, graph.weights, ahead, back, graph.weights.dtype.type(care), covers[k])
    return covers


@kernel
def tight(tails: Array, heads: Array, weights: Array, ahead: Array, back: Array, care: Any, found: Array) -> None:
    for arc in range(len(tails)):
        u, v = tails[arc], heads[arc]
        leads = ahead[u] >= 0 and ahead[v] >= ahead[u] + weights[arc] - care
        found[arc] = leads or (back[v] >= 0 and back[u] >= back[v] + weights[arc] - care)
