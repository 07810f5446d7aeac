"""Locking, and changing what was locked: with the new whole, the difference, a reason, and what had been seen."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aacbench.errors import LockError, UsageError
from aacbench.prereg.files import Files
from aacbench.prereg.history import History, history
from aacbench.prereg.ledger import Entry, read_ledger
from aacbench.prereg.lock import Lock, read_lock, write_lock
from aacbench.prereg.note import write_line
from aacbench.prereg.schema import Registration
from aacbench.util.canonical import plain

# What may change without touching what a prediction says: words about the registration, and not of it.
WORDS_ONLY = ("title", "prior_exposure", "power", "anchors")

MakeLock = Callable[[Registration], Lock]


def lock_registration(files: Files, registration: Registration, make: MakeLock) -> tuple[Lock, Entry]:
    """Lock it and write the first line of its ledger."""
    past = sound_history(files, registration.id)
    if past.locked is not None:
        raise UsageError(f"{registration.id} is locked already; to change it, edit it and use `aacbench prereg amend`.")
    lock = make(registration)
    write_lock(files.lock(lock.digest), lock)
    facts = {"lock": lock.digest, "registration_digest": registration.digest}
    return lock, write_line(files, "lock", registration.id, facts)


def amend_registration(files: Files, registration: Registration, reason: str, make: MakeLock) -> tuple[Lock, Entry]:
    """Put the file as it is now in the place of what was locked; nothing of the past is removed."""
    past = open_history(files, registration.id)
    before = current_lock(files, past)
    after = plain(registration.record())
    changes = list(differences(before.registration, after))
    if not changes:
        raise UsageError(f"{files.toml} says what is locked, so there is nothing to amend.")
    lock = make(registration)
    write_lock(files.lock(lock.digest), lock)
    seen = bool(past.of("run_start"))
    late = sorted(touched_by(before, lock)) if seen else []
    facts = {
        "lock": lock.digest,
        "amends": before.digest,
        "registration_digest": registration.digest,
        "reason": reason,
        "difference": changes,
        "seen": seen,
    }
    made = write_line(files, "amend", registration.id, facts)
    if late:
        write_line(files, "exploratory", registration.id, {"predictions": late, "because": made.digest})
    return lock, made


def sound_history(files: Files, registration: str) -> History:
    """What the ledger tells of a registration, if it is as it was written."""
    entries, problems = read_ledger(files.ledger)
    if problems:
        raise LockError(f"{files.ledger}: {problems[0]} `aacbench prereg verify` tells more.")
    return history(entries, registration)


def open_history(files: Files, registration: str) -> History:
    """The same, of a registration that is locked and neither closed nor withdrawn."""
    past = sound_history(files, registration)
    if past.locked is None:
        raise UsageError(f"{files.toml} is not locked yet; use `aacbench prereg lock`.")
    if past.ended is not None:
        word = {"close": "closed", "withdraw": "withdrawn"}[past.ended.event]
        raise UsageError(f"{registration} was {word} on {past.ended.time[:10]}; begin another one.")
    return past


def current_lock(files: Files, past: History) -> Lock:
    """The lock in force."""
    found = read_lock(files.lock(past.digests[-1]))
    if found.digest != past.digests[-1]:
        raise LockError(f"the lock file {files.lock(past.digests[-1]).name} is not the one that the ledger names.")
    return found


def touched_by(before: Lock, after: Lock) -> set[str]:
    """The predictions whose meaning is another under the second lock: by words, or by methods, data, cells or code."""
    if any(before.body[name] != after.body[name] for name in ("methods", "data", "cells", "code")):
        return {one["id"] for one in after.registration["prediction"]}
    return touched(before.registration, after.registration)


def touched(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """The predictions whose meaning a change alters: their own words, or how all of them are run and judged."""
    old = {one["id"]: one for one in before["prediction"]}
    new = {one["id"]: one for one in after["prediction"]}
    shared = [name for name in after if name not in (*WORDS_ONLY, "prediction")]
    if any(before.get(name) != after[name] for name in shared):
        return set(new)
    return {name for name, one in new.items() if old.get(name) != one}


def differences(before: Any, after: Any, key: str = "") -> Iterator[dict[str, Any]]:
    """Every value that is not the same, by its key; predictions and the like are told by their ids."""
    before, after = _by_name(before), _by_name(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            yield from differences(before.get(name), after.get(name), f"{key}.{name}" if key else str(name))
    elif before != after:
        yield {"key": key, "before": before, "after": after}


def _by_name(value: Any) -> Any:
    """A list of tables with names as a table of them, so that one more does not seem to change the others."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and _name(one) for one in value):
        names = [_name(one) for one in value]
        if len(set(names)) == len(names):
            return dict(zip(names, value, strict=True))
    return value


def _name(table: Mapping[str, Any]) -> str:
    return str(table.get("id") or table.get("name") or "")


def same_as_locked(registration: Registration, lock: Lock) -> list[dict[str, Any]]:
    """What the file says otherwise than its lock."""
    return list(differences(lock.registration, plain(registration.record())))
