"""One cell, in a worker: load, build, measure, reload, search, audit; values in, values out."""

import errno
import hashlib
import math
import os
import resource
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from aacbench import artifacts
from aacbench.errors import AacbenchError, ReloadError, StoreError, UsageError
from aacbench.graphs.load import load
from aacbench.graphs.record import Array
from aacbench.memory.conventions import Budget, convention
from aacbench.memory.deploy import Deployed, check_agreement, deploy, other_forms
from aacbench.memory.inventory import check_budget, inventory
from aacbench.memory.reload import Reload, cold_reload
from aacbench.method import BuildContext, Heuristic, LabelHeuristic, Method
from aacbench.queries.record import QuerySet
from aacbench.queries.splits import sample_splits
from aacbench.run.audit import Audit, Counterexample, audit_answers, audit_bounds, smallest
from aacbench.run.durable import storing
from aacbench.run.locks import claim
from aacbench.run.plan import CellPlan
from aacbench.run.pools import StoredPools
from aacbench.run.records import QueryPlan
from aacbench.run.rows import write_queries
from aacbench.run.world import World, sealed
from aacbench.search import Answers, Network, dijkstra, network, parse, search

AUDIT_TARGETS = 3
REASON_LENGTH = 2000
# What the system says of a full disk, and NumPy, which does not say why.
NO_SPACE = (*map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)), " requested and ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A cell with all that a worker needs to run it; `method_of` finds the method by name in the worker."""

    cell_id: str
    plan: CellPlan
    queries: QueryPlan
    artifacts: Path
    method_of: Callable[[str], Method]
    plugin_file: Path | None = None
    audit: bool = True


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
        _world.cache_clear()  # who knows what the method did to the graph before it failed
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
    world = _world(plan.graph, job.queries)
    net = world.net
    references = {name: _reference(job.artifacts, net, world.part(name)) for name in plan.splits}
    method = job.method_of(plan.method)
    pools = StoredPools(net, job.artifacts, world.check)
    began = time.perf_counter()
    heuristic = method.build(_context(job, world, method, pools))
    seconds = time.perf_counter() - began - pools.spent
    world.check()
    counted = inventory(heuristic, net.graph.vertices)
    check_budget(counted, Budget(plan.budget, convention(plan.convention)))
    deployed = deploy(heuristic, net)
    for other in other_forms(heuristic):
        check_agreement(deployed, deploy(other, net), net, plan.seed)
    reloaded = _reloaded(job, net, heuristic, deployed)
    facts: dict[str, Any] = {
        "bytes": {"nominal_per_vertex": plan.budget, **counted.record()},
        "build": {"seconds": seconds, "pool_seconds": pools.seconds, "peak_rss": _peak(), "facts": _facts(heuristic)},
        "reload": {"status": reloaded.status, "digest": reloaded.digest, "pairs": reloaded.pairs},
        "tier": deployed.tier,
        "claims": asdict(method.claims),
    }
    return _searched(job, world, references, method, deployed, facts)


def _facts(heuristic: Heuristic) -> dict[str, int | float]:
    """What a method wants to be known about its build: finite numbers, which is what cell.json holds."""
    facts = dict(heuristic.facts) if isinstance(heuristic, LabelHeuristic) else {}
    for name, value in facts.items():
        if type(value) not in (int, float) or not math.isfinite(value):
            raise UsageError(f"the heuristic's fact {name!r} must be a finite int or float, not {value!r}.")
    return facts


def _context(job: Job, world: World, method: Method, pools: StoredPools) -> BuildContext:
    return BuildContext(
        network=world.net,
        params=dict(job.plan.params),
        seed=job.plan.seed,
        train=world.splits.train,
        validation=world.splits.validation,
        pools=pools,
        oracle_queries=world.splits.test if method.claims.oracle else None,
    )


def _reloaded(job: Job, net: Network, heuristic: Heuristic, deployed: Deployed) -> Reload:
    try:
        return cold_reload(heuristic, net, plugin_file=job.plugin_file, deployed=deployed)
    except ReloadError as error:
        # The helper process can only say it in words. Kept as the method's fault, it would not be tried again.
        if not any(words in f"{error} {error.__cause__}" for words in NO_SPACE):
            raise
        raise StoreError(
            f"a heuristic's arrays could not be written to {tempfile.gettempdir()} to be read back ({error}); free "
            f"some space there, then run the same command again: finished cells are kept."
        ) from error


def _searched(
    job: Job, world: World, references: Mapping[str, Array], method: Method, deployed: Deployed, facts: dict[str, Any]
) -> Result:
    policy = parse(job.plan.policy)
    cases: list[Counterexample] = []
    parts, violations = [], 0
    for name in job.plan.splits:
        queries = world.part(name)
        answers = search(world.net, deployed.searched, queries.sources, queries.targets, policy)
        found, worst = audit_answers(queries.sources, queries.targets, answers, references[name])
        violations += found
        cases += worst
        parts.append((name, queries, answers, references[name]))
    audit = _bounds(job, world, deployed) if job.audit else Audit(0, 0, 0, None, ())
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


def _bounds(job: Job, world: World, deployed: Deployed) -> Audit:
    seed = int.from_bytes(hashlib.sha256(job.cell_id.encode()).digest()[:8], "little")
    targets = np.unique(np.concatenate([world.part(name).targets for name in job.plan.splits]))
    chosen = np.random.default_rng(seed).choice(targets, min(AUDIT_TARGETS, len(targets)), replace=False)
    return audit_bounds(world.net, deployed.many, np.sort(chosen))


@lru_cache(maxsize=2)
def _world(name: str, plan: QueryPlan) -> World:
    net = network(load(name))
    splits = sample_splits(
        net.graph, plan.validation, plan.test, plan.train, mode=plan.mode, seed=plan.seed, strict=plan.strict
    )
    return sealed(net, splits)


def _reference(folder: Path, net: Network, queries: QuerySet) -> Array:
    """Dijkstra's costs, computed once per graph and query set and shared by all cells."""
    key = artifacts.key_of({"reference": "dijkstra/1", "graph": net.graph.digest, "queries": queries.digest})
    kept = artifacts.read(folder, key)
    if kept is None:
        with claim(folder, f"reference-{key[:24]}", wait=True):
            kept = artifacts.read(folder, key)  # another worker may have computed it meanwhile
            if kept is None:
                cost = np.ascontiguousarray(dijkstra(net, queries.sources, queries.targets).cost)
                with storing(folder.parent):
                    artifacts.write(folder, key, {"cost": cost}, {})
                return cost
    return kept.arrays["cost"]


def _peak() -> int:
    """The most memory this worker has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
