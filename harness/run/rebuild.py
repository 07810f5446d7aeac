"""A stored cell's method, built again as the cell built it: for timing and for replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.bundle.deploy import Deployed, deploy
from aacbench.contract.method import BuildContext, Method
from aacbench.errors import AacbenchError, UsageError
from aacbench.graphs.load import load
from aacbench.run.layout import ARTIFACTS, BUILT_AGAIN
from aacbench.run.loaded_graph import GraphOf, World, context
from aacbench.run.loaded_graph import world as world_of
from aacbench.run.pools import StoredPools
from aacbench.run.records import QueryPlan
from aacbench.run.study import read_plan


@dataclass(frozen=True, eq=False, slots=True)
class Rebuilt:
    """What a cell was computed from, in this process."""

    world: World
    deployed: Deployed


def rebuild(
    root: Path, key: Mapping[str, Any], queries: QueryPlan, method: Method, graph_of: GraphOf = load
) -> Rebuilt:
    """Build a cell's heuristic from its key; a graph or queries that are not the cell's own are refused."""
    world = world_of(key["graph"], queries, graph_of)
    if world.net.graph.digest != key["graph_digest"]:
        raise UsageError(f"the graph {key['graph']} is no longer the one this cell was run on; run the study anew.")
    if world.digests() != dict(key["query_digests"]):
        raise UsageError(f"the queries on {key['graph']} are no longer those of this cell; run the study anew.")
    pools = StoredPools(world.net, root / ARTIFACTS / BUILT_AGAIN, world.seal.check)
    return Rebuilt(world, _built(method, context(world, method, key["params"], key["seed"], pools)))


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


def _built(method: Method, context: BuildContext) -> Deployed:
    try:
        return deploy(method.build(context), context.network)
    except AacbenchError:
        raise
    except (Exception, SystemExit) as error:  # whatever a method raises
        raise UsageError(f"{method.name} could not be built again: {type(error).__name__}: {error}.") from error
