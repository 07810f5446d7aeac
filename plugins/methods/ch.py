"""Contraction hierarchies as heuristics: exact distances by lazy evaluation (CH potentials)."""

import math
from collections.abc import Iterator
from typing import Any

from aacbench.contract.method import BuildContext, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl

DOCS = "docs/methods/ch.md"
PLAIN, BYTES = PACKS = ("plain", "bytes")


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    pack = Parameter(
        "auto",
        "how arcs are stored: plain (4-byte heads and weights) or bytes (fields of a few bits, lossless); auto is "
        "plain if it fits, else bytes",
        choices=("auto", *PACKS),
    )
    summary = "contraction hierarchy: the exact distance, evaluated for the vertices asked"
    yield Method("ch", summary, fit, build, parameters={"pack": pack}, docs=DOCS)


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Return the params with `room`, the bytes that may be deployed; only building shows how many are needed."""
    return {**params, "room": math.floor(budget.bytes_per_vertex * info.vertices)}


def build(context: BuildContext) -> LabelHeuristic | Unsupported:
    from aacbench.labels.hierarchy.numbering import hierarchy
    from aacbench.labels.hierarchy.stored import contraction

    room = context.params["room"]
    made, unit = contraction(context, room)
    if made.stopped:
        return Unsupported(f"Contraction was stopped: {made.stopped}", bytes_needed=made.bytes_reached)
    context.progress(f"{made.shortcuts} shortcuts")
    whole = hierarchy(made)
    needed = []
    for pack in PACKS if context.params["pack"] == "auto" else (context.params["pack"],):
        found = _deployed(whole, pack, unit)
        needed.append(_bytes(found, context.graph.vertices))
        if needed[-1] <= room:
            return found
    return Unsupported("The hierarchy does not fit", bytes_needed=min(needed))


def _deployed(made: Any, pack: str, unit: int | float) -> LabelHeuristic:
    from aacbench.labels.hierarchy import plain
    from aacbench.labels.hierarchy.weights import beyond

    arrays, settings = plain.plain_arrays(made)
    kernel, goal = plain.distance, plain.GOAL
    facts = {"arcs": len(made.up.heads) if made.down is made.up else len(made.up.heads) + len(made.down.heads)}
    settings = {**settings, "scale": unit, "beyond": beyond(unit)}
    return LabelHeuristic(arrays, kernel, settings, goal=goal, facts=facts)


def _bytes(heuristic: LabelHeuristic, vertices: int) -> int:
    """The bytes that are held against the budget."""
    from aacbench.bundle.inventory import inventory

    names = dict.fromkeys(heuristic.arrays, "")  # their digests, which are not needed
    return inventory(heuristic, vertices, names).charged_bytes
