"""A run from start to end: plan, skip what is done, execute, commit as results come, choose on validation, go on."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.contract.composite import assemble, part_names
from aacbench.errors import DamagedCellError, DataError
from aacbench.processes.pool import Workers, run_cells
from aacbench.processes.worker import Failure
from aacbench.run.again import Again, Digests, as_before, build_again, digests, judged, quickest
from aacbench.run.cell import Job, Result, run_cell
from aacbench.run.events import RunLog, start_run
from aacbench.run.existing import Existing, decide, look, state_of
from aacbench.run.fitting import Answer, Question, ask_all
from aacbench.run.graph_metadata import Facts, facts_of
from aacbench.run.keys import key_of, named
from aacbench.run.plan import CellPlan, Plan, check_methods, plan
from aacbench.run.records import Study
from aacbench.run.run_config import Setup
from aacbench.run.second_look import SecondLook, Sent
from aacbench.run.selection import choose
from aacbench.run.store import Cell, commit
from aacbench.run.study import protocol_digest, write_plan
from aacbench.search import parse
from aacbench.util.canonical import plain
from aacbench.util.file_lock import file_lock
from aacbench.util.text import one_line
from aacbench.version import VERSION

WAIT_SECONDS = 0.5  # between looks at cells that another run works on


def prepare(study: Study, setup: Setup) -> tuple[Plan, dict[str, Facts]]:
    """Load every graph once and plan every cell."""
    methods = {name: source.method for name, source in setup.sources.items()}
    check_methods(study, methods, setup.resolve)
    facts = facts_of(study, setup.graph_of, setup.foreign_graphs, setup.limits, setup.notify)
    foreign = {name: source.digest for name, source in setup.sources.items() if not source.built_in}

    def fit(questions: Sequence[Question]) -> list[Answer]:
        return ask_all(questions, methods, foreign, setup.method_of, setup.workers, setup.limits)

    return plan(study, methods, {name: fact.info for name, fact in facts.items()}, setup.resolve, fit), facts


@dataclass(frozen=True, slots=True)
class _Run:
    """A run under way."""

    study: Study
    setup: Setup
    facts: Mapping[str, Facts]
    log: RunLog
    workers: Workers
    second_look: SecondLook | None

    def key(self, cell: CellPlan) -> dict[str, Any]:
        """Everything that decides what a cell computes."""
        return key_of(self.study, self.setup, self.facts, cell)

    def named(self, cells: Iterable[CellPlan]) -> list[tuple[CellPlan, str]]:
        """The cells with their ids."""
        return named(self.study, self.setup, self.facts, cells)

    def tell(self, event: str, name: str, cell: CellPlan, **facts: Any) -> None:
        """Tell whoever started the run."""
        self.setup.notify(event, {"cell": name, "plan": cell, **facts})


def run_study(study: Study, setup: Setup) -> list[tuple[CellPlan, str]]:
    """Run what is missing and give every cell of the study with its id, those of earlier runs included."""
    with Workers(run_cell, setup.workers, setup.limits, lambda job: setup.kind(job.plan)) as workers:
        planned, facts = prepare(study, setup)
        setup.before([key_of(study, setup, facts, cell) for cell in planned.cells])
        facts_of_run = {"study": study.record(), "version": VERSION, "existing": setup.existing, "lock": setup.lock}
        log = start_run(setup.root, facts_of_run)
        foreign = any(setup.origin(cell) for cell in planned.cells)
        with SecondLook(setup.limits, setup.foreign_graphs) if foreign else nullcontext() as looking:
            run = _Run(study, setup, facts, log, workers, looking)
            cells = _stages(run, planned)
        if setup.rebuild and setup.existing != "verify":
            _rebuild(run, cells)
    log.finish({"cells": len(cells)})
    return cells


def _stages(run: _Run, planned: Plan) -> list[tuple[CellPlan, str]]:
    """All that can be planned ahead, then the cells that were chosen on it."""
    first = run.named(planned.cells)
    _begin(run, first, first)
    _execute(run, first, {})
    groups = [run.named(candidates) for candidates in planned.groups().values()]
    choices = choose(run.setup.root, groups, run.study.selection)
    second = run.named(cell for cell, _, _ in choices)
    if second:
        _begin(run, [*first, *second], second)
        notes = {name: note for (_, name), (_, note, _) in zip(second, choices, strict=True)}
        built = {name: digests(winner.record) for (_, name), (_, _, winner) in zip(second, choices, strict=True)}
        _execute(run, second, notes, built)
    return [*first, *second]


def _begin(run: _Run, known: list[tuple[CellPlan, str]], coming: list[tuple[CellPlan, str]]) -> None:
    if run.setup.existing != "verify":  # which looks, and changes nothing
        _write(run.study, run.setup, known)
    run.setup.notify("planned", {"cells": len(coming)})


def damaged(root: Path, cells: Iterable[tuple[CellPlan, str]]) -> dict[str, str]:
    """The cells of a study that are not as they were written, with what is wrong: `verify` leaves them so."""
    found = {name: look(root, name) for _, name in cells}
    return {name: str(cell) for name, cell in found.items() if isinstance(cell, DamagedCellError)}


def _write(study: Study, setup: Setup, cells: Iterable[tuple[CellPlan, str]]) -> None:
    record = {
        "protocol_digest": protocol_digest(study),
        "study": study.record(),
        "cells": [name for _, name in cells],
    }
    write_plan(setup.root, record)


def _execute(
    run: _Run,
    cells: list[tuple[CellPlan, str]],
    notes: Mapping[str, Mapping[str, Any]],
    built: Mapping[str, Digests] | None = None,
) -> None:
    """Run what must be run; cells that another run works on are waited for, and run here if it does not finish them.

    `built` has what was built for some of the cells before, as candidates, and must be built again.
    """
    existing, waiting = run.setup.existing, cells
    while waiting:
        ran, elsewhere = _pass(run, waiting, notes, built or {}, existing)
        if elsewhere and not ran:
            time.sleep(WAIT_SECONDS)
        waiting = elsewhere
        existing = "verify" if existing == "verify" else "keep"  # what the other run makes of them is new enough


def _pass(
    run: _Run,
    cells: list[tuple[CellPlan, str]],
    notes: Mapping[str, Mapping[str, Any]],
    built: Mapping[str, Digests],
    existing: Existing,
) -> tuple[int, list[tuple[CellPlan, str]]]:
    """Once through the cells: how many were run here, and which belong to another run now."""
    setup = run.setup
    planned = {name: cell for cell, name in cells}
    elsewhere: list[tuple[CellPlan, str]] = []
    claims: dict[str, ExitStack] = {}  # no more than there are workers: each is an open file

    def jobs() -> Iterator[Job]:
        for cell, name in sorted(cells, key=lambda pair: setup.kind(pair[0])):
            if _settled(run, cell, name, existing, notes.get(name)):
                continue
            with ExitStack() as held:
                if not held.enter_context(file_lock(setup.root, name)):
                    elsewhere.append((cell, name))
                elif not _settled(run, cell, name, existing, notes.get(name)):  # its last holder may have committed it
                    if refused := _refused(cell):
                        _commit(run, cell, name, refused, notes.get(name))
                        continue
                    claims[name] = held.pop_all()
                    yield _job(run, cell, name)

    ran = 0
    try:
        for job, result in run.workers.run(jobs()):
            if isinstance(result, Failure):
                result = Result(result.outcome, result.reason, {}, {})
            result = as_before(_looked_at(run, job, result), built.get(job.cell_id, {}))
            _commit(run, planned[job.cell_id], job.cell_id, result, notes.get(job.cell_id))
            claims.pop(job.cell_id).close()
            ran += 1
    finally:
        for held in claims.values():
            held.close()
    return ran, elsewhere


def _looked_at(run: _Run, job: Job, result: Result) -> Result:
    """The result; of a plugin's cell, which shared its process with the audit, what a second look finds it to be."""
    if run.second_look is None or not run.setup.origin(job.plan):
        return result
    methods = {name: source.method for name, source in run.setup.sources.items()}
    claims = assemble(methods[job.plan.method], job.plan.params, methods.__getitem__).claims
    seconds = run.setup.limits.seconds
    sent = Sent(job=job, result=result, claims=claims, artifacts=run.setup.shared, seconds=seconds)
    return run.second_look.at(sent)


def _rebuild(run: _Run, cells: list[tuple[CellPlan, str]]) -> None:
    """Build one cell of each method again; one that comes out otherwise is wrong."""
    setup, plans = run.setup, {name: cell for cell, name in cells}
    stored = {name: cell for name in plans if isinstance(cell := look(setup.root, name), Cell)}
    common: dict[str, Any] = {"queries": run.study.queries, "method_of": setup.method_of, "graph_of": setup.graph_of}
    jobs = [Again(cell=cell, artifacts=setup.artifacts(plans[cell.cell_id]), **common) for cell in quickest(stored)]
    answers = run_cells(build_again, jobs, setup.workers, setup.limits, lambda job: setup.kind(plans[job.name]))
    for job, answer in answers:
        outcome, reason = judged(job, answer)
        reason = one_line(reason)
        if outcome != "ok":
            record = {**job.cell.record, "outcome": outcome, "reason": reason}
            commit(setup.root, job.name, record, job.cell.files, replace=True)
            run.log.event("cell", cell=job.name, outcome=outcome, reason=reason)
            run.tell("rebuilt", job.name, plans[job.name], outcome=outcome, reason=reason)


def _settled(run: _Run, cell: CellPlan, name: str, existing: Existing, note: Mapping[str, Any] | None) -> bool:
    """Whether nothing is to be done for a cell; then that is told."""
    found = look(run.setup.root, name)
    decision = decide(existing, state_of(found))
    if decision == "skip" and existing != "verify" and isinstance(found, Cell) and _outdated(found, note):
        decision = "run"
    if decision == "report":
        run.log.event("damaged", cell=name, reason=str(found))
        run.tell("damaged", name, cell, outcome="damaged", reason=str(found))
    elif decision == "skip":
        run.tell("kept", name, cell, found=found)
    return decision != "run"


def _outdated(found: Cell, note: Mapping[str, Any] | None) -> bool:
    """Whether the choice that led to this cell was made from other rows than now."""
    return note is not None and any(found.record.get(key) != plain(value) for key, value in note.items())


def _refused(cell: CellPlan) -> Result | None:
    """The result of a cell that is known before it is run."""
    if cell.unsupported:
        return Result("unsupported", cell.unsupported, {}, {})
    return Result(cell.failure, cell.failed, {}, {}) if cell.failed else None


def _job(run: _Run, cell: CellPlan, name: str) -> Job:
    study, setup, facts = run.study, run.setup, run.facts[cell.graph]
    return Job(
        cell_id=name,
        plan=cell,
        queries=study.queries,
        artifacts=setup.artifacts(cell),
        method_of=setup.method_of,
        graph_of=setup.graph_of,
        reference_policy=parse(study.search).name,
        digests={"graph": facts.graph_digest, **facts.query_digests},
        plugin_file=setup.sources[cell.method].plugin_file,
        part_files=tuple(file for part in part_names(cell.params) if (file := setup.sources[part].plugin_file)),
        audit="audit" in study.measure,
        keep=run.second_look.place(name) if run.second_look and setup.origin(cell) else None,
    )


def _commit(run: _Run, cell: CellPlan, name: str, result: Result, note: Mapping[str, Any] | None) -> None:
    reason = one_line(result.reason)  # a method may have put anything into it
    record = {
        "outcome": result.outcome,
        "reason": reason,
        "key": run.key(cell),
        "defaults": {method: run.setup.defaults(method) for method in (cell.method, *part_names(cell.params))},
        "lock": run.setup.lock,
        **(note or {}),
        **result.facts,
    }
    try:
        commit(run.setup.root, name, record, result.files, replace=True)
    except DataError as error:  # a method's own values may be such as no file can hold
        result = Result("error", f"the cell could not be written down: {error}", {}, {})
        reason = one_line(result.reason)
        short = {"outcome": result.outcome, "reason": reason, "key": run.key(cell), "lock": run.setup.lock}
        commit(run.setup.root, name, short, {}, replace=True)
    run.log.event("cell", cell=name, outcome=result.outcome, reason=reason)
    run.tell("cell", name, cell, outcome=result.outcome, reason=reason)
