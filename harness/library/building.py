"""`aacbench.build`: build a heuristic in this process, as a run would in a worker, and hold it."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from numbers import Real
from typing import Any

from aacbench.bundle.inventory import check_budget
from aacbench.contract.budget import Budget
from aacbench.contract.budget import convention as convention_of
from aacbench.contract.composite import assemble
from aacbench.contract.method import Method, Unsupported
from aacbench.errors import UnsupportedError, UsageError
from aacbench.labels.graph_info import graph_info
from aacbench.library.graphs import as_graph
from aacbench.library.heuristic import GraphHeuristic
from aacbench.library.plugins import Plugin, load_files, plugin_paths
from aacbench.plugins.checks import check_method
from aacbench.plugins.records import PluginError
from aacbench.plugins.settings import resolve
from aacbench.protocols.choices import parse_methods
from aacbench.queries.splits import query_splits
from aacbench.run.build import bundle_info
from aacbench.run.fitting import checked_refusal
from aacbench.run.loaded_graph import build_context, sealed
from aacbench.run.plan import CellPlan, plan
from aacbench.run.records import MethodChoice, QueryPlan, Study
from aacbench.run.shared import Pools
from aacbench.search.networks import stored_network


def build(
    method: str | Method,
    graph: Any,
    budget: float = 64,
    *,
    seed: int = 1,
    convention: str = "measured/1",
    search: str = "modern",
    queries: QueryPlan | None = None,
    plugins: Plugin | Iterable[Plugin] = (),
    **settings: Any,
) -> GraphHeuristic:
    """Build a method on a graph at so many bytes per vertex.

    `method` is a name, a name with settings such as "alt-pool[K0=64]", or a Method; `graph` is whatever `as_graph`
    takes. `queries` are those that the method may learn from, by default 100 validation queries drawn with seed 42.
    """
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise UsageError(f"The budget must be a number of bytes per vertex, not {budget!r}.")
    found = as_graph(graph)
    methods, choice = _chosen(method, settings, plugins)
    net = stored_network(found)
    drawn = (queries or QueryPlan()).record()
    loaded = sealed(net, query_splits(found, **drawn))
    name = found.name or "graph"
    study = Study(
        protocol="build",
        summary="",
        graphs=(name,),
        methods=(choice,),
        budgets=(budget,),
        seeds=(seed,),
        search=search,
        convention=convention,
    )
    cells = plan(study, methods, {name: replace(graph_info(net), name=name)}, resolve).cells
    cell = next(cell for cell in cells if cell.label == choice.label)
    if cell.failed:
        raise UsageError(f"{choice.label}: {cell.failed}.")
    if cell.unsupported:
        raise _refusal(cell, cell.unsupported)
    charged = Budget(budget, convention_of(convention))
    whole = assemble(methods[cell.method], cell.params, methods.__getitem__)
    began = time.perf_counter()
    heuristic = whole.build(build_context(loaded, whole, cell.params, seed, Pools(net)))
    seconds = time.perf_counter() - began
    loaded.check()
    if isinstance(heuristic, Unsupported):
        raise _refusal(cell, checked_refusal(heuristic, charged, found.vertices).reason)
    info = bundle_info(cell, asdict(whole.claims), {"seconds": seconds, "facts": {}})
    built = GraphHeuristic(heuristic, net, info)
    if whole.claims.matched:
        check_budget(built.inventory, charged)
    return built


def _chosen(
    method: str | Method, settings: Mapping[str, Any], plugins: Plugin | Iterable[Plugin]
) -> tuple[dict[str, Method], MethodChoice]:
    """Every method by name, and the one that was asked for with its settings."""
    manager = load_files(plugin_paths(plugins), to_build=True)
    methods = {name: found.method for name, found in manager.methods().items()}
    if isinstance(method, Method):
        try:
            check_method(method)
        except PluginError as error:
            raise UsageError(str(error)) from error
        return {**methods, method.name: method}, MethodChoice(name=method.name, settings=settings)
    choices = parse_methods(method)
    if len(choices) != 1 or choices[0].grid:
        raise UsageError(f"build takes one method with one value for each setting, not {method!r}.")
    manager.method(choices[0].name)
    return methods, replace(choices[0], settings={**choices[0].settings, **settings})


def _refusal(cell: CellPlan, reason: str) -> UnsupportedError:
    return UnsupportedError(f"{cell.label} on {cell.graph} at {cell.budget:g} bytes per vertex: {reason.rstrip('.')}.")
