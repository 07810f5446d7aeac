"""The first step of a cell: run the method's code and leave a bundle."""

import math
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba

from aacbench.bundle import store
from aacbench.bundle.arrays import dotted, leaves
from aacbench.bundle.deploy import TIERS
from aacbench.bundle.evidence import Evidence, Sample, take_evidence
from aacbench.contract.budget import Budget, convention
from aacbench.contract.composite import assemble
from aacbench.contract.method import (
    BatchHeuristic,
    Claims,
    Heuristic,
    LabelHeuristic,
    Method,
    ScalarHeuristic,
    Unsupported,
)
from aacbench.errors import DataError, UsageError
from aacbench.graphs.load import load
from aacbench.processes import rss
from aacbench.processes.worker import Failure, report_progress
from aacbench.run.artifacts import Artifacts
from aacbench.run.fitting import checked_refusal
from aacbench.run.loaded_graph import (
    GraphOf,
    LoadedGraph,
    build_context,
    check_graph,
    forget,
    loaded_graph,
    raised_graph,
)
from aacbench.run.plan import CellPlan
from aacbench.run.records import ATLAS, QueryPlan
from aacbench.run.shared import Pools
from aacbench.search.policy import parse
from aacbench.util.array_store import Version
from aacbench.util.atomic_io import storing
from aacbench.util.source_file import SourceFile

if TYPE_CHECKING:
    from aacbench.run.predicted import Predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class CellJob:
    """A cell with all that a process needs for it; `method_of` and `graph_of` find things by name in that process.

    `artifacts` is the folder of landmark pools and of Dijkstra's answers, `bundles` that of built heuristics.
    `sources` are the plugin files that the method comes from, `source_digests` the digest of the source of the method
    and each of its parts. A graph and queries whose digests are not `digests`, which are in the cell's key, are
    refused. With `anew` nothing is taken that a method made for another cell.
    """

    cell_id: str
    plan: CellPlan
    queries: QueryPlan
    claims: Claims
    method_of: Callable[[str], Method]
    reference_policy: str
    artifacts: Path
    bundles: Path
    graph_of: GraphOf = load
    sources: tuple[SourceFile, ...] = ()
    origin: str = ""  # the plugins that its method and graph come from; empty where all is built in
    audit: bool = True
    digests: Mapping[str, str] | None = None
    source_digests: Mapping[str, str] = field(default_factory=dict)
    anew: bool = False

    @property
    def common_artifacts(self) -> Path:
        """What built-in methods computed; the processes of a plugin read it and write to `artifacts`."""
        return self.artifacts.parent if self.origin else self.artifacts

    def method(self) -> Method:
        """The method with its parts put in, found in this process."""
        return assemble(self.method_of(self.plan.method), self.plan.params, self.method_of)

    def loaded(self) -> LoadedGraph:
        """The graph and its queries, which must be those the run was planned on."""
        found = loaded_graph(*self._source)
        if self.digests is not None and {"graph": found.net.graph.digest, **found.digests()} != self.digests:
            raise DataError(
                f"The graph {self.plan.built_graph} or its queries are not those that this run was planned on. They "
                f"must be the same each time they are loaded; run again once they are."
            )
        return found

    def predictions(self) -> "Predictions":
        """The predicted costs that the graph is made of, of a cell on maps."""
        from aacbench.run.predictions import AtlasOf, predictions

        assert isinstance(self.graph_of, AtlasOf)
        return predictions(self.graph_of.root, self.plan.graph_file.removeprefix(ATLAS))

    def searched(self) -> LoadedGraph:
        """The graph that is searched: the one that is built on, with its weights raised where there is traffic."""
        if not self.plan.traffic:
            return self.loaded()
        self.loaded()  # refuses another graph than was planned on
        return raised_graph(*self._source, self.plan.traffic)

    @property
    def _source(self) -> tuple[str, QueryPlan, GraphOf, str]:
        """What the graph is loaded by."""
        return self.plan.graph_source, self.queries, self.graph_of, parse(self.plan.policy).vertex_order

    def rebuilt(self, seed: int) -> "CellJob":
        """The same cell, built from nothing with this seed."""
        return replace(self, plan=replace(self.plan, seed=seed), anew=True)


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell came to: its outcome, the facts for cell.json, and the files beside it."""

    outcome: str
    reason: str
    facts: Mapping[str, Any]
    files: Mapping[str, bytes]


def result_of(failure: Failure) -> Result:
    trace = {"error.txt": failure.trace.encode(errors="backslashreplace")} if failure.trace else {}
    return Result(failure.outcome, failure.reason, {}, trace)


_TIER_OF = {LabelHeuristic: "compiled", BatchHeuristic: "batch", ScalarHeuristic: "scalar"}


@dataclass(frozen=True, eq=False, slots=True)
class Built:
    """What a build left: the digest of its bundle, the sha256 of each array, what it cost, and evidence of its bounds.

    `versions` are the files of the bundle, which need not be hashed again as long as they are these. A scalar heuristic
    has no bundle (`bundle` is empty) and lives on in the process that built it, as `live`.
    """

    bundle: str
    arrays: Mapping[str, str]
    cost: Mapping[str, Any]
    tier: str
    seconds: float
    sample: Sample
    evidence: tuple[Evidence, ...] = ()
    versions: tuple[Version, ...] = ()
    live: Heuristic | None = None


def build(job: CellJob) -> Built | Result:
    """Build a cell's heuristic and save it as a bundle; a method may find only now that it cannot."""
    try:
        return _build(job)
    except BaseException:
        forget()  # who knows what the method did to the graph before it failed
        raise


def _build(job: CellJob) -> Built | Result:
    began = time.perf_counter()
    if job.origin:
        # An author's own machine code freezes the globals it was compiled with. Code compiled here, after the build
        # has filled them, must not reach the process that measures.
        setattr(numba.config, "CACHE_DIR", tempfile.gettempdir())  # noqa: B010
    loaded, method = job.loaded(), job.method()
    heuristic, cost = _heuristic(job, loaded, method)
    if isinstance(heuristic, Unsupported):
        return _refused(job, heuristic, loaded.net.graph.vertices, cost)
    tier = max((_TIER_OF[type(leaf)] for leaf in leaves(heuristic).values()), key=TIERS.index)
    sample = Sample(loaded.net.graph.vertices, targets=loaded.known_targets())
    if tier == "scalar":
        return Built("", {}, cost, tier, time.perf_counter() - began, sample, live=heuristic)
    evidence = tuple(take_evidence(heuristic, loaded.net, sample))
    if evidence:
        loaded.check()  # a heuristic may change the graph when it is asked, too
    info = bundle_info(job.plan, asdict(method.claims), cost)
    with storing(job.bundles.parents[1]):
        bundle = store.save(job.bundles, heuristic, loaded.net.graph, info)
    seconds = time.perf_counter() - began
    return Built(bundle.digest, bundle.array_digests, cost, tier, seconds, sample, evidence, bundle.versions())


def _refused(job: CellJob, refusal: Unsupported, vertices: int, cost: Mapping[str, Any]) -> Result:
    budget = Budget(job.plan.budget, convention(job.plan.convention))
    refusal = checked_refusal(refusal, budget, vertices)
    needed = {} if refusal.bytes_needed is None else {"bytes_needed": refusal.bytes_needed}
    return Result("unsupported", refusal.reason, {"build": cost, **needed}, {})


def _heuristic(job: CellJob, loaded: LoadedGraph, method: Method) -> tuple[Heuristic | Unsupported, dict[str, Any]]:
    plan = job.plan
    # The check holds no queries: a method can reach it.
    check = partial(check_graph, loaded.net, loaded.graph_mark)
    pools = Pools(loaded.net, job.artifacts, check)
    own = None if job.anew else job.artifacts
    artifacts = Artifacts(pools, loaded.net.graph.digest, own, job.source_digests, check)
    context = build_context(loaded, method, plan.params, plan.seed, pools, report_progress, artifacts)
    before, began = rss.begin_watch(), time.perf_counter()
    heuristic = method.build(context) if not plan.on_maps else _on_maps(job, loaded, method)
    seconds, most = time.perf_counter() - began - pools.spent - artifacts.spent, rss.peak()
    loaded.check()
    told = {"facts": {}} if isinstance(heuristic, Unsupported) else _told(heuristic)
    return heuristic, {
        "seconds": seconds + artifacts.seconds,
        "pool_seconds": pools.seconds + artifacts.pool_seconds,
        "rss_before": before,
        "peak_rss": most,
        **told,
    }


def _on_maps(job: CellJob, loaded: LoadedGraph, method: Method) -> Heuristic | Unsupported:
    from aacbench.run.map_build import build_on_maps

    return build_on_maps(
        job.predictions(), loaded.net, method, job.plan.params, job.plan.seed, job.queries, report_progress
    )


def bundle_info(plan: CellPlan, claims: Mapping[str, Any], cost: Mapping[str, Any]) -> dict[str, Any]:
    """What bundle.json says about where its heuristic comes from."""
    return {
        "graph": plan.built_graph,
        **({"graph_file": plan.graph_file} if plan.graph_file else {}),
        "method": plan.method,
        "label": plan.label,
        "params": plan.params,
        "budget": plan.budget,
        "convention": plan.convention,
        "seed": plan.seed,
        "policy": plan.policy,
        "claims": claims,
        "build": cost,
        "facts": cost["facts"],
    }


def _told(heuristic: Heuristic) -> dict[str, dict[str, Any]]:
    """What a method reports about its build: finite numbers, and settings that only the build could choose."""
    parts = {part: leaf for part, leaf in leaves(heuristic).items() if isinstance(leaf, LabelHeuristic)}
    facts = {dotted(part, name): value for part, leaf in parts.items() for name, value in leaf.facts.items()}
    chosen = {dotted(part, name): value for part, leaf in parts.items() for name, value in leaf.chosen.items()}
    numbers = [*facts.items(), *((name, value) for name, value in chosen.items() if not isinstance(value, str))]
    for name, value in numbers:
        if type(value) not in (int, float) or not math.isfinite(value):
            raise UsageError(f"The heuristic's fact {name!r} must be a finite int or float, not {value!r}.")
    return {"facts": facts, **({"chosen": chosen} if chosen else {})}
