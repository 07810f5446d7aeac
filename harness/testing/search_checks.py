"""Checks of the search with the heuristic: shortest paths under every policy the claims permit."""

from itertools import pairwise, product

import numpy as np

from aacbench.contract.method import Claims
from aacbench.graphs.record import Array, Graph
from aacbench.run.audit import audit_answers
from aacbench.search import Answers, Policy, search
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.policy import TIES
from aacbench.testing.outcomes import BrokenError, number
from aacbench.testing.subject import Built, Subject

_QUERIES = {"compiled": 60, "batch": 20, "scalar": 20}  # a graph, a budget and a policy; slow tiers get fewer


def shortest_paths(subject: Subject, graph: Graph) -> None:
    """A* finds Dijkstra's costs, and its paths, summed arc by arc, cost what it says."""
    claims = subject.method.claims
    for built in subject.each(graph):
        sources, targets = _queries(built)
        reference = built.place.exact[sources, targets]
        for policy in permitted(claims):
            where = f", with {policy.name} at {built.budget:g} bytes a vertex"
            found = search(built.place.net, built.deployed.searched, sources, targets, policy, paths=True)
            check_paths(graph, sources, targets, found, where, exactly=claims.admissible)
            if claims.admissible:
                _check_optimal(sources, targets, found, reference, where)


def permitted(claims: Claims) -> list[Policy]:
    """Every policy; without reopening only where consistency is claimed."""
    return [
        Policy(reopen, tie, bpmx)
        for reopen, tie, bpmx in product((True, False), TIES, (False, True))
        if reopen or (claims.consistent and not bpmx)
    ]


def _queries(built: Built) -> tuple[Array, Array]:
    """Every pair of a small graph, of a larger one some, always the same."""
    vertices = built.place.graph.vertices
    pairs = np.arange(vertices**2)
    most = _QUERIES[built.deployed.tier]
    if len(pairs) > most:
        pairs = np.random.default_rng([12, vertices]).choice(pairs, most, replace=False)
    return pairs // vertices, pairs % vertices


def _check_optimal(sources: Array, targets: Array, found: Answers, reference: Array, where: str) -> None:
    _, cases = audit_answers(sources, targets, found, reference)
    for case in cases:
        if case.claim == "optimal":
            raise BrokenError(case.sentence + where)


def check_paths(graph: Graph, sources: Array, targets: Array, found: Answers, where: str, *, exactly: bool) -> None:
    """Paths are paths and cost what is said; less where a bound is too high, and ends a search before news arrives."""
    arcs = zip(graph.sources.tolist(), graph.indices.tolist(), strict=True)
    weights = dict(zip(arcs, graph.weights.tolist(), strict=True))
    assert found.paths is not None
    for s, t, cost, path in zip(sources.tolist(), targets.tolist(), found.cost.tolist(), found.paths, strict=True):
        if cost < 0:
            continue
        steps = list(pairwise(path.tolist()))
        if path[0] != s or path[-1] != t or any(step not in weights for step in steps):
            raise BrokenError(f"the path found from {s} to {t} is none: {path.tolist()}{where}")
        again = sum(weights[step] for step in steps)
        excess = abs(again - cost) if exactly else again - cost
        if excess > (0 if graph.integral else RELATIVE_TOLERANCE * abs(cost)):
            raise BrokenError(
                f"the path from {s} to {t} is said to cost {number(cost)}, its arcs add up to {number(again)}{where}"
            )
