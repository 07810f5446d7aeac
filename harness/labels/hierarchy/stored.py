"""A contraction as an artifact: arrays and numbers by name, made once for several budgets."""

from collections.abc import Mapping
from typing import Any

from aacbench.contract.method import BuildContext
from aacbench.labels.hierarchy.contraction import Contraction, contract
from aacbench.labels.hierarchy.weights import whole_weights

_BYTES_PER_ARC = 4  # the least that an arc takes in any form, roughly
_LEAST_ARCS = 16  # per vertex: enough for all budgets up to 64 bytes


def contraction(context: BuildContext, room: int) -> tuple[Contraction, int | float]:
    """Return the contraction of the graph, and the value of a unit of its weights.

    It stops once it has more arcs than fit: 16 for each vertex, or twice as many as often as the room, in bytes, allows
    for more. Several budgets so share one contraction.
    """
    vertices, arcs = context.graph.vertices, _LEAST_ARCS
    while arcs * _BYTES_PER_ARC * vertices < room:
        arcs *= 2
    made = context.artifact({"arcs_per_vertex": arcs}, lambda: _made(context, arcs * vertices))
    core = made["tails"], made["ends"], made["lengths"]
    into = made["out"] if context.graph.symmetric else made["into"]
    rows = made["order"], made["first"], made["heads"], made["out"], into
    found = Contraction(*rows, core, vertices, int(made["shortcuts"]), _STOPPED[int(made["stopped"])])  # type: ignore[arg-type]
    return found, made["unit"]  # type: ignore[return-value]


_STOPPED = ("", "it has too many shortcuts", "it takes too much work")


def _made(context: BuildContext, most_arcs: int) -> Mapping[str, Any]:
    weights, unit = whole_weights(context.network)
    found = contract(context.graph, weights, most_arcs)
    into = {} if context.graph.symmetric else {"into": found.into}
    arrays = {"order": found.order, "first": found.first, "heads": found.heads, "out": found.out, **into}
    core = dict(zip(("tails", "ends", "lengths"), found.core, strict=True))
    return {**arrays, **core, "shortcuts": found.shortcuts, "stopped": _STOPPED.index(found.stopped), "unit": unit}
