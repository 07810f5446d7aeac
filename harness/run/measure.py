"""The second step of a cell: count the bytes of a bundle, search every query with it, and audit what came out."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from aacbench.bundle import store
from aacbench.bundle.arrays import leaves
from aacbench.bundle.built_in import reads_arcs
from aacbench.bundle.deploy import Deployed, deploy
from aacbench.bundle.evidence import check_alone, check_evidence, check_steady
from aacbench.bundle.inventory import Inventory, check_budget, inventory
from aacbench.contract.budget import Budget, convention
from aacbench.contract.composite import nominal_bytes
from aacbench.contract.method import Claims, Heuristic, LabelHeuristic
from aacbench.errors import OverBudgetError, UnsupportedError
from aacbench.graphs.record import Array
from aacbench.graphs.traffic import rise
from aacbench.queries.record import QuerySet
from aacbench.run.audit import (
    Audit,
    Counterexample,
    audit_answers,
    audit_bounds,
    audit_targets,
    check_reference,
    smallest,
    total,
)
from aacbench.run.build import Built, CellJob, Result, build
from aacbench.run.loaded_graph import LoadedGraph, forget
from aacbench.run.map_rows import certificates, context_rows, true_violations
from aacbench.run.predicted import CONTEXT_FILE
from aacbench.run.records import TEST
from aacbench.run.rows import OK, UNREACHABLE, write_queries
from aacbench.run.shared import references
from aacbench.search import Answers, search
from aacbench.search.layouts import knows_nothing
from aacbench.search.policy import parse
from aacbench.util.array_store import trust


@dataclass(frozen=True, eq=False, slots=True)
class _Split:
    """The queries of one split, what the search answered, and Dijkstra's costs."""

    name: str
    queries: QuerySet
    answers: Answers
    reference: Array


def run_cell(job: CellJob) -> Result:
    """Build and measure in this process: for use as a library, and for tests. A run uses a process for each."""
    built = build(job)
    return built if isinstance(built, Result) else measure(job, built)


def measure(job: CellJob, built: Built) -> Result:
    """Measure what a build left; nothing of the build but its bundle is needed."""
    try:
        return _measure(job, built)
    except BaseException:
        forget()  # a kernel that wrote where it should not may have changed the graph
        raise


def _measure(job: CellJob, built: Built) -> Result:
    loaded = job.searched()
    try:
        counted, deployed = ready(job, built, loaded)
    except UnsupportedError as error:
        return Result("unsupported", str(error), {"build": dict(built.cost)}, {})
    except OverBudgetError as error:  # some methods learn their size only by building
        return Result("unsupported", str(error), {"build": dict(built.cost), "bytes_needed": error.bytes_needed}, {})
    bounds = check_steady(deployed, built.sample)
    facts = {
        "bundle": built.bundle or None,
        "bytes": {"nominal_per_vertex": nominal_bytes(job.plan.params, job.plan.budget), **counted.record()},
        "build": dict(built.cost),
        "tier": deployed.tier,
        "claims": asdict(job.claims),
        **({"traffic": _departure(job, loaded)} if job.plan.traffic else {}),
    }
    result = _searched(job, loaded, deployed, facts)
    check_steady(deployed, built.sample, bounds)  # again, because a bound may change after many calls
    return result


def _departure(job: CellJob, searched: LoadedGraph) -> dict[str, Any]:
    before, after = job.loaded().net.graph, searched.net.graph
    return {**rise(before.weights, after.weights), "graph_digest": after.digest}


def ready(job: CellJob, built: Built, loaded: LoadedGraph) -> tuple[Inventory, Deployed]:
    """The bytes that are deployed, held against the budget, and the heuristic ready to be searched."""
    vertices = loaded.net.graph.vertices
    if built.live is not None:
        heuristic, counted = built.live, inventory(built.live, vertices)
    else:
        trust(built.versions)
        bundle = store.open_bundle(store.bundle_folder(job.bundles, built.bundle))
        heuristic = store.load(bundle, job.sources)
        counted = inventory(heuristic, vertices, bundle.array_digests)
    if job.claims.matched:
        check_budget(counted, Budget(job.plan.budget, convention(job.plan.convention)))
    if job.plan.traffic:
        check_bears_traffic(heuristic)
    deployed = deploy(heuristic, loaded.net, parse(job.plan.policy).label_layout)
    check_evidence(heuristic, job.loaded().net, built.sample, built.evidence)
    return counted, deployed


def check_bears_traffic(heuristic: Heuristic) -> None:
    """Refuse a heuristic whose bounds may be wrong once weights have risen.

    A bound from arrays alone stays what it was: h(u) <= d(u, t) <= d'(u, t), and h(u) <= w(u, v) + h(v) <=
    w'(u, v) + h(v), where d' and w' are after the rise. One that reads the graph while it is searched sees w' instead
    of w, so it must say that this does no harm.
    """
    if reads_arcs(heuristic):
        raise UnsupportedError(
            "Its labels are decoded by the weights of the graph, which have risen since it was built; choose labels "
            "that store every row, such as labels=for16; for best, name candidates with such labels."
        )
    for leaf in leaves(heuristic).values():
        goal = leaf.goal if isinstance(leaf, LabelHeuristic) else None
        if goal is not None and goal.visit is not None and not goal.bears_traffic:
            raise UnsupportedError(
                "Its goal search reads the weights of the graph, which have risen since it was built, and it does not "
                "claim that its bounds hold then."
            )


def _searched(job: CellJob, loaded: LoadedGraph, deployed: Deployed, facts: dict[str, Any]) -> Result:
    splits = _answered(job, loaded, deployed)
    cases: list[Counterexample] = []
    counts = []
    for split in splits:
        found, worst = audit_answers(split.queries.sources, split.queries.targets, split.answers, split.reference)
        counts.append(found)
        cases += worst
    audit = _audit(loaded, deployed, splits) if job.audit else Audit(0, 0, {}, None, ())
    loaded.check()  # a heuristic may change the graph when it is asked
    every = smallest([*cases, *audit.counterexamples])
    graph = loaded.net.graph
    facts["audit"] = {
        "pairs": audit.pairs + sum(len(split.queries) for split in splits),
        "arcs": audit.arcs,
        "violations": total(audit.violations, *counts),
        "consistent": audit.consistent,
        "counterexamples": [{**_fields(case), "sentence": case.named(graph)} for case in every],
    }
    if buckets := {split.name: split.queries.buckets.tolist() for split in splits if split.queries.buckets is not None}:
        facts["buckets"] = buckets  # of each query, in the order of the rows
    facts["means"] = {split.name: float(split.answers.expanded.mean()) for split in splits if len(split.answers)}
    broken = next((case for case in every if _claimed(job.claims, case.claim)), None)
    files = {"queries.csv": write_queries(_columns(splits))}
    if job.plan.on_maps:
        predicted, parts = job.predictions(), {split.name: (split.queries, split.answers) for split in splits}
        proofs = certificates(loaded.net, deployed, parts[TEST][0], job.plan.policy) if job.claims.consistent else {}
        files[CONTEXT_FILE] = context_rows(predicted, parts, proofs)
        facts["context"] = true_violations(predicted, deployed, parts[TEST][0])
        facts["side"] = predicted.side
    if broken is not None:
        return Result("wrong", f"not {broken.claim}: {broken.named(graph)}", facts, files)
    if job.plan.on_maps and any(proofs.values()):
        return Result("wrong", f"A certificate does not hold: {next(filter(None, proofs.values()))}", facts, files)
    return Result("ok", "", facts, files)


def _answered(job: CellJob, loaded: LoadedGraph, deployed: Deployed) -> list[_Split]:
    """Each split's answers beside Dijkstra's, which are fetched last: another worker may be computing them."""
    parts = {name: loaded.part(name) for name in job.plan.splits}
    paths = job.plan.on_maps  # whose true cost is to be known
    dijkstra = not paths and job.plan.policy == job.reference_policy and knows_nothing(deployed.searched)
    found = {}
    for name, queries in {} if dijkstra else parts.items():
        ends = queries.sources, queries.targets
        found[name] = search(loaded.net, deployed.searched, *ends, job.plan.policy, paths=paths)
        check_alone(loaded.net, deployed, ends, found[name], job.plan.policy)
    folders = (job.artifacts, job.common_artifacts)
    against = references(folders, loaded, parts, job.reference_policy)
    return [
        _Split(name, queries, found.get(name, against[name]), against[name].cost) for name, queries in parts.items()
    ]


def _audit(loaded: LoadedGraph, deployed: Deployed, splits: list[_Split]) -> Audit:
    chosen = audit_targets([split.queries for split in splits])
    for split in splits:
        check_reference(loaded.net, split.queries, split.reference, chosen, loaded.exact)
    return audit_bounds(loaded.net, deployed.many, chosen, loaded.exact)


def _columns(splits: list[_Split]) -> dict[str, Array]:
    tables = []
    for split in splits:
        count = len(split.queries)
        tables.append(
            {
                "query": np.arange(count),
                "split": np.full(count, split.name, dtype=object),
                "source": split.queries.sources,
                "target": split.queries.targets,
                "outcome": np.where(split.answers.cost < 0, UNREACHABLE, OK).astype(object),
                "reference_cost": split.reference,
                **split.answers.columns(),
            }
        )
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _claimed(claims: Claims, claim: str) -> bool:
    return claims.consistent if claim == "consistent" else claims.admissible  # which promises an optimal path


def _fields(case: Counterexample) -> dict[str, Any]:
    """A counterexample for cell.json, which takes no infinities: those are spelt out."""
    values = {name: getattr(case, name) for name in ("claim", "u", "v", "target", "bound", "limit")}
    return {key: str(value) if value != value or value in (np.inf, -np.inf) else value for key, value in values.items()}
