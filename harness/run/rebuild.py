"""A stored cell's method, built again as the cell built it: for timing and for replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from aacbench.errors import AacbenchError, UsageError
from aacbench.graphs.load import load
from aacbench.memory.deploy import Deployed, deploy
from aacbench.method import BuildContext, Method
from aacbench.queries.record import QuerySet
from aacbench.queries.splits import Splits, sample_splits
from aacbench.run.layout import ARTIFACTS
from aacbench.run.pools import StoredPools
from aacbench.run.records import QueryPlan
from aacbench.run.study import read_plan
from aacbench.run.world import World, sealed
from aacbench.search import Network, network


@dataclass(frozen=True, eq=False, slots=True)
class Rebuilt:
    """What a cell was computed from, in this process."""

    network: Network
    splits: Splits
    deployed: Deployed

    def queries(self, split: str) -> QuerySet:
        """The queries of one split."""
        found: QuerySet = getattr(self.splits, split)
        return found


def rebuild(root: Path, key: Mapping[str, Any], queries: QueryPlan, method: Method) -> Rebuilt:
    """Build a cell's heuristic from its key; a graph or queries that are not the cell's own are refused."""
    net, splits = inputs(key["graph"], queries)
    world = _sealed(key["graph"], queries)
    if net.graph.digest != key["graph_digest"]:
        raise UsageError(f"the graph {key['graph']} is no longer the one this cell was run on; run the study anew.")
    digests = {name: getattr(splits, name).digest for name in key["query_digests"]}
    if digests != dict(key["query_digests"]):
        raise UsageError(f"the queries on {key['graph']} are no longer those of this cell; run the study anew.")
    context = BuildContext(
        network=net,
        params=dict(key["params"]),
        seed=key["seed"],
        train=splits.train,
        validation=splits.validation,
        pools=StoredPools(net, root / ARTIFACTS, world.check),
        oracle_queries=splits.test if method.claims.oracle else None,
    )
    return Rebuilt(net, splits, _built(method, context))


def stored_queries(root: Path) -> QueryPlan:
    """How the queries of a study are drawn, as its plan says."""
    plan = read_plan(root)
    if plan is None:
        raise UsageError(f"{root} holds no study; `aacbench run --out {root}` begins one.")
    try:
        return QueryPlan(**plan["study"]["queries"])
    except (LookupError, TypeError) as error:
        raise UsageError(
            f"{root} was begun by another version of aacbench; run the study again with this one."
        ) from error


@lru_cache(maxsize=2)
def inputs(graph: str, queries: QueryPlan) -> tuple[Network, Splits]:
    """A graph and its queries, kept while cells on the same graph follow each other."""
    net = network(load(graph))
    counts = queries.validation, queries.test, queries.train
    return net, sample_splits(net.graph, *counts, mode=queries.mode, seed=queries.seed, strict=queries.strict)


@lru_cache(maxsize=2)
def _sealed(graph: str, queries: QueryPlan) -> World:
    """The same, sealed before the first method saw it."""
    return sealed(*inputs(graph, queries))


def _built(method: Method, context: BuildContext) -> Deployed:
    try:
        return deploy(method.build(context), context.network)
    except AacbenchError:
        raise
    except (Exception, SystemExit) as error:  # whatever a method raises
        raise UsageError(f"{method.name} could not be built again: {type(error).__name__}: {error}.") from error
