"""The cells of a study on maps: one for each encoder and seed first, and the searches on what it predicts after it."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from aacbench.contract.composite import Resolve
from aacbench.contract.encoder import Encoder
from aacbench.contract.method import Method, Params
from aacbench.errors import UsageError
from aacbench.graphs.fetch import sha256_of
from aacbench.maps.atlas import atlas
from aacbench.maps.record import CALIBRATION, TEST, MapSet
from aacbench.processes.pool import isolated
from aacbench.queries.splits import query_splits
from aacbench.run.fitting import Answer, Question
from aacbench.run.loaded_graph import GraphMetadata, graph_metadata, sealed
from aacbench.run.plan import CellPlan, Plan, plan
from aacbench.run.predictions import AtlasOf, map_info
from aacbench.run.records import ATLAS, CORNER, ENCODE, MethodChoice, Study
from aacbench.run.run_config import RunConfig
from aacbench.run.store import Cell
from aacbench.search.networks import network
from aacbench.util.paths import expanded
from aacbench.util.text import suggestion

ResolveEncoder = Callable[[Encoder, Mapping[str, Any]], Params]
_ONE_MAP = "map"  # what a map is called while it is planned; an encoder's name may hold any sign


@dataclass(frozen=True, slots=True)
class _Job:
    name: str
    counts: Mapping[str, int]
    maps_of: Callable[[str, Mapping[str, int]], MapSet]


def maps_metadata(study: Study, config: RunConfig) -> dict[str, GraphMetadata]:
    """Load every map set once; one of a plugin is its own code, which may hang or eat all memory."""
    found = {}
    for name in study.maps:
        config.notify("graph", {"name": name})
        job = _Job(name, asdict(study.splits), config.maps_of)
        what = f"The map set {name!r} of a plugin cannot be loaded"
        foreign = name in config.foreign_graphs
        found[name] = isolated(_metadata, job, config.limits, what) if foreign else _metadata(job)
    return found


def _metadata(job: _Job) -> GraphMetadata:
    maps = job.maps_of(job.name, job.counts)
    return GraphMetadata(map_info(job.name, maps.side), maps.digest, {})


def encode_plans(study: Study, encoders: Mapping[str, Encoder], resolve: ResolveEncoder) -> list[CellPlan]:
    """Return the cells of all encoders, with every combination of the settings in their grids."""
    cells = []
    settled = [each for choice in study.encoders for each in _settings(choice, encoders, resolve)]
    for name, (encoder, label, params), seed in itertools.product(study.maps, settled, study.seeds):
        if encoder.claims.deterministic and seed != study.seeds[0]:
            continue
        cells.append(
            CellPlan(
                graph=name,
                method=encoder.name,
                label=label,
                params=params,
                budget=0.0,
                convention=study.convention,
                seed=seed,
                policy=study.search,
                splits=(CALIBRATION, TEST),
                role=ENCODE,
                setting=label,
                edges=study.edges,
                inputs={path: sha256_of(expanded(path)) for path in encoder.inputs(params)},
            )
        )
    return cells


def _settings(
    choice: MethodChoice, encoders: Mapping[str, Encoder], resolve: ResolveEncoder
) -> list[tuple[Encoder, str, Params]]:
    if choice.name not in encoders:
        near, known = suggestion(choice.name, encoders), ", ".join(encoders)
        raise UsageError(f"Unknown encoder {choice.name!r} in {choice.label}{near} Known encoders: {known}.")
    encoder = encoders[choice.name]
    return [(encoder, one.label, resolve(encoder, one.settings)) for one in choice.settled()]


def search_plans(
    study: Study,
    config: RunConfig,
    encoded: Sequence[tuple[CellPlan, str, Cell | None]],
    sides: Mapping[str, int],
    resolve: Resolve,
    fit: Callable[[Sequence[Question]], Sequence[Answer]],
    *,
    ahead: bool = False,
) -> tuple[list[CellPlan], dict[str, GraphMetadata]]:
    """Return the searches on what each encoder predicted, and what their keys have in common, by atlas.

    Where an encoder has no cell that is ok, its searches are skipped. With `ahead` they are planned before encoders are
    trained: all is known but the digests of the graphs, which are empty.
    """
    methods: dict[str, Method] = {name: source.method for name, source in config.methods.items()}
    cells: list[CellPlan] = []
    graphs = {}
    for encode, name, stored in encoded:
        source = f"{ATLAS}{name}"
        label = f"{encode.graph}/{encode.label}"
        info = map_info(label, sides[encode.graph], study.edges)
        # The seed of an encoder is that of the methods after it; one without a seed serves all.
        seeds = study.seeds if config.encoders[encode.method].encoder.claims.deterministic else (encode.seed,)
        part = replace(study, graphs=(_ONE_MAP,), seeds=seeds)
        planned: Plan = plan(part, methods, {_ONE_MAP: info}, resolve, fit)
        why = "" if ahead or (stored is not None and stored.outcome == "ok") else _skipped(encode, stored)
        if ahead:
            graphs[source] = GraphMetadata(info, "", _query_digests(study, sides[encode.graph]))
        elif why:
            graphs[source] = GraphMetadata(info, "", {})
        else:
            graph_of = AtlasOf(config.graph_of, config.root.absolute())
            graphs[source] = graph_metadata(f"{label}={source}", label, study.queries, graph_of)
        cells += [_on_atlas(replace(cell, graph=label), source, why) for cell in planned.cells]
    return cells, graphs


def _query_digests(study: Study, side: int) -> dict[str, str]:
    """The digests of the queries on maps, which are the same for whatever costs."""
    graph = atlas(np.ones((study.splits.test, side, side), dtype=np.int32))
    return sealed(network(graph), query_splits(graph, **study.queries.record())).digests()


def _on_atlas(cell: CellPlan, source: str, skipped: str) -> CellPlan:
    placed = replace(cell, graph_file=source, splits=(CORNER, TEST))
    refused = cell.unsupported or cell.failed
    return placed if not skipped or refused else replace(placed, failed=skipped, failure="skipped")


def _skipped(encode: CellPlan, stored: Cell | None) -> str:
    if stored is None:
        return f"The encoder {encode.label} has no cell that can be read."
    return f"The encoder {encode.label} is {stored.outcome}: {stored.record['reason']}"
