"""Timing, after counting and alone: methods in turns, query block by query block, beside an A/A control."""

import gc
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.errors import AacbenchError, StoreError, UsageError
from aacbench.graphs.record import Array
from aacbench.processes.pool import Limits
from aacbench.processes.remote import Finished, Link, Missing
from aacbench.processes.worker import Failure, begin_step
from aacbench.queries.record import QuerySet
from aacbench.run.build import CellJob
from aacbench.run.executors import timing_place
from aacbench.run.layout import CONTROL_FILE as CONTROL
from aacbench.run.layout import TIMED_ON
from aacbench.run.layout import TIMINGS_FILE as TIMINGS
from aacbench.run.measure import ready
from aacbench.run.rebuild import built_before, restore, stored_job
from aacbench.run.records import BASELINE, TEST
from aacbench.run.rows import read_queries, read_timings, write_timings
from aacbench.run.run_config import RunConfig
from aacbench.run.shipping import Shipment, shipment_of, shipped_files
from aacbench.run.steps import Step
from aacbench.run.store import Cell, commit, read_cell
from aacbench.search import astar
from aacbench.search.batch import search_rows
from aacbench.search.layouts import Layout
from aacbench.search.networks import Network, borrow, give_back
from aacbench.search.policy import parse
from aacbench.util.file_lock import file_lock
from aacbench.util.text import describe

COMPILED = "compiled"
REPETITIONS = 5
BLOCK = 10  # queries of one method in a row: enough to warm its labels, few enough for drift to fall on all methods


@dataclass(frozen=True, eq=False, slots=True)
class Runner:
    """One method's searches, each a single call of the compiled kernel; `name` is a cell's id, or the control's."""

    name: str
    network: Network
    layout: Layout
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
        labels, work, memo = self.layout.labels, borrow(net), self.layout.borrow()
        for i in range(len(starts)):
            one = slice(i, i + 1)
            call = (net.arcs, labels, memo, work, rules, numbers, starts[one], goals[one], costs[one], counts[one])
            began = time.perf_counter_ns()
            work = search_rows(*call)
            record(block.start + i, time.perf_counter_ns() - began)
        give_back(net, work)
        self.layout.idle.append(memo)
        return counts[:, astar.EXPANDED]

    def table(self) -> bytes:
        columns = zip(*self.rows, strict=True)
        return write_timings(
            dict(zip(("query", "repetition", "order", "wall_ns"), map(np.array, columns), strict=True))
        )


def time_study(
    config: RunConfig, cells: Iterable[str], *, repetitions: int = REPETITIONS, again: bool = False, seed: int = 42
) -> list[str]:
    """Time the compiled test cells among these, and return the ids of those timed.

    Cells with the same graph, budget and test queries are a group, which is timed in one worker process, with nothing
    beside it, from the bundles that were measured. A group whose cells all have as many repetitions already is left as
    it is, unless `again`. What cannot be timed is reported as an `untimed` event with the reason; the others of its
    group are timed without it.
    """
    groups = [
        group for group in _groups(config, cells) if again or any(_repetitions(cell) < repetitions for cell in group)
    ]
    if not groups:
        return []
    done: list[str] = []
    with timing_place(config, _timed, _Packing(config.limits)) as place:
        for group in groups:
            with ExitStack() as locks:
                if all(locks.enter_context(file_lock(config.root, cell.cell_id)) for cell in group):
                    done += _time_group(config, group, repetitions, seed, *place)
                else:
                    _untimed(config, group, "Another run works on it")
    return done


def check_place(config: RunConfig) -> None:
    """Refuse a cluster on which nothing can be timed."""
    with timing_place(config, _timed, _Packing(config.limits)):
        pass


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


def _groups(config: RunConfig, cells: Iterable[str]) -> list[list[Cell]]:
    groups: dict[tuple[str, float, str], list[Cell]] = {}  # the name of a graph has its traffic
    for name in cells:
        cell = read_cell(config.root, name)
        if cell is None or cell.outcome != "ok" or TEST not in cell.key["splits"]:
            continue
        if cell.variant and cell.key["method"] == BASELINE:
            continue  # its searches are by far the longest, and one time of it is enough
        if cell.record["tier"] != COMPILED:
            _untimed(config, [cell], f"Only compiled methods are timed, and this is of the {cell.record['tier']} tier")
            continue
        groups.setdefault(cell.timing_group, []).append(cell)
    return list(groups.values())


def _time_group(
    config: RunConfig, cells: list[Cell], repetitions: int, seed: int, time_alone: Callable[["_Job"], Any], where: str
) -> list[str]:
    """Time a group in a worker; where that dies or hangs on a cell, again without it."""
    group = {cell.cell_id: cell for cell in cells}
    for name, reason in restore(config, cells).items():
        _untimed(config, [group.pop(name)], reason)
    while group:
        job = _Job(tuple(_Timing(stored_job(config, cell), cell) for cell in group.values()), repetitions, seed)
        answer = time_alone(job)
        if not isinstance(answer, Failure):
            return _store(config, group, answer, where)
        failed = [answer.step] if answer.step in group else list(group)
        for name in failed:
            _untimed(config, [group.pop(name)], answer.reason)
    return []


def _store(config: RunConfig, group: Mapping[str, Cell], timed: "_Timed", where: str) -> list[str]:
    for name, reason in timed.untimed.items():
        _untimed(config, [group[name]], reason)
    done = [cell for name, cell in group.items() if name in timed.tables]
    for cell in done:
        kept = {name: data for name, data in cell.files.items() if name not in (TIMINGS, CONTROL)}
        beside = {CONTROL: timed.control} if cell.cell_id == timed.repeated else {}
        files = {**kept, TIMINGS: timed.tables[cell.cell_id], **beside}
        record = {key: value for key, value in cell.record.items() if key != TIMED_ON}
        record |= {TIMED_ON: where} if where else {}
        commit(config.root, cell.cell_id, record, files, replace=True)
    if done:
        config.notify("timed", {"cells": [cell.cell_id for cell in done], "key": dict(done[0].key)})
    return [cell.cell_id for cell in done]


@dataclass(frozen=True, slots=True)
class _Timing:
    """A cell to be timed, and its job."""

    job: CellJob
    cell: Cell


@dataclass(frozen=True, slots=True)
class _Job:
    """A group of cells to be timed in one worker."""

    timings: tuple[_Timing, ...]
    repetitions: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Timed:
    """The times of each cell, those of the control, a repetition of one of them, and why others have none."""

    tables: Mapping[str, bytes]
    repeated: str
    control: bytes
    untimed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Packing:
    """How a group travels to a worker of a cluster: its cells, each with its shipment."""

    limits: Limits

    def name(self, job: _Job) -> str:
        return job.timings[0].cell.cell_id

    def title(self, job: _Job) -> str:
        plan = job.timings[0].job.plan
        return f"the timing of {plan.graph} at {plan.budget:g} B/v"

    def link(self, job: _Job) -> Link:
        return Link(f"{__name__}:time_shipped", pickle.dumps((job, self._shipments(job))), "time", self.limits.seconds)

    def files(self, job: _Job, place: str) -> Mapping[str, bytes]:
        wanted = (each for each in self._shipments(job) if place in (each.graph, each.queries, each.bundle))
        return shipped_files(next(wanted), place)

    def unpacked(self, job: _Job, finished: Finished) -> _Timed:
        timed: _Timed = pickle.loads(finished.result)
        return timed

    def _shipments(self, job: _Job) -> list[Shipment]:
        return [
            shipment_of(Step(timing.job), self.limits, bundle=timing.cell.record["bundle"]) for timing in job.timings
        ]


def time_shipped(payload: bytes, folder: Path) -> Missing | Finished:
    """Time a group that was sent here, in a child of a worker."""
    job: _Job
    job, shipments = pickle.loads(payload)
    if missing := {place: None for shipment in shipments for place in shipment.missing(folder)}:
        return Missing(tuple(missing))
    there = [
        _Timing(shipment.arrived(folder).job, timing.cell)
        for shipment, timing in zip(shipments, job.timings, strict=True)
    ]
    return Finished(pickle.dumps(_timed(replace(job, timings=tuple(there)))))


def _timed(job: _Job) -> _Timed:
    """Time a group, in its worker. Whatever one cell's method raises is that cell's reason."""
    runners: list[Runner] = []
    untimed: dict[str, str] = {}
    for timing in job.timings:
        name = timing.cell.cell_id
        begin_step(name)
        try:
            runners.append(_warm_runner(timing))
        except StoreError:
            raise
        except AacbenchError as error:
            untimed[name] = describe(error)
    if not runners:
        return _Timed({}, "", b"", untimed)
    baseline = {timing.cell.cell_id for timing in job.timings if timing.cell.key["method"] == BASELINE}
    first = next((runner for runner in runners if runner.name not in baseline), runners[0])
    control = Runner("control", first.network, first.layout, first.policy, first.queries)
    gc.collect()
    gc.disable()  # a collection would fall on whichever search is running
    interleave([*runners, control], len(first.queries), job.repetitions, job.seed, partial(begin_step, ""))
    return _Timed({runner.name: runner.table() for runner in runners}, first.name, control.table(), untimed)


def _warm_runner(timing: _Timing) -> Runner:
    """A runner whose every query has been searched once, untimed, with the stored expansions."""
    cell, loaded = timing.cell, timing.job.searched()
    _, deployed = ready(timing.job, built_before(cell, loaded.net.graph.vertices), loaded)
    queries = loaded.part(TEST)
    runner = Runner(cell.cell_id, loaded.net, deployed.searched, cell.key["policy"], queries)
    expanded = runner.search_each(slice(0, len(queries)), lambda *_: None)
    stored = read_queries(cell.files["queries.csv"])
    if not np.array_equal(expanded, stored["expanded"][stored["split"] == TEST]):
        raise UsageError("The rebuilt heuristic expands other vertices than the stored rows; it was not timed.")
    return runner


def _repetitions(cell: Cell) -> int:
    if TIMINGS not in cell.files:
        return 0
    return int(read_timings(cell.files[TIMINGS])["repetition"].max(initial=-1)) + 1


def _untimed(config: RunConfig, group: Iterable[Cell], reason: str) -> None:
    for cell in group:
        config.notify("untimed", {"cell": cell.cell_id, "key": dict(cell.key), "reason": reason})
