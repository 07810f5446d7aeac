"""Checks of the bound itself: zero at the target, numbers, admissible, consistent, one bound in every form."""

from typing import Any

import numpy as np

from aacbench.bundle.deploy import deploy, first_difference
from aacbench.bundle.evidence import other_forms
from aacbench.graphs.record import Array, Graph
from aacbench.run.audit import audit_bounds
from aacbench.search import search
from aacbench.testing.outcomes import BrokenError, HeldUpError, NothingToDoError, number
from aacbench.testing.subject import Built, Subject


def zero_at_target(subject: Subject, graph: Graph) -> None:
    """h(t, t) = 0, also with float labels as the paper's convention has them, with no margin for rounding."""
    for built in (*subject.each(graph), *subject.as_in_the_paper(graph)):
        own = np.diagonal(built.table)
        for t in np.flatnonzero(own != 0):
            raise BrokenError(f"h({t}, {t}) = {number(own[t])} is not 0{_at(built)}")


def numbers(subject: Subject, graph: Graph) -> None:
    """Where there is a way, h is finite and not negative."""
    try:
        for built in subject.every(graph):
            _check_numbers(built, built.place.exact >= 0)
    except HeldUpError as error:
        raise BrokenError(str(error)) from error


def unreachable(subject: Subject, graph: Graph) -> None:
    """Where there is no way, h is finite and not negative too, and the search says that there is none."""
    for built in subject.every(graph):
        apart = built.place.exact < 0
        _check_numbers(built, apart)
        built.hold_up()
        sources, targets = np.nonzero(apart)
        if not len(sources):
            raise NothingToDoError("every vertex reaches every other")
        some = slice(None, None, max(1, len(sources) // 100))
        found = search(built.place.net, built.deployed.searched, sources[some], targets[some])
        for k in np.flatnonzero(found.cost != -1):
            ends = f"from {sources[some][k]} to {targets[some][k]}"
            raise BrokenError(f"the search finds a way {ends} where there is none{_at(built)}")


def admissible(subject: Subject, graph: Graph) -> None:
    """h(u, t) <= d(u, t) for every pair."""
    _audited(subject, graph, "admissible")


def consistent(subject: Subject, graph: Graph) -> None:
    """h(u, t) <= w(u, v) + h(v, t) on every arc and for every target."""
    _audited(subject, graph, "consistent")


def forms_agree(subject: Subject, graph: Graph) -> None:
    """The compiled kernel, `many` and `h`, where an author gives several, give the same numbers."""
    for built in subject.every(graph):
        forms = other_forms(built.heuristic)
        if not forms:
            raise NothingToDoError("the heuristic is given in one form only")
        built.hold_up()
        for _, form in forms:
            other = deploy(form, built.place.net)
            _compare(built, other.tier, other.many)


def _compare(built: Built, tier: str, many: Any) -> None:
    vertices = np.arange(built.place.graph.vertices)
    for t in vertices.tolist():
        ours, theirs = built.table[:, t], many(vertices, t)
        if (u := first_difference(ours, theirs)) is not None:
            raise BrokenError(
                f"h({u}, {t}) = {number(ours[u])} in the {built.deployed.tier} form, "
                f"{number(theirs[u])} in the {tier} form{_at(built)}"
            )


def _audited(subject: Subject, graph: Graph, claim: str) -> None:
    for built in subject.each(graph):
        found = audit_bounds(built.place.net, built.deployed.many, np.arange(graph.vertices)).broken(claim)
        if found is not None:
            raise BrokenError(f"{found.sentence}{_at(built)}")


def _check_numbers(built: Built, among: Array) -> None:
    for u, t in np.argwhere(built.asked.odd & among):
        raise BrokenError(f"{built.asked.sentence(u, t)}{_at(built)}")
    for u, t in np.argwhere((built.table < 0) & among):
        raise BrokenError(f"h({u}, {t}) = {number(built.table[u, t])} is negative{_at(built)}")


def _at(built: Built) -> str:
    return f", at {built.budget:g} bytes a vertex"
