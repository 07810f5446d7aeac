"""The key of a cell, everything that decides what it computes, and the id that is the key's digest."""

from collections.abc import Iterable, Mapping
from typing import Any

from aacbench.contract.budget import convention
from aacbench.contract.composite import part_names
from aacbench.run.graph_metadata import Facts
from aacbench.run.layout import cell_id
from aacbench.run.plan import CellPlan
from aacbench.run.records import Study
from aacbench.run.run_config import Setup
from aacbench.util.compiled import kernel_digest


def key_of(study: Study, setup: Setup, facts: Mapping[str, Facts], cell: CellPlan) -> dict[str, Any]:
    """Everything that decides what a cell computes, and the lock that it was computed under.

    The lock is part of the key so that rows made before it, or under another, can never stand for rows made under it.
    """
    fact = facts[cell.graph]
    return {
        "graph": cell.graph,
        "graph_digest": fact.graph_digest,
        "query_digests": dict(fact.query_digests),
        "method": cell.method,
        "label": cell.label,
        "plugin_digest": setup.sources[cell.method].digest,
        **_part_digests(setup, cell),
        "params": dict(cell.params),
        "budget": cell.budget,
        "convention": convention(cell.convention).record(),
        "seed": cell.seed,
        "policy": cell.policy,
        "splits": list(cell.splits),
        "role": cell.role,
        "engine": kernel_digest(),
        "protocol": study.protocol,
        **({"lock": setup.lock} if setup.lock else {}),
    }


def _part_digests(setup: Setup, cell: CellPlan) -> dict[str, Any]:
    """The sources of the methods it is made of: a change in one of them changes what the cell computes."""
    names = sorted(set(part_names(cell.params)))
    return {"part_digests": {name: setup.sources[name].digest for name in names}} if names else {}


def named(
    study: Study, setup: Setup, facts: Mapping[str, Facts], cells: Iterable[CellPlan]
) -> list[tuple[CellPlan, str]]:
    """The cells with their ids."""
    return [(cell, cell_id(key_of(study, setup, facts, cell))) for cell in cells]
