"""A run from start to end: plan, skip what is done, build and measure, commit as results come, choose, go on."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, DataError
from aacbench.run.build import Built, Result
from aacbench.run.context_plan import encode_plans, maps_metadata, search_plans
from aacbench.run.events import RunLog, new_log
from aacbench.run.executors import step_pool
from aacbench.run.fitting import Answer, Question, ask_all
from aacbench.run.layout import cell_id
from aacbench.run.loaded_graph import GraphMetadata, forget, metadata_of
from aacbench.run.plan import CellPlan, Choice, Plan, check_methods, choose, estimated_work, plan
from aacbench.run.predictions import predictions
from aacbench.run.rebuild import (
    built_before,
    fastest_cells,
    judged,
    other_seed,
    rebuild,
    stored_bundle,
    stored_encode_job,
    stored_job,
)
from aacbench.run.records import CONTEXT, ENCODE, Study
from aacbench.run.run_config import RunConfig, key_of, named
from aacbench.run.steps import Job, StepPool, run_cells
from aacbench.run.store import Cell, Existing, commit, decide, outcome_of, outcomes, read_or_damage, state_of, sweep
from aacbench.run.study import StudyContents, protocol_digest, write_plan
from aacbench.run.variants import queries_and_policy
from aacbench.util.canonical import plain
from aacbench.util.file_lock import file_lock
from aacbench.util.text import one_line
from aacbench.version import VERSION

WAIT_SECONDS = 0.5  # between looks at cells that another run works on


def prepare(study: Study, config: RunConfig) -> tuple[Plan, dict[str, GraphMetadata]]:
    methods = {name: source.method for name, source in config.methods.items()}
    check_methods(study, methods, config.resolve)
    if study.kind == CONTEXT:
        encoders = {name: source.encoder for name, source in config.encoders.items()}
        cells = encode_plans(study, encoders, config.resolve)
        return Plan(tuple(cells)), maps_metadata(study, config)
    graphs = metadata_of(study, config.graph_of, config.foreign_graphs, config.limits, config.notify)
    fit = _fit(config)
    return plan(study, methods, {name: found.info for name, found in graphs.items()}, config.resolve, fit), graphs


def plan_ahead(
    study: Study, config: RunConfig
) -> tuple[list[tuple[CellPlan, dict[str, Any]]], dict[str, GraphMetadata]]:
    """Return all cells that are known before anything is run, with their keys, and the metadata of graphs or map sets.

    On maps, keys of searches lack the digest of the graph, which is made of costs that are not predicted yet.
    """
    planned, graphs = prepare(study, config)
    found = [(cell, key_of(study, config, graphs, cell)) for cell in planned.cells]
    if study.kind == CONTEXT:
        encoded = [(cell, cell_id(key), None) for cell, key in found]
        cells, atlases = search_plans(study, config, encoded, _sides(graphs), config.resolve, _fit(config), ahead=True)
        found += [(cell, key_of(study, config, atlases, cell)) for cell in cells]
    return found, graphs


def _sides(graphs: Mapping[str, GraphMetadata]) -> dict[str, int]:
    return {name: graph.info.side for name, graph in graphs.items()}


def _fit(config: RunConfig) -> Callable[[Sequence[Question]], list[Answer]]:
    methods = {name: source.method for name, source in config.methods.items()}
    foreign = {name: source.digest for name, source in config.methods.items() if not source.built_in}

    def fit(questions: Sequence[Question]) -> list[Answer]:
        return ask_all(questions, methods, foreign, config.method_of, config.workers, config.limits)

    return fit


@dataclass(slots=True)
class Before:
    """A study as it was read when a run began; `contents` is None once that may be no longer what is on disk."""

    contents: StudyContents | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """A run under way."""

    study: Study
    config: RunConfig
    graphs: Mapping[str, GraphMetadata]
    log: RunLog
    pool: StepPool
    there: dict[str, str | DamagedCellError]  # the outcomes as they were when the run began
    before: Before

    def key(self, cell: CellPlan) -> dict[str, Any]:
        return key_of(self.study, self.config, self.graphs, cell)

    def named(self, cells: Iterable[CellPlan]) -> list[tuple[CellPlan, str]]:
        return named(self.study, self.config, self.graphs, cells)

    def notify(self, event: str, name: str, cell: CellPlan, **facts: Any) -> None:
        self.config.notify(event, {"cell": name, "plan": cell, **facts})

    def job(self, cell: CellPlan, name: str) -> Job:
        graph = self.graphs[cell.graph_key]
        if cell.role == ENCODE:
            return self.config.encode_job(name, cell, asdict(self.study.splits), graph.graph_digest)
        queries, policy = queries_and_policy(self.study.record(), cell.variant)
        digests, audit = graph.digests(cell.variant), "audit" in self.study.measure
        return self.config.job(name, cell, queries, policy.counted.name, digests, audit)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """For a cell that was chosen: what it was chosen from, and the cell that won."""

    note: Mapping[str, Any]
    winner: Cell


def run_study(study: Study, config: RunConfig, before: Before | None = None) -> list[tuple[CellPlan, str]]:
    """Run what is missing and return every cell of the study with its id, those of earlier runs included.

    With `before`, cells are not read again to see which are there, and it has its contents still if all were kept.
    """

    def progress(job: Job, text: str) -> None:
        config.notify("progress", {"cell": job.cell_id, "plan": job.plan, "text": text})

    recorded = ("existing", "workers", "executor", "scheduler", "rebuild", "lock")
    options = {name: getattr(config, name) for name in recorded}
    log = new_log(
        config.root, {"study": study.record(), "version": VERSION, "limits": asdict(config.limits), **options}
    )
    config = replace(config, notify=_logging(log, config.notify))
    try:
        with step_pool(config, config.workers, progress) as pool:
            before, remember = before or Before(), config.existing != "verify"
            # Before anything is written: a cell of a newer format is refused.
            there = before.contents.outcomes() if before.contents else outcomes(config.root, remember=remember)
            planned, graphs = prepare(study, config)
            if config.lock:
                config.binding.check([key for _, key in plan_ahead(study, config)[0]])
            run = _Run(study, config, graphs, log, pool, there, before)
            cells = _stages(run, planned)
    finally:
        if log.begun:
            sweep(config.root)  # what workers were writing when they were killed
    if config.rebuild and config.existing != "verify":
        _rebuild(run, cells)
    if log.begun:
        log.finish({"cells": len(cells)})
    return cells


def _logging(log: RunLog, notify: Callable[[str, Mapping[str, Any]], None]) -> Callable[[str, Mapping[str, Any]], None]:
    """A listener that also writes down what happens to the cluster during the run."""

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        if event == "cluster" and log.begun:
            log.event(event, **facts)
        notify(event, facts)

    return tell


def _stages(run: _Run, planned: Plan) -> list[tuple[CellPlan, str]]:
    """All that can be planned ahead, then the cells that were chosen on it."""
    first = run.named(planned.cells)
    if run.study.kind == CONTEXT:
        return _on_maps(run, first)
    _begin(run, first, first, later=len(planned.groups()))
    _execute(run, first, {})
    groups = [run.named(candidates) for candidates in planned.groups().values()]
    choices: list[Choice] = choose(run.config.root, groups, run.study.selection)
    second = run.named(cell for cell, _, _ in choices)
    if second:
        _begin(run, [*first, *second], second)
        chosen = {name: _Chosen(*choice[1:]) for (_, name), choice in zip(second, choices, strict=True)}
        _execute(run, second, chosen)
    return [*first, *second]


def _on_maps(run: _Run, first: list[tuple[CellPlan, str]]) -> list[tuple[CellPlan, str]]:
    """The cells of all encoders, then the searches on what they predict."""
    _begin(run, first, first)
    _execute(run, first, {})
    predictions.cache_clear()  # in a notebook, an earlier run may have read what was replaced since
    forget()
    found = [(cell, name, read_or_damage(run.config.root, name)) for cell, name in first]
    encoded = [(cell, name, stored if isinstance(stored, Cell) else None) for cell, name, stored in found]
    cells, atlases = search_plans(
        run.study, run.config, encoded, _sides(run.graphs), run.config.resolve, _fit(run.config)
    )
    run = replace(run, graphs={**run.graphs, **atlases})
    second = run.named(cells)
    _begin(run, [*first, *second], second, what="on predicted costs")
    _execute(run, second, {})
    return [*first, *second]


def _begin(
    run: _Run,
    known: list[tuple[CellPlan, str]],
    coming: list[tuple[CellPlan, str]],
    later: int = 0,
    what: str = "were chosen",
) -> None:
    """Write the plan as far as it is `known`; `later` cells at most will be chosen from the `coming` ones."""
    if run.config.existing != "verify":  # which writes nothing unless cells are missing
        run.log.begin()
        record = {
            "protocol_digest": protocol_digest(run.study),
            "study": run.study.record(),
            "cells": [name for _, name in known],
        }
        write_plan(run.config.root, record)
        run.config.binding.begin()  # not before the study's folder could be written
    infos = {name: graph.info for name, graph in run.graphs.items()}
    estimates = estimated_work(run.study, (cell for cell, _ in coming), infos)
    work = {name: (cell.method, most) for (cell, name), most in zip(coming, estimates, strict=True)}
    run.config.notify("planned", {"cells": len(coming), "later": later, "work": work, "what": what})


def damaged(root: Path, cells: Iterable[tuple[CellPlan, str]]) -> dict[str, str]:
    """The cells of a study that are not as they were written, each with what is wrong."""
    found = {name: read_or_damage(root, name) for _, name in cells}
    return {name: str(cell) for name, cell in found.items() if isinstance(cell, DamagedCellError)}


def _execute(run: _Run, cells: list[tuple[CellPlan, str]], chosen: Mapping[str, _Chosen]) -> None:
    """Run what must be run; cells that another run works on are waited for, and run here if it does not finish them."""
    existing, waiting = run.config.existing, cells
    while waiting:
        ran, elsewhere = _pass(run, waiting, chosen, existing)
        if elsewhere and not ran:
            time.sleep(WAIT_SECONDS)
        waiting = elsewhere
        existing = "verify" if existing == "verify" else "keep"  # what the other run makes of them is new enough


def _pass(
    run: _Run, cells: list[tuple[CellPlan, str]], chosen: Mapping[str, _Chosen], existing: Existing
) -> tuple[int, list[tuple[CellPlan, str]]]:
    """Go once through the cells; return how many were run here, and which another run works on."""
    root = run.config.root
    planned = {name: cell for cell, name in cells}
    elsewhere: list[tuple[CellPlan, str]] = []
    locks: dict[str, ExitStack] = {}  # no more than cells under way: each is an open file
    built: dict[str, Built] = {}
    builds = _builds(cells)

    def jobs() -> Iterator[Job]:
        for cell, name in sorted(cells, key=lambda one: run.config.origin(one[0])):
            if _settled(run, cell, name, existing, chosen.get(name)):
                continue
            with ExitStack() as lock:
                if not lock.enter_context(file_lock(root, name)):
                    elsewhere.append((cell, name))
                elif not _settled(run, cell, name, existing, chosen.get(name)):  # its last holder may have committed it
                    run.log.begin()
                    run.config.binding.begin()
                    if refused := _refused(cell):
                        _commit(run, cell, name, refused, chosen.get(name))
                        continue
                    locks[name] = lock.pop_all()
                    source = chosen[name].winner if name in chosen else _built_earlier(run, cell, builds)
                    if source is not None and stored_bundle(root, source) is not None:
                        built[name] = built_before(source, run.graphs[cell.graph_key].info.vertices)
                    yield run.job(cell, name)

    ran = 0
    try:
        for job, result in run_cells(run.pool, jobs(), run.config.limits, built):
            name = job.cell_id
            _commit(run, planned[name], name, _as_chosen(result, chosen.get(name)), chosen.get(name))
            locks.pop(name).close()
            ran += 1
    finally:
        for lock in locks.values():
            lock.close()
    return ran, elsewhere


_Builds = Mapping[tuple[object, ...], list[tuple[CellPlan, str]]]


def _builds(cells: list[tuple[CellPlan, str]]) -> _Builds:
    """The cells of a study with traffic, by what nearly decides which heuristic they build."""
    found: dict[tuple[object, ...], list[tuple[CellPlan, str]]] = {}
    if any(cell.traffic for cell, _ in cells):
        for cell, name in cells:
            found.setdefault(_build_key(cell), []).append((cell, name))
    return found


def _build_key(cell: CellPlan) -> tuple[object, ...]:
    return cell.built_graph, cell.label, cell.setting, cell.budget, cell.seed, cell.variant


def _built_earlier(run: _Run, cell: CellPlan, builds: _Builds) -> Cell | None:
    """Return a cell that built the same heuristic to search it under other traffic, or None."""
    if not cell.traffic or run.config.existing == "replace":
        return None
    wanted = cell.without_traffic()
    for other, name in builds[_build_key(cell)]:
        if other != cell and other.without_traffic() == wanted:
            found = read_or_damage(run.config.root, name)
            if isinstance(found, Cell) and found.outcome == "ok" and found.record["bundle"]:
                return found
    return None


def _as_chosen(result: Result, chosen: _Chosen | None) -> Result:
    """The result; wrong where a chosen cell had to be built again, and is not what was chosen."""
    if chosen is None or result.outcome != "ok" or result.facts["bundle"] == chosen.winner.record["bundle"]:
        return result
    return replace(result, outcome="wrong", reason="not reproducible: built again, it is not what was chosen")


def _rebuild(run: _Run, cells: list[tuple[CellPlan, str]]) -> None:
    """Build one cell of each method again; one that comes out different is wrong."""
    config, plans = run.config, {name: cell for cell, name in cells}
    stored = {name: cell for name in plans if isinstance(cell := read_or_damage(config.root, name), Cell)}
    again = {cell.cell_id: cell for cell in fastest_cells(stored)}
    jobs = [_stored(config, cell).rebuilt(other_seed(cell)) for cell in again.values()]
    for name, answer in rebuild(config, jobs).items():
        cell = again[name]
        outcome, reason = judged(cell, other_seed(cell), answer)
        reason = one_line(reason)
        if outcome != "ok":
            record = {**cell.record, "outcome": outcome, "reason": reason}
            _store(run, name, record, cell.files)
        run.log.event("rebuilt", cell=name, outcome=outcome, reason=reason)
        run.notify("rebuilt", name, plans[name], outcome=outcome, reason=reason or "built again, the same")


def _stored(config: RunConfig, cell: Cell) -> Job:
    return stored_encode_job(config, cell) if cell.key["role"] == ENCODE else stored_job(config, cell)


def _settled(run: _Run, cell: CellPlan, name: str, existing: Existing, chosen: _Chosen | None) -> bool:
    """Return whether the cell can be skipped, and report why."""
    there = run.there.pop(name, None)  # any later look is a new one
    outcome = outcome_of(run.config.root, name) if there is None else there
    decision = decide(existing, state_of(outcome))
    if decision == "skip" and existing != "verify" and chosen is not None and _outdated(run, name, chosen):
        decision = "run"
    if there is None or decision == "run":
        run.before.contents = None
    if decision == "report":
        run.notify("damaged", name, cell, outcome="damaged", reason=str(outcome))
    elif decision == "skip":
        run.notify("kept", name, cell, kept=outcome)
    return decision != "run"


def _outdated(run: _Run, name: str, chosen: _Chosen) -> bool:
    """Return whether the choice that led to this cell was made from other rows than now."""
    found = read_or_damage(run.config.root, name)
    return not isinstance(found, Cell) or any(found.record.get(key) != plain(chosen.note[key]) for key in chosen.note)


def _refused(cell: CellPlan) -> Result | None:
    if cell.unsupported:
        return Result("unsupported", cell.unsupported, {}, {})
    return Result(cell.failure, cell.failed, {}, {}) if cell.failed else None


def _store(run: _Run, name: str, record: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    run.before.contents = None
    run.config.binding.enter(name, record, files)
    commit(run.config.root, name, record, files, replace=True)


def _commit(run: _Run, cell: CellPlan, name: str, result: Result, chosen: _Chosen | None) -> None:
    config = run.config
    reason = one_line(result.reason)  # a method may have put anything into it
    record = {
        "outcome": result.outcome,
        "reason": reason,
        "key": run.key(cell),
        "defaults": config.defaults_of(cell),
        "lock": config.lock,
        **(chosen.note if chosen else {}),
        **result.facts,
    }
    try:
        _store(run, name, record, result.files)
    except DataError as error:  # a method's own values may be such as no file can hold
        result = Result("error", f"The cell cannot be written: {error}", {}, {})
        reason = one_line(result.reason)
        short = {"outcome": result.outcome, "reason": reason, "key": run.key(cell), "lock": config.lock}
        _store(run, name, short, {})
    run.log.event("cell", cell=name, outcome=result.outcome, reason=reason)
    run.notify("cell", name, cell, outcome=result.outcome, reason=reason)
