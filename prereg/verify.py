"""Verify a registration: make every check, judge every prediction from the rows, and say what that proves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aacbench.prereg import evaluate
from aacbench.prereg.amend import WORDS_ONLY, differences
from aacbench.prereg.anchors import CheckedAnchor, anchor_checks, checked_anchors, stamped_before
from aacbench.prereg.checks import (
    FAIL,
    FALSIFIED_CODE,
    INCOMPLETE,
    INCONCLUSIVE_CODE,
    NOT_CHECKED,
    OK,
    ORDER,
    TAMPERED,
    Check,
    check_of,
    exit_code,
)
from aacbench.prereg.confirmatory_status import RunDeviations, first_run_lock, standing, tries_by_place
from aacbench.prereg.conformity import (
    as_locked,
    clock_check,
    code_check,
    costs_check,
    locks_of,
    order_checks,
    other_code,
)
from aacbench.prereg.evaluate import Judged, Observations, Rows, forest, judge_all, judge_as_locked
from aacbench.prereg.files import Files
from aacbench.prereg.history import History, changes_in, history_of
from aacbench.prereg.key_diff import Change, Match, change_text, without_lock
from aacbench.prereg.ledger import Entry, read_ledger
from aacbench.prereg.lock import Lock
from aacbench.prereg.runs import Runs, first_of_each
from aacbench.prereg.schema import FROM_LOCK, Published, Registration, read_registration
from aacbench.prereg.verdicts import FALSIFIED, INCONCLUSIVE, NOT_EVALUATED
from aacbench.run.records import CONTEXT, ENCODE
from aacbench.run.store import Cell
from aacbench.util.canonical import canonical, plain
from aacbench.util.text import one_line

TIERS = {
    "T0": "declared: somebody says so, and nothing here confirms it",
    "T1": "chained: a change after the lock would show, unless the whole ledger was rewritten",
    "T2": "anchored: a clock that the reader trusts saw the lock before the run began",
    "T3": "anchored and seeded: as T2, and the queries did not exist before the lock",
}
TORN = (
    "The last line of the ledger has no end: it was cut, or a command was killed while writing it. It does not count."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of verifying a registration."""

    registration: Registration
    lock: str | None
    checks: tuple[Check, ...]
    judged: tuple[Judged, ...] = ()
    standing: Mapping[str, str]  # of each prediction: confirmatory, exploratory or replication
    events: tuple[str, ...] = ()  # each run, and how it ended
    notes: tuple[str, ...] = ()  # what a reader of the verdicts must also know
    tier: str = "T0"
    declared: tuple[str, ...] = ()  # deviations, with their reasons
    withdrawn: str = ""
    study: Path | None = None  # the folder of the last run, if it is there
    run_begun: bool = True

    @property
    def code(self) -> int:
        return exit_code(self.checks)

    @property
    def never_run(self) -> bool:
        """Whether all that is wrong is that it was never run."""
        return not self.run_begun and self.code == INCOMPLETE

    def gated(self) -> int:
        verdicts = [one.verdict for one in self.judged]
        if self.code:
            return self.code
        if any(verdict in FALSIFIED for verdict in verdicts):
            return FALSIFIED_CODE
        return INCONCLUSIVE_CODE if INCONCLUSIVE in verdicts else 0

    def record(self) -> dict[str, Any]:
        return {
            "format": "aacbench.prereg.verify/1",
            "id": self.registration.id,
            "status": self.registration.status,
            "registration_digest": self.registration.digest,
            "lock": self.lock,
            "tier": self.tier,
            "exit_code": self.code,
            "declared_deviations": list(self.declared),
            "withdrawn": self.withdrawn,
            "events": list(self.events),
            "notes": list(self.notes),
            "checks": [asdict(check) for check in self.checks],
            "predictions": [
                {**evaluate.record(one), "standing": self.standing[one.prediction.id]} for one in self.judged
            ],
            "forest": [asdict(row) for row in forest(self.judged)],
        }


def verify(files: Files, study: Path | None = None, roots: Sequence[Path] = ()) -> Verification:
    """Verify a registration; only a file that is not a registration at all is an error.

    `study` is where the study is now, if it was moved; `roots` are certificates whose time stamps the reader trusts.
    """
    registration = read_registration(files.toml)
    entries, problems, torn = read_ledger(files.ledger)
    history = history_of(entries, registration.id)
    if registration.published is not None and history.locked is None and not files.locks():
        return _replication(registration, registration.published)
    runs = Runs(files, entries, history, study)
    chain = check_of("ledger", problems, TAMPERED, f"{len(entries)} lines, each with the digest of the line before")
    if history.locked is None:
        missing = Check("lock", FAIL, "the registration is not locked.", TAMPERED if files.locks() else INCOMPLETE)
        return _without_verdicts(registration, [chain, missing], runs)
    checks = [chain, *order_checks(history)]
    locks, lock_checks = locks_of(files, registration, history)
    checks += lock_checks
    if not locks:
        return _without_verdicts(registration, checks, runs)
    case = _Case(files, registration, entries, history, locks, runs)
    cells = _once_each(runs)
    conformity, matched = as_locked(registration, case.lock, history, cells)
    if registration.study.kind == CONTEXT:
        conformity.append(costs_check(cells))
    anchors = checked_anchors(files, history, roots)
    checks += [*runs.checks(), *conformity, clock_check(locks, runs), code_check(locks, history)]
    checks += anchor_checks(anchors, registration, history, locks)
    events = (*runs.events(), *([TORN] if torn else []))
    if exit_code(checks) in (TAMPERED, ORDER):  # verdicts on tampered rows would lend them weight
        return _without_verdicts(registration, checks, runs, case.lock.digest, events)
    used = _judged_cells(cells)
    judged = judge_all(registration, Rows(used))
    statuses, notes = case.standing(used, matched)
    withdrawn = next((one_line(entry.facts["reason"]) for entry in history.of("withdraw")), "")
    if not withdrawn:
        checks.append(_evaluated(judged))
    return Verification(
        registration=registration,
        lock=case.lock.digest,
        checks=tuple(checks),
        judged=tuple(judged),
        standing=statuses,
        events=events,
        notes=(*notes, *case.other_verdicts(Rows(used))),
        tier=_tier(anchors, registration, history, checks),
        declared=tuple(_declared(entry, history) for entry in history.of("deviate")),
        withdrawn=withdrawn,
        study=runs.study,
        run_begun=bool(history.runs),
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """A registration with its ledger, its locks and its runs."""

    files: Files
    registration: Registration
    entries: Sequence[Entry]
    history: History
    locks: Mapping[str, Lock]
    runs: Runs

    @property
    def lock(self) -> Lock:
        """The lock in force."""
        return self.locks[self.history.digests[-1]]

    def standing(self, used: Sequence[Cell], matched: Match) -> tuple[dict[str, str], list[str]]:
        """Whether each prediction is confirmatory, with notes on the reasons."""
        keys = [without_lock(cell.key) for cell in used]
        deviations = RunDeviations(
            cells=[one for one in matched.deviating if one.key in keys],
            code=[change for _, change in other_code(self.locks, self.history)],
            runs_disagree=bool(self.runs.disagreements()),
        )
        return standing(self.files, self.registration, self.entries, self.history, self.locks, deviations)

    def other_verdicts(self, rows: Rows) -> Iterator[str]:
        """What else was run or predicted, and how it came out."""
        yield from self.runs.repeated()
        yield from _verdicts_by_run(self.registration, self.runs)
        yield from _verdicts_before_amendment(self.registration, self.history, self.locks, rows)


def past_changes(files: Files, registration: Registration) -> list[Change]:
    """How the runs so far deviate from the lock; nothing if they cannot be read."""
    entries = read_ledger(files.ledger).entries
    history = history_of(entries, registration.id)
    locks, _ = locks_of(files, registration, history)
    if not locks or not history.showing:
        return []
    runs = Runs(files, entries, history)
    _, matched = as_locked(registration, locks[history.digests[-1]], history, _once_each(runs))
    return [
        *(change for one in matched.deviating for change in one.changes),
        *(change for _, change in other_code(locks, history)),
        *(change for _, change in runs.disagreements()),
    ]


def _once_each(runs: Runs) -> list[Cell]:
    return first_of_each(runs.cells(), lambda cell: canonical(without_lock(cell.key)))


def _judged_cells(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that verdicts rest on: of several in one place, as a rerun after a deviation leaves them, the first."""
    reported = [cell for cell in cells if cell.is_reported or cell.key["role"] == ENCODE]
    return first_of_each(reported, lambda cell: tuple(cell.key[name] for name in ("label", "graph", "budget", "seed")))


def _declared(entry: Entry, history: History) -> str:
    when = " (after results could have been seen)" if history.seen(entry) else ""
    changes = "; ".join(change_text(change) for change in changes_in(entry) if isinstance(change, dict))
    what = changes or f"{', '.join(map(str, entry.facts['what']))} (it names no change, so it covers nothing)"
    return f"{what}: {one_line(entry.facts['reason'])}{when}"


def _verdicts_by_run(registration: Registration, runs: Runs) -> Iterator[str]:
    """The verdicts of each run alone, where a later run has other results than an earlier one."""
    if all(len(lines) == 1 for lines in tries_by_place(runs.history).values()):
        return
    for run in runs.history.showing:
        judged = judge_all(registration, Rows(_judged_cells(runs.of_run(run))))
        told = ", ".join(f"{one.prediction.id} {one.verdict}" for one in judged)
        yield f"By the run in line {run.start.number} alone: {told}."


def _verdicts_before_amendment(
    registration: Registration, history: History, locks: Mapping[str, Lock], rows: Rows
) -> Iterator[str]:
    """What was amended when results could have been seen: words, and predictions with their original verdicts."""
    lock = first_run_lock(history, locks)
    if lock is None:
        return
    for digest, entry in history.amendments:
        changed = differences(locks[digest].registration, locks[entry.facts["lock"]].registration)
        for change in changed if history.seen(entry) else ():
            if (key := change["key"]).partition(".")[0] in WORDS_ONLY:
                yield f"{key} was amended in line {entry.number}, after a run had begun; before: {change['before']!r}."
    now = {one.id: plain(asdict(one)) for one in registration.predictions}
    before = {one["id"]: one for one in lock.registration["prediction"]}
    for one in judge_as_locked(lock, registration, rows):
        name = one.prediction.id
        if now.get(name) != before[name]:
            word = "amended" if name in now else "removed"
            yield f"{name} was {word} after a run had begun; its original verdict: {one.verdict}."


def _replication(registration: Registration, published: Published) -> Verification:
    judged = judge_all(registration, Observations(published))
    note = f"published observations instead of rows: {published.source}"
    return Verification(
        registration=registration,
        lock=None,
        checks=(Check("rows", NOT_CHECKED, note), _evaluated(judged)),
        judged=tuple(judged),
        standing={one.id: registration.status for one in registration.predictions},
    )


def _without_verdicts(
    registration: Registration,
    checks: Sequence[Check],
    runs: Runs,
    lock: str | None = None,
    events: tuple[str, ...] = (),
) -> Verification:
    return Verification(
        registration=registration, lock=lock, checks=tuple(checks), standing={}, events=events, study=runs.study
    )


def _evaluated(judged: Sequence[Judged]) -> Check:
    problems = [f"{one.prediction.id}: {one.reason.rstrip('.')}." for one in judged if one.verdict == NOT_EVALUATED]
    return check_of("predictions", problems, INCOMPLETE, f"{len(judged)} evaluated")


def _tier(
    anchors: Sequence[CheckedAnchor], registration: Registration, history: History, checks: Sequence[Check]
) -> str:
    if any(check.status == FAIL and check.code in (TAMPERED, ORDER) for check in checks):
        return "T0"
    if not stamped_before(anchors, history):
        return "T1"
    drawn = any(check.name == "queries" and check.status == OK for check in checks)
    return "T3" if registration.seed_source == FROM_LOCK and drawn else "T2"
