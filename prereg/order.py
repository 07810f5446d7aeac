"""Whether things happened in the order in which they must, and the locks are those that the ledger names."""

from aacbench.errors import LockError
from aacbench.prereg.amend import same_as_locked
from aacbench.prereg.checks import ORDER, TAMPERED, Check, verdict_of
from aacbench.prereg.files import Files
from aacbench.prereg.history import History
from aacbench.prereg.lock import Lock, read_lock
from aacbench.prereg.schema import Registration


def order_checks(past: History) -> list[Check]:
    """Whether things happened in the order in which they must."""
    assert past.locked is not None
    problems = [
        f"line {line.number} ({line.event}) comes before the lock in line {past.locked.number}."
        for line in past.entries
        if line.number < past.locked.number
    ]
    problems += [f"line {line.number} locks it a second time." for line in past.of("lock")[1:]]
    known: set[str] = set()
    for line in past.entries:
        if line.event in ("lock", "amend"):
            known.add(str(line.facts.get("lock")))
        elif "lock" in line.facts and line.facts["lock"] not in known:
            problems.append(f"line {line.number} ({line.event}) is under a lock that was not there yet.")
        if past.ended and line.number > past.ended.number and line.event not in ("anchor", "close", "withdraw"):
            problems.append(f"line {line.number} ({line.event}) comes after the registration ended.")
    claims = [
        f"line {line.number} says that it was amended before results were seen, but a run had begun by then."
        for line in past.of("amend")
        if past.seen(line) and line.facts.get("seen") is not True
    ]
    return [
        verdict_of("order", problems, ORDER, "locked before anything else"),
        verdict_of("amendments", claims, ORDER, f"{len(past.of('amend'))}, and what was seen by then is as they say"),
    ]


def locks_of(files: Files, registration: Registration, past: History) -> tuple[dict[str, Lock], list[Check]]:
    """Every lock by its digest, or none where one of them is not as it was written."""
    found: dict[str, Lock] = {}
    problems = []
    for line in past.locks:
        digest = str(line.facts.get("lock"))
        try:
            lock = read_lock(files.lock(digest))
        except LockError as error:
            problems.append(str(error))
            continue
        if lock.digest != digest:
            problems.append(f"the lock file {files.lock(digest).name} is not the one that line {line.number} names.")
        found[digest] = lock
    named = [files.lock(str(line.facts["lock"])) for line in past.locks]
    for path in files.locks():
        if path not in named:
            problems.append(f"the lock file {path.name} is in no line of the ledger: lines were removed.")
    checks = [verdict_of("lock", problems, TAMPERED, f"{past.digests[-1][:8]}, as its ledger names it")]
    if problems:
        return {}, checks
    changed = [
        f"the file says {one['key']} = {one['after']!r}, and {one['before']!r} was locked."
        for one in same_as_locked(registration, found[past.digests[-1]])
    ]
    return found, [*checks, verdict_of("registration", changed, TAMPERED, "the file says what was locked")]
