"""Maxcover (Goldberg and Werneck 2005): landmarks of avoid, exchanged while that makes more arcs tight."""

from typing import Any

import numpy as np

from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool
from aacbench.labels.selectors.avoid import extend
from aacbench.labels.selectors.growing import Growing
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.networks import Network
from aacbench.util.compiled import kernel

CANDIDATES, ATTEMPTS = 4, 5  # per landmark wanted: landmarks to choose among, and calls of avoid to find them


def maxcover(network: Network, count: int, rng: np.random.Generator) -> Pool:
    """Avoid's landmarks after every exchange with a further candidate that covers more arcs, the best one first.

    A landmark covers an arc that its own bound makes tight. Candidates come from dropping each landmark with
    probability one half and letting avoid fill the gaps, again and again.
    """
    grown = _candidates(network, count, rng)
    wanted = min(count, len(grown.landmarks))
    if wanted == len(grown.landmarks):
        return grown.pool()
    chosen = exchanged(_covered(grown), wanted)
    return grown.kept(chosen).pool()


def exchanged(covers: Array, wanted: int) -> list[int]:
    """Positions after all exchanges that cover more arcs, from the first ones on; `covers` has a row a candidate."""
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
    """By whose place alone each arc is covered: -1 where by none, -2 where by several."""
    owner = np.full(covers.shape[1], -1, dtype=np.int64)
    for place in range(len(chosen)):
        row = covers[chosen[place]]
        for arc in range(len(owner)):
            if row[arc]:
                owner[arc] = place if owner[arc] == -1 else -2
    return owner


@kernel
def exchange_gains(covers: Array, owner: Array, wanted: int) -> Array:
    """How many more arcs are covered once a candidate takes a place, for each of both."""
    telling = np.flatnonzero(owner != -2)  # what is covered twice stays covered
    alone = np.zeros(wanted + 1, dtype=np.int64)
    for arc in telling:
        alone[owner[arc] + 1] += 1
    gains = np.empty((len(covers), wanted), dtype=np.int64)
    by = np.empty(wanted + 1, dtype=np.int64)
    for candidate in range(len(covers)):
        by[:] = 0
        for arc in telling:
            by[owner[arc] + 1] += covers[candidate, arc]  # a sum and no branch, which could not be predicted
        for place in range(wanted):
            gains[candidate, place] = by[0] + by[place + 1] - alone[place + 1]
    return gains


def _candidates(network: Network, count: int, rng: np.random.Generator) -> Growing:
    """Avoid's own landmarks first, then those that it finds beside random halves of what it had."""
    inside = components.largest(network.graph)
    current = Growing(network)
    extend(current, count, rng)
    every, known = current.kept(range(len(current.landmarks))), set(current.landmarks)
    most = min(CANDIDATES * count, len(inside))
    attempts = len(current.landmarks)
    while len(known) < most and attempts < ATTEMPTS * count:
        current = current.kept(np.flatnonzero(rng.random(len(current.landmarks)) < 0.5).tolist())
        before = len(current.landmarks)
        extend(current, count, rng)
        fresh = [k for k in range(before, len(current.landmarks)) if current.landmarks[k] not in known]
        every.take_from(current, fresh[: most - len(known)])
        known.update(current.landmarks[k] for k in fresh[: most - len(known)])
        attempts += len(current.landmarks) - before or 1
    return every


def _covered(grown: Growing) -> Array:
    """Whether the arc (u, v) is tight for a landmark: d(l, v) = d(l, u) + w, or d(u, l) = w + d(v, l)."""
    graph = grown.network.graph
    covers = np.empty((len(grown.landmarks), graph.arcs), dtype=np.bool_)
    for k, (ahead, back) in enumerate(zip(grown.forward, grown.backward, strict=True)):
        care = 0 if graph.integral else RELATIVE_TOLERANCE * max(ahead.max(), back.max())
        tight(graph.sources, graph.indices, graph.weights, ahead, back, graph.weights.dtype.type(care), covers[k])
    return covers


@kernel
def tight(tails: Array, heads: Array, weights: Array, ahead: Array, back: Array, care: Any, found: Array) -> None:
    """Note for each arc whether the bound of this landmark, by d(l, v) or by d(v, l), is its weight; -1 is unknown."""
    for arc in range(len(tails)):
        u, v = tails[arc], heads[arc]
        leads = ahead[u] >= 0 and ahead[v] >= ahead[u] + weights[arc] - care
        found[arc] = leads or (back[v] >= 0 and back[u] >= back[v] + weights[arc] - care)
