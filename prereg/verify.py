"""Verify: every check there is, then every verdict from the rows, then what all of it can prove."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aacbench.prereg import evaluate
from aacbench.prereg.anchors import anchor_checks, anchored_before
from aacbench.prereg.canonical import plain
from aacbench.prereg.checks import (
    FAIL,
    FALSIFIED_CODE,
    INCOMPLETE,
    INCONCLUSIVE_CODE,
    OK,
    ORDER,
    TAMPERED,
    Check,
    exit_code,
    unchecked,
    verdict_of,
)
from aacbench.prereg.confirmatory_status import Doubts, at_risk, standing
from aacbench.prereg.conformity import as_locked, clocks, code_of_runs, other_code
from aacbench.prereg.evaluate import Judged, Observations, Rows, forest, judge_all, judge_as_locked, reported
from aacbench.prereg.files import Files
from aacbench.prereg.history import History, history
from aacbench.prereg.key_diff import without_lock
from aacbench.prereg.ledger import Entry, read_ledger
from aacbench.prereg.lock import Lock
from aacbench.prereg.order import locks_of, order_checks
from aacbench.prereg.predictions import record
from aacbench.prereg.runs import Runs, first_of_each, one_a_place
from aacbench.prereg.schema import FROM_LOCK, Registration, read_registration
from aacbench.prereg.verdicts import FALSIFIED, INCONCLUSIVE, NOT_EVALUATED

TIERS = {
    "T0": "declared: somebody says so, and nothing here could show otherwise",
    "T1": "chained: changes after the lock would show, unless the whole ledger was made anew",
    "T2": "anchored: somebody else's clock saw the lock before the run began",
    "T3": "anchored and seeded: and the queries did not exist before the lock",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All that was found about a registration."""

    registration: Registration
    lock: str | None
    checks: tuple[Check, ...]
    judged: tuple[Judged, ...]
    standing: Mapping[str, str]  # of each prediction: confirmatory, exploratory or replication
    notes: tuple[str, ...] = ()  # what a reader of the verdicts must know beside them
    tier: str
    declared: tuple[str, ...] = ()  # deviations, with the reason that was given
    withdrawn: str = ""

    @property
    def code(self) -> int:
        """The exit code, whatever the verdicts."""
        return exit_code(self.checks)

    def gated(self) -> int:
        """The exit code where a prediction that did not survive is to stop a build."""
        found = [one.verdict for one in self.judged]
        if self.code:
            return self.code
        if any(verdict in FALSIFIED for verdict in found):
            return FALSIFIED_CODE
        return INCONCLUSIVE_CODE if INCONCLUSIVE in found else 0

    def record(self) -> dict[str, Any]:
        """Everything for a script."""
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
            "notes": list(self.notes),
            "checks": [asdict(check) for check in self.checks],
            "predictions": [
                {**evaluate.record(one), "standing": self.standing[one.prediction.id]} for one in self.judged
            ],
            "forest": [asdict(row) for row in forest(self.judged)],
        }


def verify(files: Files, study: Path | None = None) -> Verification:
    """Look at everything; only what cannot be read as a registration at all is an error."""
    registration = read_registration(files.toml)
    entries, problems = read_ledger(files.ledger)
    past = history(entries, registration.id)
    if registration.published is not None:
        return _replication(registration, registration.published)
    chain = verdict_of("ledger", problems, TAMPERED, f"{len(entries)} lines, each with the digest of the one before")
    if past.locked is None:
        missing = Check("lock", FAIL, "it is not locked.", TAMPERED if files.locks() else INCOMPLETE)
        return _bare(registration, [chain, missing])
    checks = [chain, *order_checks(past)]
    locks, lock_checks = locks_of(files, registration, past)
    checks += lock_checks
    if not locks:
        return _bare(registration, checks)
    lock = locks[past.digests[-1]]
    runs = Runs(files, past, study)
    checks += runs.checks()
    cells = first_of_each(runs.cells())
    conformity, matched = as_locked(registration, lock, past, cells)
    checks += [*conformity, clocks(locks, runs), code_of_runs(locks, past)]
    checks += anchor_checks(files, registration, past, locks)
    if exit_code(checks) in (TAMPERED, ORDER):  # a verdict on rows that are not what they were would lend them weight
        return _bare(registration, checks, lock.digest)
    used = one_a_place(reported(cells))
    keys = [without_lock(cell.key) for cell in used]
    doubts = Doubts(
        cells=[one for one in matched.deviating if one.key in keys],
        code=bool(other_code(locks, past)),
        again=bool(runs.disagreements()),
    )
    known = standing(files, registration, entries, past, locks, doubts)
    judged = judge_all(registration, Rows(used))
    withdrawn = next((str(line.facts.get("reason")) for line in past.of("withdraw")), "")
    if not withdrawn:
        checks.append(_evaluated(judged))
    return Verification(
        registration=registration,
        lock=lock.digest,
        checks=tuple(checks),
        judged=tuple(judged),
        standing=known.of,
        notes=(*known.notes, *_as_first_run(registration, past, locks, Rows(used))),
        tier=_tier(files, registration, past, checks),
        declared=tuple(_declared(line, past) for line in past.of("deviate")),
        withdrawn=withdrawn,
    )


def _declared(line: Entry, past: History) -> str:
    when = " (after results could have been seen)" if past.seen(line) else ""
    return f"{', '.join(line.facts['what'])}: {line.facts['reason']}{when}"


def _as_first_run(registration: Registration, past: History, locks: Mapping[str, Lock], rows: Rows) -> Iterator[str]:
    """What became of predictions that were amended or taken out when results could have been seen."""
    lock = at_risk(past, locks)
    if lock is None:
        return
    now = {one.id: plain(record(one)) for one in registration.predictions}
    before = {one["id"]: one for one in lock.registration["prediction"]}
    for one in judge_as_locked(lock, registration, rows):
        name = one.prediction.id
        if now.get(name) != before[name]:
            word = "was amended" if name in now else "was taken out"
            yield f"{name} {word} after a run had begun; as it was then: {one.verdict}."


def _replication(registration: Registration, published: Any) -> Verification:
    judged = judge_all(registration, Observations(published))
    note = f"observations as published, not rows: {published.source}"
    return Verification(
        registration=registration,
        lock=None,
        checks=(unchecked("rows", note), _evaluated(judged)),
        judged=tuple(judged),
        standing={one.id: registration.status for one in registration.predictions},
        tier="T0",
    )


def _bare(registration: Registration, checks: Sequence[Check], lock: str | None = None) -> Verification:
    return Verification(registration=registration, lock=lock, checks=tuple(checks), judged=(), standing={}, tier="T0")


def _evaluated(judged: Sequence[Judged]) -> Check:
    without = [f"{one.prediction.id}: {one.reason}." for one in judged if one.verdict == NOT_EVALUATED]
    return verdict_of("predictions", without, INCOMPLETE, f"{len(judged)} evaluated")


def _tier(files: Files, registration: Registration, past: History, checks: Sequence[Check]) -> str:
    """The highest tier that is shown, and never one above it."""
    if any(check.status == FAIL and check.code in (TAMPERED, ORDER) for check in checks):
        return "T0"
    if not anchored_before(files, past):
        return "T1"
    drawn = any(check.name == "queries" and check.status == OK for check in checks)
    return "T3" if registration.seed_source == FROM_LOCK and drawn else "T2"
