"""One cell: what its two steps, build and measure, are given, and what comes of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aacbench.contract.composite import assemble
from aacbench.contract.method import Claims, Method
from aacbench.errors import DataError
from aacbench.graphs.load import load
from aacbench.processes.worker import Failure
from aacbench.run.loaded_graph import GraphOf, LoadedGraph, intact_graph
from aacbench.run.plan import CellPlan
from aacbench.run.records import QueryPlan
from aacbench.util.source_file import SourceFile


@dataclass(frozen=True, slots=True, kw_only=True)
class CellJob:
    """A cell with all that a process needs for it; `method_of` and `graph_of` find things by name in that process.

    `artifacts` is the folder of landmark pools and of Dijkstra's answers, `bundles` that of built heuristics.
    `sources` are the plugin files that the method comes from. A graph and queries whose digests are not `digests`,
    which are in the cell's key, are refused.
    """

    cell_id: str
    plan: CellPlan
    queries: QueryPlan
    claims: Claims
    method_of: Callable[[str], Method]
    reference_policy: str
    artifacts: Path
    bundles: Path
    graph_of: GraphOf = load
    sources: tuple[SourceFile, ...] = ()
    origin: str = ""  # the plugins that its method and graph come from; empty where all is built in
    audit: bool = True
    digests: Mapping[str, str] | None = None

    def method(self) -> Method:
        """The method with its parts put in, found in this process."""
        return assemble(self.method_of(self.plan.method), self.plan.params, self.method_of)

    def loaded(self) -> LoadedGraph:
        """The graph and its queries, which must be those the run was planned on."""
        found = intact_graph(self.plan.graph, self.queries, self.graph_of)
        if self.digests is not None and {"graph": found.net.graph.digest, **found.digests()} != self.digests:
            raise DataError(
                f"The graph {self.plan.graph} or its queries are not those that this run was planned on. They must be "
                f"the same each time they are loaded; run again once they are."
            )
        return found

    def with_seed(self, seed: int) -> "CellJob":
        """The same cell with another seed."""
        return replace(self, plan=replace(self.plan, seed=seed))


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell came to: its outcome, the facts for cell.json, and the files beside it."""

    outcome: str
    reason: str
    facts: Mapping[str, Any]
    files: Mapping[str, bytes]


def result_of(failure: Failure) -> Result:
    """The result of a cell whose step failed."""
    trace = {"error.txt": failure.trace.encode(errors="backslashreplace")} if failure.trace else {}
    return Result(failure.outcome, failure.reason, {}, trace)
