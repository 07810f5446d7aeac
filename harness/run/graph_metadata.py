"""What is known of a study's graphs before anything runs on them; a plugin's own are loaded in a worker."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aacbench.contract.budget import GraphInfo
from aacbench.labels.graph_info import graph_info
from aacbench.processes.isolated import isolated
from aacbench.processes.pool import Limits
from aacbench.run.loaded_graph import GraphOf, loaded_graph
from aacbench.run.records import QueryPlan, Study


@dataclass(frozen=True, slots=True)
class GraphMetadata:
    """What the keys of a graph's cells have in common."""

    info: GraphInfo
    graph_digest: str
    query_digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Job:
    graph: str
    queries: QueryPlan
    graph_of: GraphOf


def metadata_of(
    study: Study,
    graph_of: GraphOf,
    foreign: Collection[str],
    limits: Limits,
    notify: Callable[[str, Mapping[str, Any]], None],
) -> dict[str, GraphMetadata]:
    """Load every graph once; a `foreign` one is a plugin's own code, which may hang or eat all memory."""
    found = {}
    for name in study.graphs:
        notify("graph", {"name": name})
        job = _Job(name, study.queries, graph_of)
        what = f"The graph {name!r} of a plugin cannot be loaded"
        found[name] = isolated(_metadata, job, limits, what) if name in foreign else _metadata(job)
    return found


def _metadata(job: _Job) -> GraphMetadata:
    loaded = loaded_graph(job.graph, job.queries, job.graph_of)
    graph = loaded.net.graph
    return GraphMetadata(replace(graph_info(loaded.net), name=job.graph), graph.digest, loaded.digests())
