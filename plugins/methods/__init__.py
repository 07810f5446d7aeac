"""The built-in methods: ordinary plugins, one module or package each."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aacbench.contract.method import BuildContext, LabelHeuristic, Unsupported
    from aacbench.queries.record import QuerySet

BUILT_IN = ("dijkstra", "alt", "aac", "cdh", "ch", "greedy", "fastmap", "hybrid", "best", "maps")


def expansions(context: "BuildContext", candidate: "LabelHeuristic | Unsupported", queries: "QuerySet") -> float:
    """Return the number of expansions of a candidate on some queries under `modern`; of one that does not fit, inf."""
    from aacbench.bundle.deploy import deploy
    from aacbench.contract.method import Unsupported
    from aacbench.search import search

    if isinstance(candidate, Unsupported):
        return float("inf")
    layout = deploy(candidate, context.network).searched
    return int(search(context.network, layout, queries.sources, queries.targets, threads=2).expanded.sum())
