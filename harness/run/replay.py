"""The numbers a cell was judged by, computed again from the graph."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.contract.composite import assemble
from aacbench.contract.method import Method
from aacbench.errors import UsageError
from aacbench.graphs.load import load
from aacbench.labels.exact import Direction, distances
from aacbench.processes.isolated import alone
from aacbench.processes.pool import Limits
from aacbench.run.audit import audit_answers, audit_bounds, audit_targets
from aacbench.run.loaded_graph import GraphOf
from aacbench.run.rebuild import Rebuilt, rebuild, stored_queries
from aacbench.run.rows import read_queries
from aacbench.run.store import Cell, read_cell
from aacbench.search import dijkstra, search
from aacbench.search.astar import RELATIVE_TOLERANCE


@dataclass(frozen=True, slots=True)
class Line:
    """One number as it is stored and as it comes out now."""

    what: str
    stored: str
    recomputed: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class _Job:
    """A cell with all that a worker needs to replay it."""

    root: Path
    cell: str
    method_of: Callable[[str], Method]
    graph_of: GraphOf


def replay_alone(
    root: Path, cell: str, method_of: Callable[[str], Method], graph_of: GraphOf = load, limits: Limits | None = None
) -> list[Line]:
    """`replayed` in a worker process: a method or graph that hangs there, or takes it with it, is one sentence."""
    job = _Job(root, cell, method_of, graph_of)
    lines: list[Line] = alone(_replayed, job, limits or Limits(), "the cell could not be replayed")
    return lines


def _replayed(job: _Job) -> list[Line]:
    cell = read_cell(job.root, job.cell)
    if cell is None:
        raise UsageError(f"cell {job.cell} is gone from {job.root}.")
    return replayed(
        job.root, cell, assemble(job.method_of(cell.key["method"]), cell.key["params"], job.method_of), job.graph_of
    )


def replayed(root: Path, cell: Cell, method: Method, graph_of: GraphOf = load) -> list[Line]:
    """Every counterexample of a cell with its numbers, or where there is none, the audit."""
    if "audit" not in cell.record:
        raise UsageError(f"cell {cell.cell_id} never came to an audit, so there is nothing to replay: run it again.")
    rebuilt = rebuild(root, cell.key, stored_queries(root), method, graph_of)
    cases = cell.record["audit"]["counterexamples"]
    if cases:
        return [line for case in cases for line in _case(cell, rebuilt, case)]
    return _audit(cell, rebuilt)


def _case(cell: Cell, rebuilt: Rebuilt, case: Mapping[str, Any]) -> list[Line]:
    u, v, target = case["u"], case["v"], case["target"]
    bound, limit = float(case["bound"]), float(case["limit"])
    if case["claim"] == "optimal":
        answers = search(rebuilt.world.net, rebuilt.deployed.searched, [u], [target], cell.key["policy"])
        costs = [float(answers.cost[0]), float(answers.path_cost[0])]
        found = min(costs, key=lambda cost: abs(cost - bound))  # either may be what was wrong
        least = float(dijkstra(rebuilt.world.net, [u], [target]).cost[0])
        return [_line(f"cost of the path {u} to {target}", bound, found), _line("shortest distance", limit, least)]
    h = _bound(rebuilt, u, target, bound)
    if case["claim"] == "consistent":
        through = _weight(rebuilt, u, v) + _bound(rebuilt, v, target, None)
        return [_line(f"h({u}, {target})", bound, h), _line(f"w({u}, {v}) + h({v}, {target})", limit, through)]
    exact = float(distances(rebuilt.world.net, target, Direction.TO)[u])
    return [
        _line(f"h({u}, {target})", bound, h),
        _line(f"distance {u} to {target}", limit, np.inf if exact < 0 else exact),
    ]


def _bound(rebuilt: Rebuilt, u: int, target: int, stored: float | None) -> float:
    """h; on integer weights the search cuts a bound to an integer, and then that is what was stored."""
    h = float(rebuilt.deployed.many(np.array([u]), target)[0])
    cut = rebuilt.world.net.graph.integral and np.isfinite(h) and stored == np.floor(h)
    return float(np.floor(h)) if cut else h


def _weight(rebuilt: Rebuilt, u: int, v: int) -> float:
    graph = rebuilt.world.net.graph
    arcs = slice(graph.indptr[u], graph.indptr[u + 1])
    return float(graph.weights[arcs][graph.indices[arcs] == v][0])


def _audit(cell: Cell, rebuilt: Rebuilt) -> list[Line]:
    """Every query searched again, against its row and against Dijkstra, and the audit's own targets audited again."""
    stored, rows = cell.record["audit"], read_queries(cell.files["queries.csv"])
    world, broken, changed = rebuilt.world, 0, 0
    for split in cell.key["splits"]:
        queries = world.part(split)
        answers = search(world.net, rebuilt.deployed.searched, queries.sources, queries.targets, cell.key["policy"])
        reference = dijkstra(world.net, queries.sources, queries.targets).cost
        broken += audit_answers(queries.sources, queries.targets, answers, reference)[0]
        changed += int((answers.expanded != rows["expanded"][rows["split"] == split]).sum())
    targets = audit_targets([world.part(split) for split in cell.key["splits"]])
    bounds = audit_bounds(world.net, rebuilt.deployed.many, targets)
    consistent = stored["consistent"] is None or stored["consistent"] == bounds.consistent
    found = len(bounds.counterexamples) + broken
    return [
        Line("queries with other expansions", "none", str(changed or "none"), not changed),
        Line("counterexamples", "none", str(found or "none"), not found),
        Line("violations", *_both(stored["violations"], bounds.violations + broken)),
        Line("consistent", str(stored["consistent"]), str(bounds.consistent), consistent),
    ]


def _both(stored: int, found: int) -> tuple[str, str, bool]:
    return str(stored), str(found), stored == found


def _line(what: str, stored: float, found: float) -> Line:
    alike = stored == found or (isnan(stored) and isnan(found))
    near = abs(stored - found) <= RELATIVE_TOLERANCE * abs(stored) if np.isfinite(stored) else alike
    return Line(what, f"{stored:.12g}", f"{found:.12g}", bool(alike or near))
