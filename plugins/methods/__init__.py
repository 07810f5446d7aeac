"""The built-in methods: ordinary plugins, one module or package each."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aacbench.contract.method import BuildContext, LabelHeuristic
    from aacbench.queries.record import QuerySet

BUILT_IN = ("dijkstra", "alt", "aac", "cdh", "greedy", "fastmap", "hybrid", "maps")


def expansions(context: "BuildContext", candidate: "LabelHeuristic", queries: "QuerySet") -> int:
    """Return the number of expansions of a candidate on some queries under the policy `modern`."""
    from aacbench.bundle.deploy import deploy
    from aacbench.search import search

    layout = deploy(candidate, context.network).searched
    return int(search(context.network, layout, queries.sources, queries.targets).expanded.sum())
