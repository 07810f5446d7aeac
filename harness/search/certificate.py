"""A proof that a path is shortest, which can be checked without any search: a potential on the vertices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.search.batch import search
from aacbench.search.layouts import Layout
from aacbench.search.networks import Network
from aacbench.search.policy import POLICIES, Policy


@dataclass(frozen=True, eq=False, slots=True)
class Certificate:
    """A path from `path[0]` to `path[-1]`, its cost, and a potential: 0 at the source, the cost at the target.

    If the potential rises along no arc by more than its weight, every path to the target costs at least as much.
    """

    path: Array
    cost: int
    potential: Array


def certify(
    network: Network,
    heuristic: Layout,
    many: Callable[[Any, int], Array],
    source: int,
    target: int,
    policy: Policy | str = POLICIES["modern"],
) -> Certificate:
    """Search once and return the proof: min(g, C - h), where g is infinite if the search never reached the vertex.

    It is a proof if h is consistent and 0 at the target. `many(vertices, target)` gives the bounds.
    """
    if not network.graph.integral:
        raise UsageError("Certificates need integer weights, whose sums are exact.")
    answers = search(network, heuristic, [source], [target], policy, paths=True)
    cost = int(answers.cost[0])
    if cost < 0 or source == target:
        raise UsageError(f"There is no path from {source} to {target} to certify.")
    work = network.idle[-1]  # the search has just given it back, with the records of its only query
    vertices = np.arange(network.graph.vertices)
    potential = cost - np.asarray(many(vertices, target)).astype(np.int64)
    reached = np.flatnonzero(work.state["stamp"] == work.stamp[0])
    own = network.original[reached]
    potential[own] = np.minimum(potential[own], work.state["g"][reached])
    assert answers.paths is not None
    return Certificate(answers.paths[0], cost, potential)


def verify(certificate: Certificate, graph: Graph) -> str:
    """Return an empty string if the path is shortest by its potential, else what is wrong; this takes no search."""
    path, potential = certificate.path, certificate.potential
    total = 0
    for u, v in zip(path[:-1].tolist(), path[1:].tolist(), strict=True):
        arcs = slice(graph.indptr[u], graph.indptr[u + 1])
        found = np.flatnonzero(graph.indices[arcs] == v)
        if not len(found):
            return f"The path has no arc from {u} to {v}."
        total += int(graph.weights[arcs][found[0]])
    if total != certificate.cost:
        return f"The path costs {total}, not {certificate.cost}."
    if potential[path[0]] != 0 or potential[path[-1]] != certificate.cost:
        return "The potential is not 0 at the source and the cost at the target."
    slack = potential[graph.sources] + graph.weights - potential[graph.indices]
    if slack.min(initial=0) < 0:
        arc = int(slack.argmin())
        return f"The potential rises from {graph.sources[arc]} to {graph.indices[arc]} by more than the arc's weight."
    return ""
