"""What a worker keeps of a graph from cell to cell, sealed: a method that changes any of it is found out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from aacbench.contract.method import BuildContext, Method, Params, PoolService
from aacbench.errors import AacbenchError
from aacbench.graphs import components
from aacbench.graphs.load import load
from aacbench.graphs.record import Array, Graph
from aacbench.labels.exact import Direction, distances
from aacbench.queries.record import QuerySet, some_targets
from aacbench.queries.splits import Splits, sample_splits
from aacbench.run.records import QueryPlan
from aacbench.search.networks import Network, fingerprint
from aacbench.search.stored import stored_network

GraphOf = Callable[[str], Graph]  # must be importable by workers, and equal where it gives the same graphs

PARTS = ("train", "validation", "test")
SOME = 8  # targets of queries that a reload asks for


@dataclass(frozen=True, slots=True, eq=False)
class GraphSeal:
    """A graph and the mark of all its arrays. Builds can reach it, so it knows nothing of the queries."""

    net: Network
    mark: tuple[object, ...]

    def check(self) -> None:
        """Refuse to go on with a graph that is not what it was."""
        _refuse_unless(lambda: _mark(self.net) == self.mark)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A graph ready to be searched, its queries, and the seals of both."""

    net: Network
    splits: Splits
    seal: GraphSeal
    queries_mark: int
    _exact: dict[int, Array] = field(default_factory=dict)

    def part(self, name: str) -> QuerySet:
        """The queries of one split."""
        queries: QuerySet = getattr(self.splits, name)
        return queries

    def digests(self) -> dict[str, str]:
        """The digest of the queries of each split."""
        return {name: self.part(name).digest for name in PARTS}

    def exact(self, target: int) -> Array:
        """The distance of every vertex to a target that is audited again and again."""
        if target not in self._exact:
            self._exact[target] = distances(self.net, target, Direction.TO)
            self._exact[target].flags.writeable = False
        return self._exact[target]

    def some_targets(self) -> list[int]:
        """A few targets of the queries, the same ones for every cell on them."""
        found: list[int] = some_targets([self.part(name) for name in PARTS], SOME).tolist()
        return found

    def check(self) -> None:
        """Refuse to go on with a graph or with queries that are not what they were."""
        self.seal.check()
        _refuse_unless(lambda: fingerprint(_query_arrays(self.splits)) == self.queries_mark)


def _refuse_unless(same: Callable[[], bool]) -> None:
    try:
        if same():
            return
    except Exception:  # such as an attribute that is no array any more
        pass
    raise AacbenchError("the method changed the graph or the queries it was given, so nothing it did counts.")


@lru_cache(maxsize=2)
def world(graph: str, queries: QueryPlan, graph_of: GraphOf = load) -> World:
    """A graph and its queries, sealed before any method sees them and kept while cells on the same graph follow."""
    net = stored_network(graph_of(graph))
    counts = queries.validation, queries.test, queries.train
    splits = sample_splits(net.graph, *counts, mode=queries.mode, seed=queries.seed, strict=queries.strict)
    return sealed(net, splits)


def sealed(net: Network, splits: Splits) -> World:
    """Seal a graph and its queries, before any method sees them."""
    return World(net, splits, GraphSeal(net, _mark(net)), fingerprint(_query_arrays(splits)))


def intact_world(graph: str, queries: QueryPlan, graph_of: GraphOf = load) -> World:
    """The same; where something that an earlier cell left running has changed it, loaded anew."""
    found = world(graph, queries, graph_of)
    try:
        found.check()
    except AacbenchError:
        forget()
        found = world(graph, queries, graph_of)
    return found


def forget() -> None:
    """Have every graph loaded anew: who knows what a method that failed has done to it."""
    world.cache_clear()


def context(world: World, method: Method, params: Params, seed: int, pools: PoolService) -> BuildContext:
    """All that a build may see: no test queries, except for a method that says it is an oracle."""
    return BuildContext(
        network=world.net,
        params=dict(params),
        seed=seed,
        train=world.splits.train,
        validation=world.splits.validation,
        pools=pools,
        oracle_queries=world.splits.test if method.claims.oracle else None,
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
    for part in PARTS:
        queries: QuerySet = getattr(splits, part)
        yield from (queries.sources, queries.targets)
