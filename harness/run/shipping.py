"""How a step travels to a worker of a cluster, what the worker makes of it, and how its result and bundle come back.

Paths of the client mean nothing on a worker: each has a folder for the run, where pools and bundles are kept and
where graphs, query files and bundles arrive that it lacks.
"""

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aacbench.bundle.store import bundle_folder, sound_bundle
from aacbench.errors import DataError
from aacbench.graphs import fetch
from aacbench.graphs.catalogue import FILE_PREFIX, catalogue, name_and_file
from aacbench.graphs.load import load, scenario_path
from aacbench.graphs.readers.npz import graph_bytes
from aacbench.graphs.record import Graph
from aacbench.processes.pool import Limits
from aacbench.processes.remote import Finished, Link, Missing
from aacbench.run.build import Built, CellJob, Result
from aacbench.run.layout import ARTIFACTS, BUNDLES
from aacbench.run.records import SCENARIO
from aacbench.run.steps import Step, run_step
from aacbench.util.atomic_io import fill_folder, remove, storing
from aacbench.util.paths import expanded

GRAPH_FILE = "graph.npz"


@dataclass(frozen=True, slots=True)
class Shipment:
    """A step as it travels, and the folders that its worker must have: of its graph, its queries and its bundle.

    With `build_only` it is not measured. `returns` says that the bundle is to come back.
    """

    step: Step
    seconds: float
    graph: str = ""
    queries: str = ""
    bundle: str = ""
    build_only: bool = False
    returns: bool = True

    def link(self, fresh: bool = False) -> Link:
        seconds = self.step.seconds(self.seconds)
        return Link(f"{__name__}:run_shipment", pickle.dumps(self), self.step.kind, seconds, fresh)

    def missing(self, folder: Path) -> tuple[str, ...]:
        """The folders to be sent. A data set whose files are on this machine is not."""
        wanted = [self.queries, self.bundle, "" if _is_here(self.step.job.plan.graph_source) else self.graph]
        return tuple(place for place in wanted if place and not (folder / place).is_dir())

    def arrived(self, folder: Path) -> Step:
        """The step with the paths of this machine; plugin files must be what the run was planned with."""
        job = _cell_job(self.step)
        for source in job.sources:
            # Of the bytes that are here: the record's own digest may have travelled with it.
            if hashlib.sha256(source.source).hexdigest() not in job.source_digests.values():
                raise DataError(f"The plugin file {source.path.name} arrived with other bytes than it was sent with.")
        artifacts = folder / ARTIFACTS
        graph_of = job.graph_of
        if self.graph and (folder / self.graph).is_dir():
            graph_of = SentGraph(str(folder / self.graph / GRAPH_FILE), job.plan.graph)
        queries = job.queries
        if self.queries:
            queries = replace(queries, file=str(folder / self.queries / Path(queries.file).name))
        own = artifacts / job.artifacts.name if job.origin else artifacts
        here = replace(job, artifacts=own, bundles=folder / BUNDLES, graph_of=graph_of, queries=queries)
        return Step(here, self.step.built)


@dataclass(frozen=True, slots=True)
class SentGraph:
    """Finds the graph that the client sent, whatever it is called."""

    file: str
    name: str

    def __call__(self, _: str) -> Graph:
        """Load the graph; like any file it is parsed once and then read from the cache."""
        return replace(load(FILE_PREFIX + self.file), name=self.name)


def run_shipment(payload: bytes, folder: Path) -> Link | Missing | Finished:
    """Do a step that was sent here, in a child of a worker."""
    shipment: Shipment = pickle.loads(payload)
    if missing := shipment.missing(folder):
        return Missing(missing)
    step = shipment.arrived(folder)
    answer = run_step(step)
    if isinstance(answer, Built) and not shipment.build_only:
        return replace(shipment, step=Step(shipment.step.job, answer)).link()
    built = answer if isinstance(answer, Built) else step.built
    returned = built.bundle if shipment.returns and built is not None else ""
    return Finished(pickle.dumps(answer), str(bundle_folder(Path(BUNDLES), returned)) if returned else "")


def shipment_of(step: Step, limits: Limits, build_only: bool = False, bundle: str = "") -> Shipment:
    """A step ready to be sent; a `bundle` goes with it, as that does which it is to measure."""
    job = _with_query_file(_cell_job(step))
    graph, digest = job.plan.graph_source, (job.digests or {}).get("graph", "")
    bundle = step.built.bundle if step.built else bundle
    return Shipment(
        step=replace(step, job=job),
        seconds=limits.seconds,
        graph=f"graphs/{_short(graph, digest)}" if _has_file(graph) else "",
        queries=f"queries/{_short(job.queries.file)}" if job.queries.file else "",
        bundle=str(bundle_folder(Path(BUNDLES), bundle)) if bundle else "",
        build_only=build_only,
        returns=step.built is None,
    )


def shipped_files(shipment: Shipment, place: str) -> Mapping[str, bytes]:
    """What a folder holds that a worker lacks."""
    job = _cell_job(shipment.step)
    if place == shipment.bundle:
        return _bundle_files(job.bundles, Path(place).name)
    if place == shipment.queries:
        path = expanded(job.queries.file)
        return {path.name: path.read_bytes()}
    return {GRAPH_FILE: graph_bytes(job.graph_of(job.plan.graph_source))}


def run_here(payload: bytes, _: Path) -> Link | Finished:
    """Do a step in a child of a worker on the client's own machine."""
    carried: StepHere = pickle.loads(payload)
    answer = run_step(carried.step)
    if isinstance(answer, Built) and not carried.build_only:
        return replace(carried, step=Step(carried.step.job, answer)).link()
    return Finished(pickle.dumps(answer))


@dataclass(frozen=True, slots=True)
class StepHere:
    """A step for a worker on the client's own machine, where its paths hold and nothing need be sent."""

    step: Step
    limit: float
    build_only: bool = False

    def link(self) -> Link:
        seconds = self.step.seconds(self.limit)
        return Link(f"{__name__}:run_here", pickle.dumps(self), self.step.kind, seconds, self.build_only)


@dataclass(frozen=True, slots=True)
class HerePacking:
    """How steps reach workers on this machine: they use the study's own folders, as those of a local run do."""

    limits: Limits
    fresh: bool = False

    def name(self, step: Step) -> str:
        return step.job.cell_id

    def title(self, step: Step) -> str:
        return _title(step)

    def link(self, step: Step) -> Link:
        return StepHere(step, self.limits.seconds, self.fresh).link()

    def files(self, step: Step, place: str) -> Mapping[str, bytes]:
        raise AssertionError(f"Nothing is sent to a worker on this machine, not {place} of {self.name(step)}.")

    def unpacked(self, _: Step, finished: Finished) -> Built | Result:
        answer: Built | Result = pickle.loads(finished.result)
        return answer


@dataclass(frozen=True, slots=True)
class StepPacking:
    """How steps travel. `fresh` ones are builds alone, in an interpreter of their own."""

    limits: Limits
    fresh: bool = False

    def name(self, step: Step) -> str:
        return step.job.cell_id

    def title(self, step: Step) -> str:
        return _title(step)

    def link(self, step: Step) -> Link:
        return shipment_of(step, self.limits, self.fresh).link(self.fresh)

    def files(self, step: Step, place: str) -> Mapping[str, bytes]:
        return shipped_files(shipment_of(step, self.limits), place)

    def unpacked(self, step: Step, finished: Finished) -> Built | Result:
        """What the step came to; its bundle is kept in the study."""
        if finished.place:
            _keep(_cell_job(step), Path(finished.place).name, finished.files)
        answer: Built | Result = pickle.loads(finished.result)
        return answer


def _title(step: Step) -> str:
    plan = step.job.plan
    return f"{plan.label} on {plan.graph} at {plan.budget:g} B/v, seed {plan.seed}"


def _cell_job(step: Step) -> CellJob:
    assert isinstance(step.job, CellJob)  # a study on maps, which has encoders, is refused before it gets here
    return step.job


def _keep(job: CellJob, bundle: str, files: Mapping[str, bytes]) -> None:
    folder = bundle_folder(job.bundles, bundle)
    if sound_bundle(folder) is not None:
        return
    with storing(job.bundles.parents[1]):
        remove(folder)  # which may be there, damaged
        fill_folder(folder, files)


def _bundle_files(root: Path, name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in bundle_folder(root, name).iterdir()}


def _with_query_file(job: CellJob) -> CellJob:
    """The job with its query file by name also where that is the catalogue's."""
    if job.queries.mode != SCENARIO or job.queries.file:
        return job
    return replace(job, queries=replace(job.queries, file=str(scenario_path(job.plan.graph))))


def _has_file(graph: str) -> bool:
    return graph.startswith(FILE_PREFIX) or bool(name_and_file(graph)[1]) or graph in catalogue()


def _is_here(graph: str) -> bool:
    entry = catalogue().get(graph)
    if entry is None:
        return False
    files = entry.graph_files.values()
    return all(fetch.in_data_folder(file) is not None or fetch.in_cache(file) is not None for file in files)


def _short(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]
