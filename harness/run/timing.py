"""Timing, after counting and alone: methods in turns, query block by query block, beside an A/A control."""

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.errors import AacbenchError, UsageError
from aacbench.graphs.record import Array
from aacbench.method import Method
from aacbench.parts import whole
from aacbench.queries.record import QuerySet
from aacbench.run.locks import claim
from aacbench.run.plan import BASELINE, TEST
from aacbench.run.rebuild import Rebuilt, rebuild, stored_queries
from aacbench.run.records import QueryPlan
from aacbench.run.rows import read_queries, read_timings, write_timings
from aacbench.run.store import Cell, commit, read_cell
from aacbench.search import astar
from aacbench.search.layouts import memo_for
from aacbench.search.networks import Network
from aacbench.search.policy import parse
from aacbench.search.workspace import borrow, give_back

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
    repetitions: int = REPETITIONS,
    again: bool = False,
    seed: int = 42,
    notify: Notify = lambda *_: None,
) -> list[str]:
    """Time the compiled test cells among these, a graph and budget at a time, and return the ids of those timed.

    A group whose cells all have as many repetitions already is left as it is, unless `again`. What cannot be timed is
    told to `notify` as an `untimed` event with the reason; the others of its group are timed without it.
    """
    queries, done = stored_queries(root), []
    for group in _groups(root, cells, notify):
        if not again and all(_repetitions(cell) >= repetitions for cell in group):
            continue
        with ExitStack() as claims:
            if not all(claims.enter_context(claim(root, cell.cell_id)) for cell in group):
                _tell(notify, group, "another run works on it")
                continue
            done += _time_group(root, group, queries, method_of, repetitions, seed, notify)
    return done


def interleave(runners: list[Runner], queries: int, repetitions: int, seed: int) -> None:
    """Fill the runners' rows: each repetition goes through all blocks, each block through all runners, shuffled.

    `order` counts the searches of all runners together, so that their rows merge into what happened when.
    """
    shuffle = np.random.default_rng(seed)
    blocks = [slice(start, min(start + BLOCK, queries)) for start in range(0, queries, BLOCK)]
    order = 0
    for repetition in range(repetitions):
        for block in blocks:
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


def _time_group(
    root: Path,
    group: list[Cell],
    queries: QueryPlan,
    method_of: Callable[[str], Method],
    repetitions: int,
    seed: int,
    notify: Notify,
) -> list[str]:
    ready: list[tuple[Cell, Runner]] = []
    for cell in group:
        try:
            method = whole(method_of(cell.key["method"]), cell.key["params"], method_of)
            rebuilt = rebuild(root, cell.key, queries, method)
            ready.append((cell, _warm_runner(cell, rebuilt)))
        except AacbenchError as error:
            _tell(notify, [cell], str(error).rstrip("."))
    if not ready:
        return []
    repeated, first = next((pair for pair in ready if pair[0].key["method"] != BASELINE), ready[0])
    control = Runner("control", first.network, first.labels, first.policy, first.queries)
    gc.collect()
    gc.disable()  # a collection would fall on whichever search is running
    try:
        interleave([*(runner for _, runner in ready), control], len(first.queries), repetitions, seed)
    finally:
        gc.enable()
    for cell, runner in ready:
        kept = {name: data for name, data in cell.files.items() if name not in (TIMINGS, CONTROL)}
        beside = {CONTROL: control.table()} if cell is repeated else {}
        commit(root, cell.cell_id, cell.record, {**kept, TIMINGS: runner.table(), **beside}, replace=True)
    notify("timed", {"cells": [cell.cell_id for cell, _ in ready], "key": dict(group[0].key)})
    return [cell.cell_id for cell, _ in ready]


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
