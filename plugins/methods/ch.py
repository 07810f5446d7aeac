"""Contraction hierarchies as heuristics: exact distances, evaluated lazily; labels on a core where they do not fit."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aacbench.contract.budget import ROOM
from aacbench.contract.method import BuildContext, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl

DOCS = "docs/methods/ch.md"
AUTO, PLAIN, BYTES = PACKS = ("auto", "plain", "bytes")


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    pack = Parameter(
        AUTO,
        "how arcs are stored: plain (4-byte heads and weights) or bytes (fields of a few bits, without loss); auto is "
        "plain if that fits, else bytes",
        choices=PACKS,
    )
    summary = "contraction hierarchy: the exact distance, evaluated for the vertices asked"
    yield Method("ch", summary, fit, build, parameters={"pack": pack}, docs=DOCS)
    summary = "contraction hierarchy up to a core with landmark labels; the whole hierarchy if it fits"
    landmarks = Parameter(0, "landmarks on the core; 0 means the most that any core leaves room for", minimum=0)
    yield Method("ch-core", summary, fit, build_core, parameters={"K": landmarks}, docs=DOCS)


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Return the params with `room`, the bytes that may be deployed; only building shows how many are needed."""
    return {**params, ROOM: budget.total_bytes(info)}


def build(context: BuildContext) -> LabelHeuristic | Unsupported:
    from aacbench.labels.hierarchy.stored import contraction

    made, unit = contraction(context, context.params[ROOM])
    if made.stopped:
        return Unsupported(f"Contraction was stopped: {made.stopped}", bytes_needed=made.bytes_reached, or_more=True)
    return _whole(context, made, unit, context.params["pack"])


def _whole(context: BuildContext, made: Any, unit: int | float, pack: str) -> LabelHeuristic | Unsupported:
    """The whole hierarchy in the fastest form of those allowed that fits."""
    from aacbench.labels.hierarchy.deployed import packed_heuristic, plain_heuristic
    from aacbench.labels.hierarchy.numbering import hierarchy

    whole, needed = hierarchy(made), []
    for form, make in ((PLAIN, plain_heuristic), (BYTES, packed_heuristic)):
        found = make(whole, unit) if pack in (form, AUTO) else None
        if found is not None:
            needed.append(_bytes(found, context.graph.vertices))
            if needed[-1] <= context.params[ROOM]:
                return replace(found, chosen={"pack": form})
    if not needed:
        return Unsupported("The weights are too large for fields of a few bits")
    return Unsupported("The hierarchy does not fit", bytes_needed=min(needed))


def _bytes(heuristic: LabelHeuristic, vertices: int) -> int:
    """The bytes that are held against the budget."""
    from aacbench.bundle.inventory import inventory

    return inventory(heuristic, vertices, dict.fromkeys(heuristic.arrays, "")).charged_bytes


def build_core(context: BuildContext) -> LabelHeuristic | Unsupported:
    """The whole hierarchy if it fits; else as much of it as leaves room for the most landmarks on the core.

    Where that is no more landmarks than ALT has, these are plain ALT labels.
    """
    from aacbench.labels.hierarchy.cores import core_heuristics
    from aacbench.labels.hierarchy.stored import contraction

    room, vertices = context.params[ROOM], context.graph.vertices
    made, unit = contraction(context, room)
    if not made.stopped:
        whole = _whole(context, made, unit, AUTO)
        if isinstance(whole, LabelHeuristic):
            return whole
    for candidate in core_heuristics(made, unit, room, context.graph.symmetric, context.params["K"]):
        if _bytes(candidate, vertices) <= room:
            return replace(candidate, chosen={"core": candidate.facts["core"], "K": candidate.settings["forward"]})
    return _labels_alone(context, room)


def _labels_alone(context: BuildContext, room: int) -> LabelHeuristic | Unsupported:
    from aacbench.graphs import components
    from aacbench.labels import subset

    graph = context.graph
    pool = context.pools.farthest(1)
    width = 4 if not graph.integral else pool.forward.dtype.itemsize
    each = width * graph.vertices * (1 if graph.symmetric else 2)
    count = min(context.params["K"] or max(1, room // each), len(components.largest(graph)))
    if count * each > room:
        return Unsupported(f"{count} landmarks do not fit" if count > 1 else "A landmark does not fit", count * each)
    labels = "exact" if graph.integral else "fixed"
    alone = subset(context.network, context.pools.farthest(count), range(count), labels=labels)
    return replace(alone, chosen={"core": "all", "K": count})
