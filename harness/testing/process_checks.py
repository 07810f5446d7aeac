"""Checks that need another process: the same build there, and the same bounds from a bundle."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from aacbench.processes.pool import Limits, isolated
from aacbench.testing.graph_case import GraphCase
from aacbench.testing.subject import (
    SEED,
    BlockedError,
    BrokenError,
    Built,
    NotBuiltError,
    NothingToDoError,
    NotPossibleError,
    NotSupportedError,
    Subject,
    bound_table,
    build_on,
    number,
)
from aacbench.testing.zoo import is_representative
from aacbench.util.source_file import SourceFile, source_of
from aacbench.util.text import describe

_LIMITS = Limits(600.0)
Key = tuple[str, float]  # the digest of a graph, and a budget


def other_process(subject: Subject, graph: Graph) -> None:
    """A build with the same seed in another process gives the same bytes."""
    for built in subject.builds(graph):
        key = graph.digest, built.budget
        if key not in subject.process_digests:
            build_in_another_process([subject], [graph])
        if subject.process_digests[key] != built.digest:
            raise BrokenError(
                f"a build with seed {SEED} in another process differs, at {built.budget:g} bytes per vertex"
            )


def loads_from_bundle(subject: Subject, graph: Graph) -> None:
    """Loaded from its bundle, in a process that never built it, the heuristic gives the same bounds."""
    for built in subject.numeric_builds(graph):
        if built.deployed.tier == "scalar":
            raise NothingToDoError("a scalar heuristic has no arrays, so its memory is self-reported")
        loaded = _bundle_bounds(subject, graph)[graph.digest, built.budget]
        if isinstance(loaded, str):
            raise BrokenError(loaded)
        for u, t in np.argwhere(~((loaded == built.table) | (np.isnan(loaded) & np.isnan(built.table)))):
            raise BrokenError(
                f"h({u}, {t}) = {number(built.table[u, t])} in the process that built it, but "
                f"{number(loaded[u, t])} from the bundle; it depends on something that is not in its arrays"
            )


@dataclass(frozen=True, slots=True)
class _Lookup:
    """How another process finds a method: by calling `locate`, or by the address of its `build`."""

    locate: Callable[[], Method] | None
    address: Address | None
    sources: tuple[SourceFile, ...]
    claims: Claims

    def __call__(self) -> Method:
        if self.locate is not None:
            return self.locate()
        assert self.address is not None
        build: Any = function_at(self.address, self.sources)
        return Method("located", "", lambda budget, info, params: params, build, self.claims)


@dataclass(frozen=True, slots=True)
class _Job:
    lookup: _Lookup
    graph: Graph
    params: Params
    budget: float


def build_in_another_process(subjects: Iterable[Subject], graphs: Sequence[Graph] = ()) -> None:
    """Build all subjects in one other process, on these graphs and a few of the zoo, and store the digests."""
    keys: list[tuple[Subject, Key]] = []
    jobs: list[_Job] = []
    for subject in subjects:
        lookup = _lookup(subject)
        for key, built in _all_built(subject, (*filter(is_representative, subject.graphs), *graphs)):
            params = subject.fit(built.case.graph, built.budget)
            assert not isinstance(params, Unsupported)
            keys.append((subject, key))
            jobs.append(_Job(lookup, built.case.graph, dict(params), built.budget))
    try:
        digests = isolated(_digests_of, jobs, _LIMITS, "The build failed")
    except UsageError as error:
        raise NotPossibleError(f"The method cannot be built in another process: {error}") from error
    for (subject, key), digest in zip(keys, digests, strict=True):
        subject.process_digests[key] = digest


def _bundle_bounds(subject: Subject, graph: Graph) -> Mapping[Key, Array | str]:
    """All bounds from the bundle of each build, or an error; all bundles are loaded in one other process."""
    if not any(digest == graph.digest for digest, _ in subject.bundle_bounds):
        errors: dict[Key, Array | str] = {}
        saved: dict[Key, Path] = {}
        with tempfile.TemporaryDirectory(prefix="aacbench-bundles-") as folder:
            for key, built in _all_built(subject, (*subject.graphs, graph)):
                try:
                    saved[key] = store.save(Path(folder), built.heuristic, built.case.graph).folder
                except BundleError as error:
                    errors[key] = str(error)
            graphs = {case.digest: case for case in (*subject.graphs, graph)}
            jobs = [(path, graphs[digest]) for (digest, _), path in saved.items()]
            tables = isolated(_bounds_of, jobs, _LIMITS, "The bundles cannot be loaded")
        subject.bundle_bounds.update({**errors, **dict(zip(saved, tables, strict=True))})
    return subject.bundle_bounds


def _all_built(subject: Subject, graphs: Sequence[Graph]) -> list[tuple[Key, Built]]:
    found: dict[Key, Built] = {}
    for graph in graphs:
        for budget in subject.budgets:
            try:
                found[graph.digest, budget] = subject.build(graph, budget)
            except (NotBuiltError, NotSupportedError, BlockedError):
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


def _digests_of(jobs: list[_Job]) -> list[str]:
    return [_digest(job) for job in jobs]


def _digest(job: _Job) -> str:
    method = job.lookup()
    try:
        return build_on(GraphCase(job.graph), method, job.params, job.budget, SEED).digest
    except Exception as error:
        return describe(error)


def _bounds_of(jobs: list[tuple[Path, Graph]]) -> list[Array | str]:
    return [_bounds(*job) for job in jobs]


def _bounds(folder: Path, graph: Graph) -> Array | str:
    try:
        deployed = deploy(store.load(store.open_bundle(folder)), GraphCase(graph).net)
        return np.array(bound_table(deployed.many, graph.vertices, integral=graph.integral).table)
    except Exception as error:
        return describe(error)
