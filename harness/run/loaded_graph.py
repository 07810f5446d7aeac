"""A graph and its queries as a worker keeps them from cell to cell, with marks that show any change to them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from aacbench.contract.budget import GraphInfo
from aacbench.contract.method import ArtifactService, BuildContext, Method, NothingStored, Params, PoolService
from aacbench.errors import AacbenchError, UsageError
from aacbench.graphs import components
from aacbench.graphs.catalogue import name_and_file
from aacbench.graphs.load import load
from aacbench.graphs.record import Array, Graph
from aacbench.graphs.traffic import parse_traffic, raised_weights
from aacbench.labels.exact import Direction, placed_distances
from aacbench.labels.graph_info import graph_info
from aacbench.processes.pool import Limits, isolated
from aacbench.queries.record import QuerySet, some_targets
from aacbench.queries.splits import Splits, query_splits
from aacbench.run.records import CORNER, QueryPlan, Study
from aacbench.run.variants import BASE, every
from aacbench.search import Answers
from aacbench.search.networks import Network, fingerprint, network, stored_network, with_weights
from aacbench.search.policy import VERTEX_ORDERS

GraphOf = Callable[[str], Graph]  # must be importable by workers, and equal where it gives the same graphs

PARTS = ("train", "validation", "test")
EVERY_PART = (*PARTS, CORNER)
SOME = 8  # targets of known queries on which bounds are compared


@dataclass(frozen=True, slots=True, eq=False)
class LoadedGraph:
    """A graph ready to be searched, its queries, and fingerprints of both."""

    net: Network
    splits: Splits
    graph_mark: tuple[object, ...]
    queries_mark: int
    raised: bool = False  # whether weights were raised after queries were drawn
    references: dict[str, Answers] = field(default_factory=dict)  # Dijkstra's, by the key they are stored under
    _exact: dict[int, Array] = field(default_factory=dict)

    def part(self, name: str) -> QuerySet:
        queries: QuerySet = getattr(self.splits, name)
        return queries

    def digests(self) -> dict[str, str]:
        """The digest of each split; of queries from corner to corner only where there are any."""
        names = EVERY_PART if len(self.splits.corner) else PARTS
        return {name: self.part(name).digest for name in names}

    def exact(self, target: int) -> Array:
        """The distance of every vertex to a target, in the network's order; computed once for all cells."""
        if target not in self._exact:
            self._exact[target] = placed_distances(self.net, target, Direction.TO)
            self._exact[target].flags.writeable = False
        return self._exact[target]

    def known_targets(self) -> tuple[int, ...]:
        """A few targets that a method may have learnt from, the same ones for every cell on these queries."""
        known = [self.splits.train, self.splits.validation]
        return tuple(some_targets(known, SOME).tolist()) if sum(map(len, known)) else ()

    def check(self) -> None:
        check_graph(self.net, self.graph_mark)
        _refuse_unless(lambda: fingerprint(_query_arrays(self.splits)) == self.queries_mark)


def check_graph(net: Network, mark: tuple[object, ...]) -> None:
    _refuse_unless(lambda: _mark(net) == mark)


def _refuse_unless(same: Callable[[], bool]) -> None:
    try:
        if same():
            return
    except Exception:  # such as an attribute that is no array any more
        pass
    raise AacbenchError("The method changed the graph or the queries; both are read-only.")


@lru_cache(maxsize=2)
def loaded_graph(
    graph: str, queries: QueryPlan, graph_of: GraphOf = load, vertex_order: str = VERTEX_ORDERS[0]
) -> LoadedGraph:
    """A graph and its queries, fingerprinted before any method sees them, and cached for the next cell."""
    found = graph_of(graph)
    # Predicted costs make a graph that no other study has, so its network is not kept in the user's cache.
    prepared = network if queries.random is not None else stored_network
    net = prepared(found, vertex_order)
    return sealed(net, query_splits(net.graph, **queries.record()))


def sealed(net: Network, splits: Splits) -> LoadedGraph:
    return LoadedGraph(net, splits, _mark(net), fingerprint(_query_arrays(splits)))


@lru_cache(maxsize=2)
def raised_graph(graph: str, queries: QueryPlan, graph_of: GraphOf, vertex_order: str, traffic: str) -> LoadedGraph:
    """The same graph and queries with the weights that this traffic leaves, cached for the next cell."""
    built = loaded_graph(graph, queries, graph_of, vertex_order)
    weights = raised_weights(built.net.graph, parse_traffic(traffic))
    return replace(sealed(with_weights(built.net, weights), built.splits), raised=True)


def forget() -> None:
    """Drop every cached graph: a method that failed may have changed it."""
    loaded_graph.cache_clear()
    raised_graph.cache_clear()


def build_context(
    loaded: LoadedGraph,
    method: Method,
    params: Params,
    seed: int,
    pools: PoolService,
    progress: Callable[[str], None] = lambda _: None,
    artifacts: ArtifactService | None = None,
) -> BuildContext:
    """All that a build may see: no test queries, except for a method that claims to be an oracle."""
    return BuildContext(
        network=loaded.net,
        params=dict(params),
        seed=seed,
        train=loaded.splits.train,
        validation=loaded.splits.validation,
        pools=pools,
        progress=progress,
        oracle_queries=loaded.splits.test if method.claims.oracle else None,
        method=method.name,
        artifacts=artifacts or NothingStored(),
    )


def _mark(net: Network) -> tuple[object, ...]:
    return net.graph.digest, net.graph.symmetric, net.order, fingerprint(_graph_arrays(net))


def _graph_arrays(net: Network) -> Iterator[Array]:
    """Every array of the graph that a search, an audit or a pool is computed from."""
    graph = net.graph
    yield from (graph.indptr, graph.indices, graph.weights, graph.sources, net.original, net.place)
    yield components.largest(graph)
    if graph.coords is not None:
        yield graph.coords
    yield from net.arcs
    if net.backward is not net.arcs:
        yield from net.backward


def _query_arrays(splits: Splits) -> Iterator[Array]:
    for part in EVERY_PART:
        queries: QuerySet = getattr(splits, part)
        yield from (queries.sources, queries.targets)


@dataclass(frozen=True, slots=True)
class GraphMetadata:
    """What the keys of a graph's cells have in common."""

    info: GraphInfo
    graph_digest: str
    query_digests: Mapping[str, str]
    varied: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # the same under variants of the study

    def digests(self, variant: str = BASE) -> dict[str, str]:
        """The digests of the graph and of the queries that a variant of the study has."""
        return {"graph": self.graph_digest, **self.queries(variant)}

    def queries(self, variant: str = BASE) -> Mapping[str, str]:
        """The digests of the queries that a variant of the study has."""
        return self.varied.get(variant, self.query_digests)


@dataclass(frozen=True, slots=True)
class _Job:
    graph: str
    name: str
    queries: QueryPlan
    graph_of: GraphOf
    varied: Mapping[str, QueryPlan] = field(default_factory=dict)


def metadata_of(
    study: Study,
    graph_of: GraphOf,
    foreign: Collection[str],
    limits: Limits,
    notify: Callable[[str, Mapping[str, Any]], None],
) -> dict[str, GraphMetadata]:
    """Load every graph once; a `foreign` one is a plugin's own code, which may hang or eat all memory."""
    names = {graph: name_and_file(graph)[0] for graph in study.graphs}
    for graph, name in names.items():
        if name != graph and name in foreign:
            raise UsageError(f"{graph}: {name!r} is a graph of a plugin; choose another name.")
    varied = {variant.name: under.queries for variant, under in every(study) if variant.queries}
    found = {}
    for graph, name in names.items():
        notify("graph", {"name": name})
        job = _Job(graph, name, study.queries, graph_of, varied)
        what = f"The graph {name!r} of a plugin cannot be loaded"
        found[name] = isolated(_metadata, job, limits, what) if name in foreign else _metadata(job)
    return found


def graph_metadata(graph: str, name: str, queries: QueryPlan, graph_of: GraphOf) -> GraphMetadata:
    """What the cells on one graph have in common."""
    return _metadata(_Job(graph, name, queries, graph_of))


def _metadata(job: _Job) -> GraphMetadata:
    loaded = loaded_graph(job.graph, job.queries, job.graph_of)
    graph = loaded.net.graph
    varied = {name: loaded_graph(job.graph, queries, job.graph_of).digests() for name, queries in job.varied.items()}
    return GraphMetadata(replace(graph_info(loaded.net), name=job.name), graph.digest, loaded.digests(), varied)
