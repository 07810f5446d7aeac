"""One cell, in a worker: load, build, measure, reload, search, audit; values in, values out."""

import errno
import math
import os
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.bundle import helper
from aacbench.bundle.deploy import Deployed, check_forms, deploy
from aacbench.bundle.inventory import check_budget, inventory
from aacbench.bundle.leaves import dotted, leaves
from aacbench.bundle.reload import Reload, cold_reload
from aacbench.contract.budget import Budget, convention
from aacbench.contract.composite import assemble, nominal_bytes
from aacbench.contract.method import Heuristic, LabelHeuristic, Method
from aacbench.errors import AacbenchError, ReloadError, StoreError, UsageError
from aacbench.graphs.load import load
from aacbench.graphs.record import Array
from aacbench.processes.rss import begin_watch, peak
from aacbench.queries.record import QuerySet
from aacbench.run.audit import (
    Audit,
    Counterexample,
    audit_answers,
    audit_bounds,
    audit_targets,
    check_reference,
    smallest,
)
from aacbench.run.loaded_graph import GraphOf, World, context, forget, intact_world
from aacbench.run.plan import CellPlan
from aacbench.run.pools import StoredPools
from aacbench.run.records import QueryPlan
from aacbench.run.reference import references
from aacbench.run.rows import write_queries
from aacbench.search import Answers, search
from aacbench.search.layouts import knows_nothing

REASON_LENGTH = 2000
# What the system says of a full disk, and NumPy, which does not say why.
NO_SPACE = (*map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)), " requested and ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A cell with all that a worker needs to run it; `method_of` and `graph_of` find things by name in the worker.

    A graph and queries whose digests are not `digests`, which are in the cell's key, are refused.
    """

    cell_id: str
    plan: CellPlan
    queries: QueryPlan
    artifacts: Path
    method_of: Callable[[str], Method]
    reference_policy: str
    graph_of: GraphOf = load
    plugin_file: Path | None = None
    part_files: tuple[Path, ...] = ()
    audit: bool = True
    keep: Path | None = None  # where the arrays are left for a second look
    digests: Mapping[str, str] | None = None  # of the graph and of each split, as the cell's key has them


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell came to: its outcome, the facts for cell.json, and the files beside it."""

    outcome: str
    reason: str
    facts: Mapping[str, Any]
    files: Mapping[str, bytes]


def run_cell(job: Job) -> Result:
    """Run one cell. This is the one place where an exception becomes an outcome."""
    try:
        result = _measured(job)
    except StoreError:
        raise  # the disk's fault, not the method's: the run ends and goes on later
    except MemoryError:
        result = Result("out-of-memory", "the cell needed more memory than it may have", {}, _trace())
    except AacbenchError as error:
        result = Result("error", _sentence(str(error)), {}, _trace())
    except BaseException as error:  # whatever a method raises; Ctrl-C does not reach a worker
        result = Result("error", _sentence(f"{type(error).__name__}: {_text(error)}"), {}, _trace())
    if result.outcome != "ok":
        forget()  # who knows what the method did to the graph before it failed
    return result


def _trace() -> dict[str, bytes]:
    return {"error.txt": traceback.format_exc().encode(errors="backslashreplace")}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its message cannot be read)"


def _sentence(text: str) -> str:
    """A reason that cell.json can hold, whatever a method put into its message."""
    return text.encode(errors="backslashreplace").decode()[:REASON_LENGTH]


def _measured(job: Job) -> Result:
    plan = job.plan
    helper.start()  # it is needed when the heuristic is built, and takes a while
    world = intact_world(plan.graph, job.queries, job.graph_of)
    net = world.net
    if job.digests is not None and {"graph": net.graph.digest, **world.digests()} != job.digests:
        raise AacbenchError(
            f"the graph {plan.graph} or its queries are not those that this run was planned on; it must be the same "
            f"each time it is loaded, so mend what loads it, then run again."
        )
    method = assemble(job.method_of(plan.method), plan.params, job.method_of)
    pools = StoredPools(net, job.artifacts, world.seal.check)
    held, began = begin_watch(), time.perf_counter()
    heuristic = method.build(context(world, method, plan.params, plan.seed, pools))
    seconds, most = time.perf_counter() - began - pools.spent, peak()
    world.check()
    counted = inventory(heuristic, net.graph.vertices)
    if method.claims.matched:
        check_budget(counted, Budget(plan.budget, convention(plan.convention)))
    deployed = deploy(heuristic, net)
    check_forms(heuristic, deployed, net, plan.seed)
    reloaded = _reloaded(job, world, heuristic, deployed)
    facts: dict[str, Any] = {
        "bytes": {"nominal_per_vertex": nominal_bytes(plan.params, plan.budget), **counted.record()},
        "build": {
            "seconds": seconds,
            "pool_seconds": pools.seconds,
            "rss_before": held,
            "peak_rss": most,
            "facts": _facts(heuristic),
        },
        "reload": {"status": reloaded.status, "digest": reloaded.digest, "pairs": reloaded.pairs},
        "tier": deployed.tier,
        "claims": asdict(method.claims),
    }
    return _searched(job, world, method, deployed, facts)


def _facts(heuristic: Heuristic) -> dict[str, int | float]:
    """What a method wants to be known about its build: finite numbers, which is what cell.json holds."""
    facts = {
        dotted(part, name): value
        for part, leaf in leaves(heuristic).items()
        if isinstance(leaf, LabelHeuristic)
        for name, value in leaf.facts.items()
    }
    for name, value in facts.items():
        if type(value) not in (int, float) or not math.isfinite(value):
            raise UsageError(f"the heuristic's fact {name!r} must be a finite int or float, not {value!r}.")
    return facts


def _reloaded(job: Job, world: World, heuristic: Heuristic, deployed: Deployed) -> Reload:
    try:
        return cold_reload(
            heuristic,
            world.net,
            targets=world.some_targets(),
            plugin_file=job.plugin_file,
            part_files=job.part_files,
            deployed=deployed,
            check=world.check,
            keep=job.keep,
        )
    except ReloadError as error:
        # The helper process can only say it in words. Kept as the method's fault, it would not be tried again.
        if not any(words in f"{error} {error.__cause__}" for words in NO_SPACE):
            raise
        raise StoreError(
            f"a heuristic's arrays could not be written to {tempfile.gettempdir()} to be read back ({error}); free "
            f"some space there, then run the same command again: finished cells are kept."
        ) from error


def _searched(job: Job, world: World, method: Method, deployed: Deployed, facts: dict[str, Any]) -> Result:
    cases: list[Counterexample] = []
    parts, violations = [], 0
    for name, answers, reference in _answered(job, world, deployed):
        queries = world.part(name)
        found, worst = audit_answers(queries.sources, queries.targets, answers, reference.cost)
        violations += found
        cases += worst
        parts.append((name, queries, answers, reference.cost))
    audit = _bounds(world, deployed, parts) if job.audit else Audit(0, 0, 0, None, ())
    world.check()  # a heuristic may do mischief when it is asked, too
    every = smallest([*cases, *audit.counterexamples])
    facts["audit"] = {
        "pairs": audit.pairs + sum(len(queries) for _, queries, _, _ in parts),
        "arcs": audit.arcs,
        "violations": audit.violations + violations,
        "consistent": audit.consistent,
        "counterexamples": [{**_fields(case), "sentence": case.sentence} for case in every],
    }
    facts["means"] = {name: float(answers.expanded.mean()) for name, _, answers, _ in parts if len(answers)}
    broken = next((case for case in every if _claimed(method, case.claim)), None)
    files = {"queries.csv": write_queries(_columns(parts))}
    if broken is not None:
        return Result("wrong", f"not {broken.claim}: {broken.sentence}", facts, files)
    return Result("ok", "", facts, files)


def _answered(job: Job, world: World, deployed: Deployed) -> list[tuple[str, Answers, Answers]]:
    """Each split's answers beside Dijkstra's, which are looked for last: another worker may be at them meanwhile."""
    parts = {name: world.part(name) for name in job.plan.splits}
    dijkstra = job.plan.policy == job.reference_policy and knows_nothing(deployed.searched)
    found = {}
    for name, queries in {} if dijkstra else parts.items():
        found[name] = search(world.net, deployed.searched, queries.sources, queries.targets, job.plan.policy)
    against = references(job.artifacts, world, parts, job.reference_policy)
    return [(name, found.get(name, against[name]), against[name]) for name in parts]


def _columns(parts: list[tuple[str, QuerySet, Answers, Array]]) -> dict[str, Array]:
    """The rows of all splits under one another, each query with its place in its split."""
    tables = []
    for split, queries, answers, reference in parts:
        count = len(queries)
        found = np.where(answers.cost < 0, "unreachable", "ok").astype(object)
        tables.append(
            {
                "query": np.arange(count),
                "split": np.full(count, split, dtype=object),
                "source": queries.sources,
                "target": queries.targets,
                "outcome": found,
                "reference_cost": reference,
                **answers.columns(),
            }
        )
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _claimed(method: Method, claim: str) -> bool:
    if claim == "consistent":
        return method.claims.consistent
    return method.claims.admissible  # an optimal path is what admissibility promises


def _fields(case: Counterexample) -> dict[str, Any]:
    """A counterexample for cell.json, which takes no infinities: those are spelt out."""
    values = {name: getattr(case, name) for name in ("claim", "u", "v", "target", "bound", "limit")}
    return {key: str(value) if value != value or value in (np.inf, -np.inf) else value for key, value in values.items()}


def _bounds(world: World, deployed: Deployed, parts: list[tuple[str, QuerySet, Answers, Array]]) -> Audit:
    chosen = audit_targets([queries for _, queries, _, _ in parts])
    for _, queries, _, reference in parts:
        check_reference(queries.sources, queries.targets, reference, chosen, world.exact)
    return audit_bounds(world.net, deployed.many, chosen, world.exact)
