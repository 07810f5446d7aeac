"""The key of a cell: everything that decides what it computes. The id of the cell is the key's digest."""

from collections.abc import Iterable, Mapping
from typing import Any

from aacbench.contract.budget import convention
from aacbench.contract.composite import part_names
from aacbench.run.graph_metadata import GraphMetadata
from aacbench.run.layout import cell_id
from aacbench.run.plan import CellPlan
from aacbench.run.records import Study
from aacbench.run.run_config import RunConfig
from aacbench.util.compiled import kernel_digest


def key_of(study: Study, config: RunConfig, graphs: Mapping[str, GraphMetadata], cell: CellPlan) -> dict[str, Any]:
    """Everything that decides what a cell computes, and the lock that it was computed under.

    The lock is part of the key so that rows made before it, or under another, can never stand for rows made under it.
    """
    graph = graphs[cell.graph]
    return {
        "graph": cell.graph,
        "graph_digest": graph.graph_digest,
        "query_digests": dict(graph.query_digests),
        "method": cell.method,
        "label": cell.label,
        "plugin_digest": config.methods[cell.method].digest,
        **_part_digests(config, cell),
        "params": dict(cell.params),
        "budget": cell.budget,
        "convention": convention(cell.convention).record(),
        "seed": cell.seed,
        "policy": cell.policy,
        "splits": list(cell.splits),
        "role": cell.role,
        "engine": kernel_digest(),
        "protocol": study.protocol,
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
    )


def named(
    study: Study, config: RunConfig, graphs: Mapping[str, GraphMetadata], cells: Iterable[CellPlan]
) -> list[tuple[CellPlan, str]]:
    """The cells with their ids."""
    return [(cell, cell_id(key_of(study, config, graphs, cell))) for cell in cells]


def _part_digests(config: RunConfig, cell: CellPlan) -> dict[str, Any]:
    """The sources of the methods it is made of: a change in one of them changes what the cell computes."""
    names = sorted(set(part_names(cell.params)))
    return {"part_digests": {name: config.methods[name].digest for name in names}} if names else {}
