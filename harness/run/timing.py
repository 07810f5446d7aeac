"""Timing, after counting and alone: methods in turns, query block by query block, beside an A/A control."""

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.contract.composite import assemble
from aacbench.contract.method import Method
from aacbench.errors import AacbenchError, StoreError, UsageError
from aacbench.graphs.load import load
from aacbench.graphs.record import Array
from aacbench.processes.pool import Limits, run_cells
from aacbench.processes.worker import Failure, begin_step
from aacbench.queries.record import QuerySet
from aacbench.run.loaded_graph import GraphOf
from aacbench.run.plan import BASELINE, TEST
from aacbench.run.rebuild import Rebuilt, rebuild, stored_queries
from aacbench.run.records import QueryPlan
from aacbench.run.rows import read_queries, read_timings, write_timings
from aacbench.run.store import Cell, commit, read_cell
from aacbench.search import astar
from aacbench.search.layouts import memo_for
from aacbench.search.networks import Network, borrow, give_back
from aacbench.search.policy import parse
from aacbench.util.file_lock import file_lock

TIMINGS, CONTROL = "timings.csv", "control.csv"
COMPILED = "compiled"
REPETITIONS = 5
BLOCK = 10  # queries of one method in a row: enough to warm its labels, few enough for drift to fall on all methods

Notify = Callable[[str, Mapping[str, Any]], None]


@dataclass(frozen=True, eq=False, slots=True)
class Runner:
    """One method's searches, each a single call of the compiled kernel; `name` is a cell's id, or the control's."""

    name: str
    network: Network
    labels: Any
    policy: str
    queries: QuerySet
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)

    def search_each(self, block: slice, record: Callable[[int, int], None]) -> Array:
        """Search the block's queries one by one, give each one's nanoseconds to `record`, and return expansions."""
        net = self.network
        rules, numbers = astar.rules(parse(self.policy)), astar.numbers(net.graph.weights.dtype)
        starts = net.place[self.queries.sources[block]].astype(np.int64)
        goals = net.place[self.queries.targets[block]].astype(np.int64)
        costs = np.empty((len(starts), len(astar.COSTS)), dtype=net.graph.weights.dtype)
        counts = np.empty((len(starts), len(astar.COUNTS)), dtype=np.int64)
        work, memo = borrow(net), memo_for(self.labels)
        for i in range(len(starts)):
            one = slice(i, i + 1)
            call = (net.arcs, self.labels, memo, work, rules, numbers, starts[one], goals[one], costs[one], counts[one])
            began = time.perf_counter_ns()
            heap = astar.search_all(*call)
            record(block.start + i, time.perf_counter_ns() - began)
            work = work._replace(heap=heap)
        give_back(net, work)
        return counts[:, astar.EXPANDED]

    def table(self) -> bytes:
        """The rows as `timings.csv` holds them."""
        columns = zip(*self.rows, strict=True)
        return write_timings(
            dict(zip(("query", "repetition", "order", "wall_ns"), map(np.array, columns), strict=True))
        )


def time_study(
    root: Path,
    cells: Iterable[str],
    method_of: Callable[[str], Method],
    *,
    graph_of: GraphOf = load,
    limits: Limits | None = None,
    repetitions: int = REPETITIONS,
    again: bool = False,
    seed: int = 42,
    notify: Notify = lambda *_: None,
) -> list[str]:
    """Time the compiled test cells among these, a graph and budget at a time, and return the ids of those timed.

    Each group is timed in one worker process, with nothing beside it; a cell of it may take the `limits` to be built.
    A group whose cells all have as many repetitions already is left as it is, unless `again`. What cannot be timed is
    told to `notify` as an `untimed` event with the reason; the others of its group are timed without it.
    """
    job = _Job((), root, stored_queries(root), method_of, graph_of, repetitions, seed)
    done: list[str] = []
    for group in _groups(root, cells, notify):
        if not again and all(_repetitions(cell) >= repetitions for cell in group):
            continue
        with ExitStack() as claims:
            if not all(claims.enter_context(file_lock(root, cell.cell_id)) for cell in group):
                _tell(notify, group, "another run works on it")
                continue
            done += _time_group(group, job, limits or Limits(), notify)
    return done


def interleave(
    runners: list[Runner], queries: int, repetitions: int, seed: int, begin: Callable[[], None] = lambda: None
) -> None:
    """Fill the runners' rows: each repetition goes through all blocks, each block through all runners, shuffled.

    `begin` is called before each block, for whoever watches the time. `order` counts the searches of all runners
    together, so that their rows merge into what happened when.
    """
    shuffle = np.random.default_rng(seed)
    blocks = [slice(start, min(start + BLOCK, queries)) for start in range(0, queries, BLOCK)]
    order = 0
    for repetition in range(repetitions):
        for block in blocks:
            begin()
            for turn in shuffle.permutation(len(runners)).tolist():
                runner = runners[turn]

                def record(query: int, wall_ns: int, runner: Runner = runner, repetition: int = repetition) -> None:
                    nonlocal order
                    runner.rows.append((query, repetition, order, wall_ns))
                    order += 1

                runner.search_each(block, record)


def _groups(root: Path, cells: Iterable[str], notify: Notify) -> list[list[Cell]]:
    groups: dict[tuple[str, float], list[Cell]] = {}
    for name in cells:
        cell = read_cell(root, name)
        if cell is None or cell.outcome != "ok" or TEST not in cell.key["splits"]:
            continue
        if cell.record["tier"] != COMPILED:
            _tell(notify, [cell], f"it is of the {cell.record['tier']} tier, and only compiled methods are timed")
            continue
        groups.setdefault((cell.key["graph"], cell.key["budget"]), []).append(cell)
    return list(groups.values())


def _time_group(group: list[Cell], job: "_Job", limits: Limits, notify: Notify) -> list[str]:
    """Time a group in a worker; where that dies or hangs on a cell, again without it."""
    timed = None
    while group and timed is None:
        job = replace(job, cells=tuple(cell.cell_id for cell in group))
        ((_, answer),) = run_cells(_timed, [job], 1, limits)
        if isinstance(answer, Failure):
            at = [cell for cell in group if cell.cell_id == answer.step] or group
            _tell(notify, at, f"built again to be timed, {answer.reason}" if at is not group else answer.reason)
            group = [cell for cell in group if cell not in at]
        else:
            timed = answer
    return [] if timed is None else _keep(group, job.root, timed, notify)


def _keep(group: list[Cell], root: Path, timed: "_Timed", notify: Notify) -> list[str]:
    ready = [cell for cell in group if cell.cell_id in timed.tables]
    for cell in group:
        if cell.cell_id in timed.untimed:
            _tell(notify, [cell], timed.untimed[cell.cell_id])
    for cell in ready:
        kept = {name: data for name, data in cell.files.items() if name not in (TIMINGS, CONTROL)}
        beside = {CONTROL: timed.control} if cell.cell_id == timed.repeated else {}
        commit(root, cell.cell_id, cell.record, {**kept, TIMINGS: timed.tables[cell.cell_id], **beside}, replace=True)
    if ready:
        notify("timed", {"cells": [cell.cell_id for cell in ready], "key": dict(group[0].key)})
    return [cell.cell_id for cell in ready]


@dataclass(frozen=True, slots=True)
class _Job:
    """A group of cells with all that a worker needs to time it."""

    cells: tuple[str, ...]
    root: Path
    queries: QueryPlan
    method_of: Callable[[str], Method]
    graph_of: GraphOf
    repetitions: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Timed:
    """The times of each cell, those of the control, a repetition of one of them, and why others have none."""

    tables: Mapping[str, bytes]
    repeated: str
    control: bytes
    untimed: Mapping[str, str]


def _timed(job: _Job) -> _Timed:
    """Time a group, in its worker. Whatever one cell's method raises is that cell's reason."""
    ready: list[Runner] = []
    untimed: dict[str, str] = {}
    baseline = set()
    for name in job.cells:
        begin_step(name)
        try:
            cell = read_cell(job.root, name)
            if cell is None:
                raise UsageError("it is gone.")
            baseline |= {name} if cell.key["method"] == BASELINE else set()
            method = assemble(job.method_of(cell.key["method"]), cell.key["params"], job.method_of)
            rebuilt = rebuild(job.root, cell.key, job.queries, method, job.graph_of)
            ready.append(_warm_runner(cell, rebuilt))
        except StoreError:
            raise
        except AacbenchError as error:
            untimed[name] = str(error).rstrip(".")
    if not ready:
        return _Timed({}, "", b"", untimed)
    first = next((runner for runner in ready if runner.name not in baseline), ready[0])
    control = Runner("control", first.network, first.labels, first.policy, first.queries)
    gc.collect()
    gc.disable()  # a collection would fall on whichever search is running
    interleave([*ready, control], len(first.queries), job.repetitions, job.seed, partial(begin_step, ""))
    return _Timed({runner.name: runner.table() for runner in ready}, first.name, control.table(), untimed)


def _warm_runner(cell: Cell, rebuilt: Rebuilt) -> Runner:
    """A runner whose every query has been searched once, untimed, and came out as it is stored."""
    queries = rebuilt.world.part(TEST)
    runner = Runner(cell.cell_id, rebuilt.world.net, rebuilt.deployed.searched.labels, cell.key["policy"], queries)
    expanded = runner.search_each(slice(0, len(queries)), lambda *_: None)
    stored = read_queries(cell.files["queries.csv"])
    if not np.array_equal(expanded, stored["expanded"][stored["split"] == TEST]):
        raise UsageError("built again, it does not expand what its rows say, so its time would be another method's.")
    return runner


def _repetitions(cell: Cell) -> int:
    if TIMINGS not in cell.files:
        return 0
    return int(read_timings(cell.files[TIMINGS])["repetition"].max(initial=-1)) + 1


def _tell(notify: Notify, group: list[Cell], reason: str) -> None:
    for cell in group:
        notify("untimed", {"cell": cell.cell_id, "key": dict(cell.key), "reason": reason})
