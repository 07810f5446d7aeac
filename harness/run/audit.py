"""The audit of a cell: every cost against Dijkstra, every bound against the distance, every arc of sampled targets."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.errors import AacbenchError
from aacbench.graphs.record import Array, Graph
from aacbench.labels.exact import Direction, placed_distances
from aacbench.queries.record import QuerySet, some_targets
from aacbench.search import Answers
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.bounds import violations
from aacbench.search.networks import Network

CLAIMS = ("admissible", "consistent", "optimal")  # where the last is broken, one of the others is why
TARGETS = 3  # for which every vertex and every arc is looked at


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest case found that shows a claim to be false."""

    claim: str
    u: int
    v: int
    target: int
    bound: int | float
    limit: int | float

    @property
    def sentence(self) -> str:
        if self.claim == "optimal":
            return f"the path from {self.u} to {self.target} costs {self.bound}, the shortest {_path(self.limit)}"
        h = f"h({self.u}, {self.target}) = {self.bound}"
        if not math.isfinite(self.bound):
            return f"{h} is not a finite number"
        if self.claim == "consistent":
            return f"{h} exceeds w({self.u}, {self.v}) + h({self.v}, {self.target}) = {self.limit}"
        return f"{h} exceeds the distance {self.limit}"

    def named(self, graph: Graph) -> str:
        """The sentence, and what the graph's source calls its vertices, if not by their numbers."""
        if graph.names is None:
            return self.sentence
        vertices = (self.u, self.v, self.target) if self.claim == "consistent" else (self.u, self.target)
        calls = [f"{vertex} is {graph.vertex_name(vertex)!r}" for vertex in dict.fromkeys(vertices)]
        return f"{self.sentence}; vertex {', '.join(calls)}"


@dataclass(frozen=True, slots=True)
class Audit:
    """What was tested, and the smallest violation of each claim."""

    pairs: int
    arcs: int
    violations: Mapping[str, int]  # by claim
    consistent: bool | None
    counterexamples: tuple[Counterexample, ...]

    def broken(self, claim: str) -> Counterexample | None:
        return next((case for case in self.counterexamples if case.claim == claim), None)


def audit_answers(
    sources: Array, targets: Array, answers: Answers, reference: Array
) -> tuple[dict[str, int], list[Counterexample]]:
    """Count costs and re-summed paths that differ from the reference, and source bounds above it; with the worst."""
    slack = _slack(np.maximum(reference, 0), answers.cost.dtype.kind == "i")
    wrong_cost = ~(np.abs(answers.cost - reference) <= slack)  # so that NaN is wrong too
    wrong_path = ~(np.abs(answers.path_cost - reference) <= slack)
    care = _slack(max(reference.max(initial=0), 0), answers.cost.dtype.kind == "i")
    high = ~(answers.h_source <= reference + care) & (reference >= 0)
    cases = []
    for claim, found, wrong in (
        ("optimal", answers.cost, wrong_cost),
        ("optimal", answers.path_cost, wrong_path),
        ("admissible", answers.h_source, high),
    ):
        cases += [_pair(claim, sources, targets, found, reference, np.flatnonzero(wrong))] if wrong.any() else []
    return {"admissible": int(high.sum()), "optimal": int((wrong_cost | wrong_path).sum())}, cases


def check_reference(
    network: Network, queries: QuerySet, reference: Array, audited: Array, exact: Callable[[int], Array]
) -> None:
    """Compare Dijkstra's own costs with the distances of another search, for the audited targets."""
    sources, targets = queries.sources, queries.targets
    for at in np.flatnonzero(np.isin(targets, audited)):
        distance = exact(int(targets[at]))[network.place[sources[at]]]
        if not abs(distance - reference[at]) <= _slack(distance, reference.dtype.kind == "i"):
            raise AacbenchError(
                f"Dijkstra's cost from {sources[at]} to {targets[at]} is {reference[at]}, but the distance is "
                f"{distance}. This is a defect of the search; please report it."
            )


def audit_targets(parts: Sequence[QuerySet]) -> Array:
    """A few targets of the queries, the same ones for every cell on these queries."""
    return some_targets(parts, TARGETS)


def audit_bounds(network: Network, many: Any, targets: Array, exact: Callable[[int], Array] | None = None) -> Audit:
    """h <= d at every vertex and h(u) <= w(u, v) + h(v) on arcs to vertices that reach it, for each of these targets.

    `exact` gives the distances to a target where they are at hand. On float weights the tolerance is relative to the
    largest distance, since a bound is a difference of labels as large as that.
    """
    graph = network.graph
    cases: list[Counterexample] = []
    high = rising = 0
    consistent = True
    for target in targets.tolist():
        h = many(network.original, target)  # in the order in which labels lie in memory
        known = np.isfinite(h) if h.dtype.kind == "f" else np.ones(len(h), dtype=bool)
        h = _searched(h, known, graph.integral)
        distance = placed_distances(network, target, Direction.TO) if exact is None else exact(target)
        found = violations(network, h, known, distance, _slack(distance.max(), graph.integral))
        high += found.high
        rising += found.rising
        consistent = consistent and not found.rising and bool(known.all())
        if found.high:
            at = network.place[found.vertex]
            limit = distance[at].item() if distance[at] >= 0 else math.inf
            cases.append(Counterexample("admissible", found.vertex, -1, target, _bound(h, known, at), limit))
        if found.rising:
            bound = h[network.place[found.tail]].item()
            cases.append(Counterexample("consistent", found.tail, found.head, target, bound, found.through))
    counts = {"admissible": high, "consistent": rising}
    return Audit(len(targets) * graph.vertices, len(targets) * graph.arcs, counts, consistent, smallest(cases))


def total(*counts: Mapping[str, int]) -> dict[str, int]:
    """The violations of each claim, over several counts of them."""
    return {claim: sum(one.get(claim, 0) for one in counts) for claim in CLAIMS}


def smallest(cases: list[Counterexample]) -> tuple[Counterexample, ...]:
    """One counterexample per claim, causes first: the one with the smallest numbers."""
    best: dict[str, Counterexample] = {}
    for case in cases:
        if case.claim not in best or case.limit < best[case.claim].limit:
            best[case.claim] = case
    return tuple(best[claim] for claim in CLAIMS if claim in best)


def _pair(claim: str, sources: Array, targets: Array, found: Array, limit: Array, wrong: Array) -> Counterexample:
    at = wrong[np.argmin(limit[wrong])]
    return Counterexample(claim, int(sources[at]), -1, int(targets[at]), found[at].item(), limit[at].item())


def _searched(h: Array, known: Array, integral: bool) -> Array:
    """The bounds as a search uses them: truncated on integer weights; 0 where they are not finite."""
    finite = h if known.all() else np.where(known, h, 0)
    return finite.astype(np.int64 if integral else np.float64, copy=False)


def _bound(h: Array, known: Array, u: Any) -> int | float:
    return h[u].item() if known[u] else math.nan


def _path(cost: int | float) -> str:
    return str(cost) if cost >= 0 else "does not exist"


def _slack(values: Any, integral: bool) -> Any:
    return 0 if integral else np.abs(values) * RELATIVE_TOLERANCE
