"""Checks of bounds and of searches that use them."""

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np

from aacbench.bundle.deploy import deploy, first_difference
from aacbench.bundle.evidence import check_alone, other_forms
from aacbench.contract.method import Claims
from aacbench.errors import DisagreementError
from aacbench.graphs.record import Array, Graph
from aacbench.run.audit import audit_answers, audit_bounds
from aacbench.search import Answers, Policy, search
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.policy import POLICIES, TIES
from aacbench.testing.subject import BlockedError, BrokenError, Built, NothingToDoError, Subject, number

_BATCH_SIZES = (1, 2, 3, 5)
_SMALL = 16  # vertices; on larger graphs small batches take too long
_UNREACHABLE_QUERIES = 100
_QUERIES = {"compiled": 60, "batch": 20, "scalar": 20}  # per graph, budget and policy; slow tiers get fewer


def zero_at_target(subject: Subject, graph: Graph) -> None:
    """h(t, t) is exactly 0, also for float labels fitted by the paper's convention."""
    for built in (*subject.numeric_builds(graph), *subject.paper_builds(graph)):
        diagonal = np.diagonal(built.table)
        for t in np.flatnonzero(diagonal != 0):
            raise BrokenError(f"h({t}, {t}) = {number(diagonal[t])} is not 0{_at(built)}")


def numbers(subject: Subject, graph: Graph) -> None:
    """Where t is reachable from u, h(u, t) is finite and not negative."""
    try:
        for built in subject.builds(graph):
            _check_numbers(built, built.case.exact >= 0)
    except BlockedError as error:
        raise BrokenError(str(error)) from error


def unreachable(subject: Subject, graph: Graph) -> None:
    """Where t is unreachable from u, h(u, t) is finite and not negative too, and the search finds no path."""
    for built in subject.builds(graph):
        apart = built.case.exact < 0
        _check_numbers(built, apart)
        built.require_numbers()
        sources, targets = np.nonzero(apart)
        if not len(sources):
            raise NothingToDoError("every vertex reaches every other")
        sample = slice(None, None, max(1, len(sources) // _UNREACHABLE_QUERIES))
        answers = search(built.case.net, built.deployed.searched, sources[sample], targets[sample])
        for k in np.flatnonzero(answers.cost != -1):
            ends = f"from {sources[sample][k]} to {targets[sample][k]}"
            raise BrokenError(f"the search finds a path {ends}, but there is none{_at(built)}")


def admissible(subject: Subject, graph: Graph) -> None:
    """h(u, t) <= d(u, t) for every pair."""
    _audit(subject, graph, "admissible")


def consistent(subject: Subject, graph: Graph) -> None:
    """h(u, t) <= w(u, v) + h(v, t) for every target, on every arc whose head v reaches it."""
    _audit(subject, graph, "consistent")


def forms_agree(subject: Subject, graph: Graph) -> None:
    """If a heuristic has several forms (compiled kernel, `many`, `h`), they give the same numbers."""
    for built in subject.builds(graph):
        forms = other_forms(built.heuristic)
        if not forms:
            raise NothingToDoError("the heuristic has one form only")
        built.require_numbers()
        for _, form in forms:
            other = deploy(form, built.case.net)
            _compare_form(built, other.tier, other.many)


def one_answer(subject: Subject, graph: Graph) -> None:
    """The heuristic gives the same bounds in reverse order and in small batches; a query alone is searched the same."""
    for built in subject.numeric_builds(graph):
        _check_reversed(built)
        _check_alone(built)
        for size in _BATCH_SIZES if graph.vertices <= _SMALL else ():
            _check_batches(built, size)


def shortest_paths(subject: Subject, graph: Graph) -> None:
    """A* finds the costs of Dijkstra's search, and its paths, summed arc by arc, have these costs."""
    claims = subject.method.claims
    for built in subject.numeric_builds(graph):
        sources, targets = _queries(built)
        reference = built.case.exact[sources, targets]
        for policy in permitted(claims):
            where = f", with {policy.name} at {built.budget:g} bytes per vertex"
            answers = search(built.case.net, built.deployed.searched, sources, targets, policy, paths=True)
            check_paths(graph, sources, targets, answers, where, exactly=claims.admissible)
            if claims.admissible:
                _check_optimal(sources, targets, answers, reference, where)


def permitted(claims: Claims) -> list[Policy]:
    """Every policy that the claims permit: without reopening only if consistency is claimed."""
    return [
        Policy(reopen, tie, bpmx)
        for reopen, tie, bpmx in product((True, False), TIES, (False, True))
        if reopen or (claims.consistent and not bpmx)
    ]


def check_paths(graph: Graph, sources: Array, targets: Array, answers: Answers, where: str, *, exactly: bool) -> None:
    """Check that paths are paths and have the reported cost.

    Unless `exactly`, a path may cost less: with an inadmissible bound, a search may end before it has passed on an
    improvement.
    """
    arcs = zip(graph.sources.tolist(), graph.indices.tolist(), strict=True)
    weights = dict(zip(arcs, graph.weights.tolist(), strict=True))
    assert answers.paths is not None
    for s, t, cost, path in zip(sources.tolist(), targets.tolist(), answers.cost.tolist(), answers.paths, strict=True):
        if cost < 0:
            continue
        steps = list(pairwise(path.tolist()))
        if path[0] != s or path[-1] != t or any(step not in weights for step in steps):
            raise BrokenError(f"the result for {s} to {t} is not a path: {path.tolist()}{where}")
        total = sum(weights[step] for step in steps)
        excess = abs(total - cost) if exactly else total - cost
        if excess > (0 if graph.integral else RELATIVE_TOLERANCE * abs(cost)):
            raise BrokenError(
                f"the path from {s} to {t} has the reported cost {number(cost)}, "
                f"but its arcs add up to {number(total)}{where}"
            )


def _check_numbers(built: Built, among: Array) -> None:
    for u, t in np.argwhere(built.bounds.invalid & among):
        raise BrokenError(f"{built.bounds.sentence(u, t)}{_at(built)}")
    for u, t in np.argwhere((built.table < 0) & among):
        raise BrokenError(f"h({u}, {t}) = {number(built.table[u, t])} is negative{_at(built)}")


def _audit(subject: Subject, graph: Graph, claim: str) -> None:
    for built in subject.numeric_builds(graph):
        violation = audit_bounds(built.case.net, built.deployed.many, np.arange(graph.vertices)).broken(claim)
        if violation is not None:
            raise BrokenError(f"{violation.sentence}{_at(built)}")


def _compare_form(built: Built, tier: str, many: Callable[[Array, int], Array]) -> None:
    vertices = np.arange(built.case.graph.vertices)
    for t in vertices.tolist():
        first, second = built.table[:, t], many(vertices, t)
        if (u := first_difference(first, second)) is not None:
            raise BrokenError(
                f"h({u}, {t}) = {number(first[u])} in the {built.deployed.tier} form, "
                f"{number(second[u])} in the {tier} form{_at(built)}"
            )


def _check_reversed(built: Built) -> None:
    vertices = np.arange(built.case.graph.vertices)[::-1]
    for t in vertices.tolist():
        bounds = built.deployed.many(vertices, t)
        _compare_bounds(built, vertices, t, bounds, bounds != built.table[vertices, t], "in reverse order")


def _check_alone(built: Built) -> None:
    ends, policy = _queries(built), POLICIES["modern"]
    try:
        answers = search(built.case.net, built.deployed.searched, *ends, policy)
        check_alone(built.case.net, built.deployed, ends, answers, policy)
    except DisagreementError as error:
        raise BrokenError(f"{str(error).removesuffix('.')}{_at(built)}") from error


def _check_batches(built: Built, size: int) -> None:
    """Compare with a tolerance: a library adds up a matrix of one row in another order than one of many."""
    vertices = np.arange(built.case.graph.vertices)
    slack = RELATIVE_TOLERANCE * float(np.abs(built.table).max()) if built.table.dtype.kind == "f" else 0
    for t in vertices.tolist():
        for batch in np.split(vertices, range(size, len(vertices), size)):
            bounds = built.deployed.many(batch, t)
            different = ~(np.abs(bounds - built.table[batch, t]) <= slack)
            _compare_bounds(built, batch, t, bounds, different, f"in a batch of {len(batch)}")


def _compare_bounds(built: Built, us: Array, t: int, bounds: Array, different: Array, when: str) -> None:
    for k in np.flatnonzero(different):
        raise BrokenError(
            f"h({us[k]}, {t}) = {number(built.table[us[k], t])} in one batch of all vertices, "
            f"but {number(bounds[k])} {when}{_at(built)}"
        )


def _queries(built: Built) -> tuple[Array, Array]:
    """Every pair of a small graph; a fixed sample of a larger one."""
    vertices = built.case.graph.vertices
    pairs = np.arange(vertices**2)
    most = _QUERIES[built.deployed.tier]
    if len(pairs) > most:
        pairs = np.random.default_rng([12, vertices]).choice(pairs, most, replace=False)
    return pairs // vertices, pairs % vertices


def _check_optimal(sources: Array, targets: Array, answers: Answers, reference: Array, where: str) -> None:
    _, violations = audit_answers(sources, targets, answers, reference)
    for violation in violations:
        if violation.claim == "optimal":
            raise BrokenError(violation.sentence + where)


def _at(built: Built) -> str:
    return f", at {built.budget:g} bytes per vertex"
