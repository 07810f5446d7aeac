"""The ledger: an append-only chain of lines, each with the digest of the line before, and the histories in it.

Each study keeps a note of the lines about it, so that cutting the ledger short shows.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aacbench.errors import AacbenchError, LockError
from aacbench.prereg.files import Files
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.util.atomic_io import make_folder, replace_file, storing, sync_folder, write_all
from aacbench.util.canonical import canonical, digest, pretty

LEDGER_TAG = "aacbench.prereg.ledger/1"
FIRST = "0" * 64  # the `previous` digest of the first line
# The facts that a line must have for each event, with their types; `cells` maps cell ids to digests.
_FACTS: dict[str, dict[str, type]] = {
    "lock": {"lock": str},
    "anchor": {"kind": str, "lock": str},
    "amend": {"lock": str, "reason": str, "difference": list},
    "run_start": {"lock": str, "study": str, "code": str},
    "run_end": {"lock": str, "start": str, "study": str, "root": str, "cells": dict},
    "abort": {"lock": str, "start": str},
    "deviate": {"what": list, "reason": str},
    "exploratory": {"predictions": list},
    "close": {"reason": str},
    "withdraw": {"reason": str},
}
EVENTS = tuple(_FACTS)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEYS = {"number", "time", "event", "registration", "facts", "previous", "digest"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: what happened when to which registration."""

    number: int
    time: str
    event: str
    registration: str
    facts: Mapping[str, Any]
    previous: str
    digest: str

    def line(self) -> bytes:
        return canonical({**_content(self), "digest": self.digest}) + b"\n"


@dataclass(frozen=True, slots=True)
class History:
    """The lines of one registration, in order."""

    entries: tuple[Entry, ...]

    def of(self, *events: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.event in events)

    @property
    def locked(self) -> Entry | None:
        return next(iter(self.of("lock")), None)

    @property
    def locks(self) -> tuple[Entry, ...]:
        """The lock and its amendments; the last one is in force."""
        return self.of("lock", "amend")

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests of the locks, oldest first."""
        return tuple(entry.facts["lock"] for entry in self.locks)

    @property
    def ended(self) -> Entry | None:
        return next(iter(self.of("close", "withdraw")), None)

    @property
    def declared(self) -> frozenset[str]:
        return frozenset(str(word) for entry in self.of("deviate") for word in entry.facts["what"])

    def seen(self, when: Entry) -> bool:
        """Whether results could have been seen before this line, because a run had begun."""
        return any(entry.number < when.number for entry in self.of("run_start"))


def history_of(entries: Sequence[Entry], registration: str) -> History:
    return History(tuple(entry for entry in entries if entry.registration == registration))


def make_entry(number: int, event: str, registration: str, facts: Mapping[str, Any], previous: str, time: str) -> Entry:
    bare = Entry(number, time, event, registration, facts, previous, "")
    return replace(bare, digest=digest(_content(bare), LEDGER_TAG))


def append(path: Path, event: str, registration: str, facts: Mapping[str, Any]) -> Entry:
    """Add a line and wait until it is on disk; a damaged ledger is refused."""
    assert event in EVENTS
    with storing(path.parent), _opened_exclusively(path) as descriptor:
        entries, problems = parse(path.read_bytes())
        if problems:
            raise LockError(f"{path} is damaged, so no line was added: {problems[0]}")
        last = entries[-1] if entries else None
        entry = make_entry(len(entries) + 1, event, registration, facts, last.digest if last else FIRST, _now(last))
        write_all(descriptor, entry.line())
        os.fsync(descriptor)
    return entry


def read_ledger(path: Path) -> tuple[list[Entry], list[str]]:
    try:
        return parse(path.read_bytes())
    except FileNotFoundError:
        return [], []


def parse(data: bytes) -> tuple[list[Entry], list[str]]:
    *lines, rest = data.split(b"\n")
    entries: list[Entry] = []
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        entry = _parsed(line)
        if entry is None:
            problems.append(f"line {number} of the ledger is not a valid entry.")
        else:
            problems += _damage(number, entry, entries[-1] if entries else None)
            entries.append(entry)
    if rest:
        problems.append("the last line of the ledger is cut short.")
    return entries, problems


def write_line(files: Files, event: str, registration: str, facts: Mapping[str, Any]) -> Entry:
    """Add a line to the ledger, and to the note in every study that the registration was run into."""
    entries, _ = read_ledger(files.ledger)
    entry = append(files.ledger, event, registration, facts)
    starts = history_of(entries, registration).of("run_start")
    for folder in dict.fromkeys(files.folder / str(start.facts["study"]) for start in starts):
        if folder.is_dir():
            write_note(folder, files, entry)
    return entry


def write_note(study: Path, files: Files, entry: Entry) -> None:
    line = {"number": entry.number, "event": entry.event, "registration": entry.registration, "digest": entry.digest}
    record = {"ledger": relative(files.ledger, study), "lines": [*noted_lines(study), line]}
    with storing(study):
        make_folder(study)
        replace_file(study / NOTE, pretty(record))


def noted_lines(study: Path) -> list[dict[str, Any]]:
    lines = _read_note(study).get("lines", [])
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise _unreadable_note(study)
    return lines


def studies_beside(files: Files) -> Iterator[Path]:
    """The studies of the project whose note names this ledger, including those the ledger does not mention."""
    for path in sorted((files.folder.parent / "studies").glob(f"*/{NOTE}")):
        try:
            ledger = _read_note(path.parent).get("ledger")
        except LockError:
            continue  # it cannot name a ledger; if a run names the study, the check of that run reports the note
        if isinstance(ledger, str) and (path.parent / ledger).resolve() == files.ledger.resolve():
            yield path.parent


def relative(path: Path, start: Path) -> str:
    """A path relative to another, so that both can move together."""
    return Path(os.path.relpath(path.resolve(), start.resolve())).as_posix()


def _damage(number: int, entry: Entry, before: Entry | None) -> Iterator[str]:
    try:
        intact = digest(_content(entry), LEDGER_TAG) == entry.digest
    except AacbenchError:  # such as NaN, which no line is written with
        intact = False
    if not intact:
        yield f"line {number} of the ledger was changed: its digest does not match its content."
    if entry.number != number:
        yield f"line {number} of the ledger was written as line {entry.number}: lines were removed or moved."
    if entry.previous != (before.digest if before else FIRST):
        yield f"line {number} of the ledger does not follow the line before it: the chain is broken there."
    if before and entry.time < before.time:
        yield f"line {number} of the ledger is earlier than the line before it."


def _parsed(line: bytes) -> Entry | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or set(values) != _KEYS or not isinstance(values["facts"], dict):
        return None
    texts = ("time", "event", "registration", "previous", "digest")
    if not all(isinstance(values[key], str) for key in texts) or not isinstance(values["number"], int):
        return None
    return Entry(**values) if _is_complete(values["event"], values["facts"]) else None


def _is_complete(event: str, facts: Mapping[str, Any]) -> bool:
    """Whether a line has the facts of its event, which readers rely on."""
    if event not in _FACTS or not all(isinstance(facts.get(key), kind) for key, kind in _FACTS[event].items()):
        return False
    digests = facts["cells"].values() if event == "run_end" else ()
    return all(isinstance(value, str) and _DIGEST.fullmatch(value) for value in digests)


def _content(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("number", "time", "event", "registration", "facts", "previous")}


@contextmanager
def _opened_exclusively(path: Path) -> Iterator[int]:
    """The open ledger, locked against other processes: two runs may end at the same time."""
    make_folder(path.parent)
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(path.parent)


def _now(last: Entry | None) -> str:
    """The time, but never before that of the last line: a clock may be set back."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return max(now, last.time) if last else now


def _read_note(study: Path) -> dict[str, Any]:
    try:
        record = json.loads((study / NOTE).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable_note(study) from error
    if not isinstance(record, dict) or "lines" not in record:
        raise _unreadable_note(study)
    return record


def _unreadable_note(study: Path) -> LockError:
    return LockError(f"{study / NOTE} was changed and cannot be read.")
