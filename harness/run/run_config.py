"""What a run needs besides its study, the job of each cell, and the key that names it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from aacbench.contract.budget import convention
from aacbench.contract.composite import assemble, part_names
from aacbench.contract.encoder import Encoder
from aacbench.contract.method import Method, Params
from aacbench.errors import UsageError
from aacbench.graphs.load import load
from aacbench.maps.load import load_maps
from aacbench.maps.names import CELLS
from aacbench.maps.record import MapSet
from aacbench.processes.pool import Limits
from aacbench.run.build import CellJob
from aacbench.run.encode import EncodeJob
from aacbench.run.layout import ARTIFACTS, BUNDLES, id_of_spelt
from aacbench.run.loaded_graph import GraphMetadata, GraphOf
from aacbench.run.plan import CellPlan
from aacbench.run.predictions import AtlasOf
from aacbench.run.records import ENCODE, QueryPlan, Study
from aacbench.run.store import Existing
from aacbench.util.canonical import Spelling
from aacbench.util.compiled import kernel_digest
from aacbench.util.source_file import SourceFile

LOCAL, DASK = "local", "dask"  # where cells run


@dataclass(frozen=True, slots=True)
class MethodSource:
    """A method and where it comes from: the digest of its source goes into every cell's key."""

    method: Method
    digest: str
    file: SourceFile | None = None
    built_in: bool = False  # else its code runs in workers of its own


@dataclass(frozen=True, slots=True)
class EncoderSource:
    """An encoder and where it comes from, as for methods."""

    encoder: Encoder
    digest: str
    file: SourceFile | None = None
    built_in: bool = False


def _no_encoder(name: str) -> Encoder:
    raise UsageError(f"Unknown encoder {name!r}.")


class Binding:
    """What ties a run to a registration. This one ties it to nothing."""

    def check(self, keys: Iterable[Mapping[str, Any]]) -> None:
        """See the key of every cell that can be planned ahead, before anything is written; refuse by raising."""

    def begin(self) -> None:
        """Record that the run begins, unless it has: its folder could be written, and no query was answered yet."""

    def enter(self, cell_id: str, record: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        """Record a cell just before it is stored, so that nobody can see a result that was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """All a run needs to know besides the study; `method_of` and `graph_of` must be importable by workers.

    `methods` has every method there is: a method of the study may be made of others. `foreign_graphs` are those of
    plugins, with the digest of each one's source: they are loaded in workers alone. With `rebuild` a cell of each
    method is built once more when all are done, and must come out the same. `lock` is the digest of the registration
    that the run is bound to by `binding`. `artifacts` is for pools and Dijkstra's answers, by default in the study.
    `executor` says where cells run; the workers of dask are those of the `scheduler`, or `workers` on this machine.
    `encoders`, `encoder_of` and `maps_of` are for studies on maps; map sets of plugins are among the `foreign_graphs`.
    """

    root: Path
    methods: Mapping[str, MethodSource]
    resolve: Callable[[Any, Mapping[str, Any]], Params]  # of a method or an encoder
    method_of: Callable[[str], Method]
    graph_of: GraphOf = load
    foreign_graphs: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    executor: str = LOCAL
    scheduler: str = ""
    existing: Existing = "keep"
    limits: Limits = field(default_factory=Limits)
    notify: Callable[[str, Mapping[str, Any]], None] = field(default=lambda *_: None)
    rebuild: bool = False
    lock: str | None = None
    binding: Binding = field(default_factory=Binding)
    artifacts: Path | None = None
    encoders: Mapping[str, EncoderSource] = field(default_factory=dict)
    encoder_of: Callable[[str], Encoder] = _no_encoder
    maps_of: Callable[[str, Mapping[str, int]], MapSet] = load_maps

    def source(self, cell: CellPlan) -> MethodSource | EncoderSource:
        """Where the method or the encoder of a cell comes from."""
        return self.encoders[cell.method] if cell.role == ENCODE else self.methods[cell.method]

    def defaults_of(self, cell: CellPlan) -> dict[str, dict[str, Any]]:
        """The defaults of a cell's method and its parts, or of its encoder, by name."""
        if cell.role == ENCODE:
            parameters = self.encoders[cell.method].encoder.parameters
            return {cell.method: {name: parameter.default for name, parameter in parameters.items()}}
        return {method: self.defaults(method) for method in (cell.method, *part_names(cell.params))}

    def encode_job(self, cell_id: str, plan: CellPlan, counts: Mapping[str, int], digest: str) -> EncodeJob:
        source = self.encoders[plan.method]
        return EncodeJob(
            cell_id=cell_id,
            plan=plan,
            counts=counts,
            digest=digest,
            claims=source.encoder.claims,
            encoder_of=self.encoder_of,
            maps_of=self.maps_of,
            bundles=(self.root / ARTIFACTS).absolute() / BUNDLES,
            sources=() if source.file is None else (source.file,),
            origin=self.origin(plan),
        )

    def note(self, text: str) -> None:
        """Tell something about the cluster that cells run on."""
        self.notify("cluster", {"text": text})

    def defaults(self, method: str) -> dict[str, Any]:
        """The default of each parameter of a method, for tables that leave defaults out."""
        return {name: parameter.default for name, parameter in self.methods[method].method.parameters.items()}

    def job(
        self,
        cell_id: str,
        plan: CellPlan,
        queries: QueryPlan,
        reference_policy: str,
        digests: Mapping[str, str],
        audit: bool = True,
    ) -> CellJob:
        stored = (self.root / ARTIFACTS).absolute()  # a method may leave its worker in another folder
        artifacts = stored if self.artifacts is None else self.artifacts.absolute()
        origin = self.origin(plan)
        # What a plugin's workers compute from the graph, no others read.
        own = artifacts / f"plugin-{sha256(origin.encode()).hexdigest()[:12]}" if origin else artifacts
        return CellJob(
            cell_id=cell_id,
            plan=plan,
            queries=queries,
            claims=assemble(self.methods[plan.method].method, plan.params, self._method).claims,
            method_of=self.method_of,
            reference_policy=reference_policy,
            artifacts=own,
            bundles=stored / BUNDLES,
            graph_of=AtlasOf(self.graph_of, self.root.absolute()) if plan.on_maps else self.graph_of,
            sources=tuple(source.file for source in self._sources(plan) if source.file is not None),
            origin=origin,
            audit=audit,
            digests=digests,
            source_digests={name: self.methods[name].digest for name in (plan.method, *part_names(plan.params))},
        )

    def _method(self, name: str) -> Method:
        return self.methods[name].method

    def _sources(self, plan: CellPlan) -> list[MethodSource]:
        return [self.methods[name] for name in (plan.method, *part_names(plan.params))]

    def origin(self, plan: CellPlan) -> str:
        """The plugins that a cell's method or encoder, its parts and its graph come from; empty for built-in ones."""
        sources = [self.source(plan)] if plan.role == ENCODE else self._sources(plan)
        digests = [source.digest for source in sources if not source.built_in]
        found = [*digests, *filter(None, [self.foreign_graphs.get(plan.built_graph, "")])]
        return " ".join([plan.method, *found]) if found else ""


def key_of(study: Study, config: RunConfig, graphs: Mapping[str, GraphMetadata], cell: CellPlan) -> dict[str, Any]:
    """Everything that decides what a cell computes, and the lock that it was computed under.

    The lock is part of the key so that rows made before it, or under another, can never stand for rows made under it.
    Keys of several cells share the values that are the same; do not write into them.
    """
    graph = graphs[cell.graph_key]
    return {
        "graph": cell.graph,
        **({"traffic": cell.traffic} if cell.traffic else {}),
        **({"graph_file": cell.graph_file} if cell.graph_file else {}),
        "graph_digest": graph.graph_digest,
        "query_digests": graph.queries(cell.variant),
        "method": cell.method,
        "label": cell.label,
        "plugin_digest": config.source(cell).digest,
        **_part_digests(config, cell),
        "params": cell.params,
        "budget": cell.budget,
        "convention": _charged(cell.convention),
        "seed": cell.seed,
        "policy": cell.policy,
        "splits": _listed(cell.splits),
        "role": cell.role,
        "engine": kernel_digest(),
        "protocol": study.protocol,
        **({"inputs": dict(cell.inputs)} if cell.inputs else {}),
        **({"edges": cell.edges} if cell.edges != CELLS else {}),
        **({"variant": cell.variant} if cell.variant else {}),
        **({"lock": config.lock} if config.lock else {}),
    }


def plan_of(key: Mapping[str, Any]) -> CellPlan:
    """The plan that a stored cell was run from, as far as its build and its measuring need it."""
    return CellPlan(
        graph=key["graph"],
        method=key["method"],
        label=key["label"],
        params=dict(key["params"]),
        budget=key["budget"],
        convention=f"{key['convention']['name']}/{key['convention']['version']}",
        seed=key["seed"],
        policy=key["policy"],
        splits=tuple(key["splits"]),
        role=key["role"],
        graph_file=key.get("graph_file", ""),
        inputs=key.get("inputs", {}),
        edges=key.get("edges", CELLS),
        variant=key.get("variant", ""),
        traffic=key.get("traffic", ""),
    )


def named(
    study: Study, config: RunConfig, graphs: Mapping[str, GraphMetadata], cells: Iterable[CellPlan]
) -> list[tuple[CellPlan, str]]:
    spelling = Spelling()
    return [(cell, id_of_spelt(spelling.of(key_of(study, config, graphs, cell)))) for cell in cells]


@cache
def _charged(label: str) -> dict[str, Any]:
    return convention(label).record()


@cache
def _listed(splits: tuple[str, ...]) -> list[str]:
    return list(splits)


def _part_digests(config: RunConfig, cell: CellPlan) -> dict[str, Any]:
    """The sources of the methods it is made of: a change in one of them changes what the cell computes."""
    names = sorted(set(part_names(cell.params)))
    return {"part_digests": {name: config.methods[name].digest for name in names}} if names else {}
