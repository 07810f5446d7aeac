"""Builds and bundles in other processes: whatever depends on the process and not on the seed comes out different."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.bundle import store
from aacbench.bundle.deploy import deploy
from aacbench.bundle.functions import Address, address_of, function_at
from aacbench.contract.method import Claims, Method, Params, Unsupported
from aacbench.errors import BundleError, UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.processes.isolated import isolated
from aacbench.processes.pool import Limits
from aacbench.testing.bound_table import ask
from aacbench.testing.graph_case import Place
from aacbench.testing.outcomes import HeldUpError, NotBuiltError, NotPossibleError, NotSupportedError
from aacbench.testing.subject import SEED, Built, Subject, build_on
from aacbench.testing.zoo import is_of_few
from aacbench.util.source_file import SourceFile, source_of
from aacbench.util.text import describe

_LIMITS = Limits(600.0)
Key = tuple[str, float]  # the digest of a graph, and a budget


@dataclass(frozen=True, slots=True)
class _Lookup:
    """How another process finds a method: by the function given for that, or by the address of its build."""

    locate: Callable[[], Method] | None
    address: Address | None
    sources: tuple[SourceFile, ...]
    claims: Claims

    def __call__(self) -> Method:
        if self.locate is not None:
            return self.locate()
        assert self.address is not None
        build: Any = function_at(self.address, self.sources)
        return Method("elsewhere", "", lambda budget, info, params: params, build, self.claims)


@dataclass(frozen=True, slots=True)
class _Build:
    graph: Graph
    params: Params
    budget: float


def digests_elsewhere(subject: Subject, graph: Graph) -> Mapping[Key, str]:
    """The digest of each build on a few graphs, all made in one other process, when first asked for."""
    if not any(digest == graph.digest for digest, _ in subject.elsewhere):
        jobs = {}
        for key, built in _each_built(subject, (*filter(is_of_few, subject.graphs), graph)):
            params = subject.fitted(built.place.graph, built.budget)
            assert not isinstance(params, Unsupported)
            jobs[key] = _Build(built.place.graph, dict(params), built.budget)
        # Another order of sets than here, whatever that is here.
        hashing = {"PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
        try:
            answers = isolated(
                _built_there, (_lookup(subject), list(jobs.values())), _LIMITS, "It cannot be built there", hashing
            )
        except UsageError as error:
            raise NotPossibleError(f"The method cannot be built in another process: {error}") from error
        subject.elsewhere.update(zip(jobs, answers, strict=True))
    return subject.elsewhere


def bounds_from_bundles(subject: Subject, graph: Graph) -> Mapping[Key, Array | str]:
    """h on all pairs from the bundle of each build, all loaded in one other process, or what is wrong with it."""
    if not any(digest == graph.digest for digest, _ in subject.from_bundles):
        found: dict[Key, Array | str] = {}
        saved: dict[Key, Path] = {}
        with tempfile.TemporaryDirectory(prefix="aacbench-bundles-") as folder:
            for key, built in _each_built(subject, (*subject.graphs, graph)):
                try:
                    saved[key] = store.save(Path(folder), built.heuristic, built.place.graph).folder
                except BundleError as error:
                    found[key] = str(error)
            graphs = {each.digest: each for each in (*subject.graphs, graph)}
            jobs = [(path, graphs[digest]) for (digest, _), path in saved.items()]
            answers = isolated(_bounds_there, jobs, _LIMITS, "Its bundles cannot be loaded")
        subject.from_bundles.update({**found, **dict(zip(saved, answers, strict=True))})
    return subject.from_bundles


def _each_built(subject: Subject, graphs: Sequence[Graph]) -> list[tuple[Key, Built]]:
    found: dict[Key, Built] = {}
    for graph in graphs:
        for budget in subject.budgets:
            try:
                found[graph.digest, budget] = subject.built(graph, budget)
            except (NotBuiltError, NotSupportedError, HeldUpError):
                continue
    return list(found.items())


def _lookup(subject: Subject) -> _Lookup:
    if subject.locate is not None:
        return _Lookup(subject.locate, None, (), subject.method.claims)
    try:
        address = address_of(subject.method.build)
    except BundleError as error:
        raise NotPossibleError(str(error)) from error
    source = source_of(address.module)
    return _Lookup(None, address, (source,) if source else (), subject.method.claims)


def _built_there(request: tuple[_Lookup, list[_Build]]) -> list[str]:
    lookup, jobs = request
    method = lookup()
    return [_digest(method, job) for job in jobs]


def _digest(method: Method, job: _Build) -> str:
    try:
        return build_on(Place(job.graph), method, job.params, job.budget, SEED).digest
    except Exception as error:
        return f"It failed: {describe(error)}"


def _bounds_there(jobs: list[tuple[Path, Graph]]) -> list[Array | str]:
    return [_bounds(*job) for job in jobs]


def _bounds(folder: Path, graph: Graph) -> Array | str:
    try:
        deployed = deploy(store.load(store.open_bundle(folder)), Place(graph).net)
        return np.array(ask(deployed.many, graph.vertices, integral=graph.integral).table)
    except Exception as error:
        return describe(error)
