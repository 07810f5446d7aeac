"""The numbers a cell was judged by, computed again from the graph."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from aacbench.bundle.deploy import Deployed
from aacbench.errors import UsageError
from aacbench.labels.exact import Direction, distances
from aacbench.processes.pool import isolated
from aacbench.run.audit import audit_answers, audit_bounds, audit_targets, total
from aacbench.run.build import Built, CellJob, Result, build
from aacbench.run.layout import BUNDLES
from aacbench.run.loaded_graph import LoadedGraph
from aacbench.run.measure import ready
from aacbench.run.rebuild import difference, rebuild, stored_job
from aacbench.run.rows import read_queries
from aacbench.run.run_config import RunConfig
from aacbench.run.store import Cell
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
class Replay:
    """A cell as it was built and measured again: the graph, and the heuristic ready to be asked."""

    loaded: LoadedGraph
    deployed: Deployed


@dataclass(frozen=True, slots=True)
class _Job:
    """A cell to be replayed; without `built` it is built where it is measured, as scalar heuristics are."""

    cell: Cell
    job: CellJob
    built: Built | None


def replay(config: RunConfig, cell: Cell) -> list[Line]:
    """Build a cell again and recompute its counterexamples or, where it has none, its rows and its audit."""
    if cell.outcome == "unsupported":
        reason = str(cell.record["reason"]).rstrip(".")
        raise UsageError(f"Cell {cell.cell_id} is unsupported, so there is nothing to replay: {reason}.")
    if "audit" not in cell.record:
        raise UsageError(f"Cell {cell.cell_id} has no audit, so there is nothing to replay; run it again.")
    with TemporaryDirectory() as folder:  # so that a study that may only be read can be replayed
        job = stored_job(replace(config, artifacts=Path(folder)), cell)
        return _built_and_measured(config, cell, replace(job, bundles=Path(folder) / BUNDLES))


def _built_and_measured(config: RunConfig, cell: Cell, job: CellJob) -> list[Line]:
    lines, built = [], None
    if cell.record["bundle"]:
        answer = rebuild(config, [job])[cell.cell_id]
        if isinstance(answer, Result):
            raise UsageError(f"The cell cannot be replayed: {answer.reason}.")
        built, differs = answer, difference(cell, answer)
        lines = [Line("bundle", "", differs or "the same", not differs)]
    return [*lines, *isolated(_replayed, _Job(cell, job, built), config.limits, "The cell cannot be replayed")]


def _replayed(job: _Job) -> list[Line]:
    loaded = job.job.searched()
    built = job.built or build(job.job)
    if isinstance(built, Result):
        raise UsageError(f"It is {built.outcome} when it is built again: {built.reason}.")
    _, deployed = ready(job.job, built, loaded)
    replayed = Replay(loaded, deployed)
    cases = job.cell.record["audit"]["counterexamples"]
    if cases:
        return [line for case in cases for line in _case(job.cell, replayed, case)]
    return _audit(job.cell, replayed)


def _case(cell: Cell, replay: Replay, case: Mapping[str, Any]) -> list[Line]:
    u, v, target = case["u"], case["v"], case["target"]
    bound, limit = float(case["bound"]), float(case["limit"])
    if case["claim"] == "optimal":
        answers = search(replay.loaded.net, replay.deployed.searched, [u], [target], cell.key["policy"])
        costs = [float(answers.cost[0]), float(answers.path_cost[0])]
        found = min(costs, key=lambda cost: abs(cost - bound))  # either may be what was wrong
        least = float(dijkstra(replay.loaded.net, [u], [target]).cost[0])
        return [_line(f"cost of the path {u} to {target}", bound, found), _line("shortest distance", limit, least)]
    h = _bound(replay, u, target, bound)
    if case["claim"] == "consistent":
        through = _weight(replay, u, v) + _bound(replay, v, target, None)
        return [_line(f"h({u}, {target})", bound, h), _line(f"w({u}, {v}) + h({v}, {target})", limit, through)]
    exact = float(distances(replay.loaded.net, target, Direction.TO)[u])
    return [
        _line(f"h({u}, {target})", bound, h),
        _line(f"distance {u} to {target}", limit, np.inf if exact < 0 else exact),
    ]


def _bound(replay: Replay, u: int, target: int, stored: float | None) -> float:
    """h; on integer weights the search cuts a bound to an integer, and then that is what was stored."""
    h = float(replay.deployed.many(np.array([u]), target)[0])
    cut = replay.loaded.net.graph.integral and np.isfinite(h) and stored == np.floor(h)
    return float(np.floor(h)) if cut else h


def _weight(replay: Replay, u: int, v: int) -> float:
    graph = replay.loaded.net.graph
    arcs = slice(graph.indptr[u], graph.indptr[u + 1])
    return float(graph.weights[arcs][graph.indices[arcs] == v][0])


def _audit(cell: Cell, replay: Replay) -> list[Line]:
    """Every query searched again, against its row and against Dijkstra, and the audit's own targets audited again."""
    stored, rows = cell.record["audit"], read_queries(cell.files["queries.csv"])
    loaded, broken, changed = replay.loaded, [], 0
    for split in cell.key["splits"]:
        queries = loaded.part(split)
        answers = search(loaded.net, replay.deployed.searched, queries.sources, queries.targets, cell.key["policy"])
        reference = dijkstra(loaded.net, queries.sources, queries.targets).cost
        broken.append(audit_answers(queries.sources, queries.targets, answers, reference)[0])
        changed += int((answers.expanded != rows["expanded"][rows["split"] == split]).sum())
    targets = audit_targets([loaded.part(split) for split in cell.key["splits"]])
    bounds = audit_bounds(loaded.net, replay.deployed.many, targets)
    consistent = stored["consistent"] is None or stored["consistent"] == bounds.consistent
    found = len(bounds.counterexamples) + sum(total(*broken).values())
    counted = total(bounds.violations, *broken)
    return [
        Line("queries with other expansions", "none", str(changed or "none"), not changed),
        Line("counterexamples", "none", str(found or "none"), not found),
        *(Line(f"not {claim}", *_both(stored["violations"][claim], count)) for claim, count in counted.items()),
        Line("consistent", str(stored["consistent"]), str(bounds.consistent), consistent),
    ]


def _both(stored: int, found: int) -> tuple[str, str, bool]:
    return str(stored), str(found), stored == found


def _line(what: str, stored: float, found: float) -> Line:
    alike = stored == found or (isnan(stored) and isnan(found))
    near = abs(stored - found) <= RELATIVE_TOLERANCE * abs(stored) if np.isfinite(stored) else alike
    return Line(what, f"{stored:.12g}", f"{found:.12g}", bool(alike or near))
