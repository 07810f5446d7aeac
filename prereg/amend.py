"""Locking and amending a registration: the new lock, the difference, the reason, and whether results had been seen."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aacbench.errors import LockError, UsageError
from aacbench.prereg.files import Files
from aacbench.prereg.history import History, history_of
from aacbench.prereg.ledger import Entry, read_ledger
from aacbench.prereg.lock import Lock, read_lock, write_lock
from aacbench.prereg.notes import check_not_cut_off, write_line
from aacbench.prereg.schema import Registration
from aacbench.util.canonical import plain

# These may change without changing the meaning of any prediction.
WORDS_ONLY = ("title", "prior_exposure", "power", "anchors")
ENDED = {"close": "closed", "withdraw": "withdrawn"}

MakeLock = Callable[[Registration], Lock]


def lock_registration(files: Files, registration: Registration, make: MakeLock) -> tuple[Lock, Entry]:
    if sound_history(files, registration.id).locked is not None:
        raise UsageError(f"{registration.id} is locked already; to change it, edit it and use `aacbench prereg amend`.")
    lock = make(registration)
    facts = {"lock": lock.digest, "registration_digest": registration.digest}
    with _written(files, lock):
        return lock, write_line(files, "lock", registration.id, facts)


def amend_registration(files: Files, registration: Registration, reason: str, make: MakeLock) -> tuple[Lock, Entry]:
    """Lock the file as it is now in place of the lock in force; nothing of the past is removed."""
    history = open_history(files, registration.id)
    before = current_lock(files, history)
    changes = changes_since(registration, before)
    if not changes:
        raise UsageError(f"{files.toml} is the same as its lock, so there is nothing to amend.")
    lock = make(registration)
    seen = bool(history.showing)
    late = sorted(affected_predictions(before, lock)) if seen else []
    facts = {
        "lock": lock.digest,
        "amends": before.digest,
        "registration_digest": registration.digest,
        "reason": reason,
        "difference": changes,
        "seen": seen,
    }
    with _written(files, lock):
        entry = write_line(files, "amend", registration.id, facts)
    if late:
        write_line(files, "exploratory", registration.id, {"predictions": late, "because": entry.digest})
    return lock, entry


@contextmanager
def _written(files: Files, lock: Lock) -> Iterator[None]:
    """The lock's file, removed again if its line cannot be written: a command that fails has written nothing."""
    path = files.lock(lock.digest)
    write_lock(path, lock)
    try:
        yield
    except BaseException:
        if lock.digest not in {entry.facts.get("lock") for entry in read_ledger(files.ledger).entries}:
            path.unlink(missing_ok=True)
        raise


def sound_history(files: Files, registration: str) -> History:
    """The history of a registration; a damaged ledger is refused."""
    ledger = read_ledger(files.ledger)
    if ledger.problems:
        raise LockError(
            f"{files.ledger} is damaged: {ledger.problems[0]} `aacbench prereg verify` reports all problems."
        )
    check_not_cut_off(files, ledger.entries)
    return history_of(ledger.entries, registration)


def open_history(files: Files, registration: str) -> History:
    """The history of a registration that is locked and neither closed nor withdrawn."""
    history = sound_history(files, registration)
    if history.locked is None:
        raise UsageError(f"{files.toml} is not locked yet; use `aacbench prereg lock`.")
    if history.ended is not None:
        word, day = ENDED[history.ended.event], history.ended.time[:10]
        raise UsageError(f"{registration} was {word} on {day}; start a new registration.")
    return history


def current_lock(files: Files, history: History) -> Lock:
    path = files.lock(history.digests[-1])
    lock = read_lock(path)
    if lock.digest != history.digests[-1]:
        raise LockError(f"The lock file {path.name} is not the one in the ledger.")
    return lock


def unchanged_lock(files: Files, registration: Registration, history: History) -> Lock:
    """The lock in force, if the file is still as it was locked."""
    lock = current_lock(files, history)
    changed = changes_since(registration, lock)
    if changed:
        raise LockError(
            f"{files.toml} was changed after it was locked, in {', '.join(one['key'] for one in changed)}; restore it, "
            f"or use `aacbench prereg amend`."
        )
    return lock


def affected_predictions(before: Lock, after: Lock) -> set[str]:
    """The ids of the predictions with another meaning under the second lock, by text, methods, data, cells or code."""
    if any(before.body.get(name) != after.body.get(name) for name in ("methods", "plugins", "data", "cells", "code")):
        return {one["id"] for one in after.registration["prediction"]}
    return reworded_predictions(before.registration, after.registration)


def reworded_predictions(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """The ids of the predictions whose own text changed, or all of them if how they are run or judged changed."""
    old = {one["id"]: one for one in before["prediction"]}
    new = {one["id"]: one for one in after["prediction"]}
    shared = [name for name in after if name not in (*WORDS_ONLY, "prediction")]
    if any(before.get(name) != after[name] for name in shared):
        return set(new)
    return {name for name, one in new.items() if old.get(name) != one}


def changes_since(registration: Registration, lock: Lock) -> list[dict[str, Any]]:
    return list(differences(lock.registration, plain(registration.record())))


def differences(before: Any, after: Any, key: str = "") -> Iterator[dict[str, Any]]:
    """Every value that differs, by its key; entries of lists are named by their ids where they have one."""
    before, after = _by_name(before), _by_name(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            yield from differences(before.get(name), after.get(name), f"{key}.{name}" if key else str(name))
    elif before != after:
        yield {"key": key, "before": before, "after": after}


def _by_name(value: Any) -> Any:
    """A list of named tables as a mapping, so that an inserted table does not shift the others."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and _name(one) for one in value):
        names = [_name(one) for one in value]
        if len(set(names)) == len(names):
            return dict(zip(names, value, strict=True))
    return value


def _name(table: Mapping[str, Any]) -> str:
    return str(table.get("id") or table.get("name") or "")
