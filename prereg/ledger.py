"""The ledger: an append-only chain of lines, each with the digest of the line before."""

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from aacbench.errors import AacbenchError, LockError
from aacbench.util.atomic_io import append_all, make_folder, storing, sync_folder
from aacbench.util.canonical import canonical, digest, parse_json
from aacbench.util.input_file import read_input

LEDGER_TAG = "aacbench.prereg.ledger/1"
FIRST = "0" * 64  # the `previous` digest of the first line
_CELL = ("lock", "start", "cell", "digest", "outcome", "result", "label", "place")
# The facts that a line must have for each event, with their types; `cells` maps cell ids to digests.
_FACTS: dict[str, dict[str, type]] = {
    "lock": {"lock": str},
    "anchor": {"kind": str, "lock": str},
    "amend": {"lock": str, "reason": str, "difference": list},
    "run_start": {"lock": str, "study": str, "code": str},
    "cell": dict.fromkeys(_CELL, str),
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


class Ledger(NamedTuple):
    """The lines of a ledger, what is wrong with them, and whether a last one without its end was left out.

    A line is written with its end. One without was never reported as written: the command was killed, or its disk was
    full. The next line takes its place. If a line that had been written was cut, the note in its study shows it.
    """

    entries: list[Entry]
    problems: list[str]
    torn: bool = False


def make_entry(number: int, event: str, registration: str, facts: Mapping[str, Any], previous: str, time: str) -> Entry:
    bare = Entry(number, time, event, registration, facts, previous, "")
    return replace(bare, digest=digest(_content(bare), LEDGER_TAG))


def append(path: Path, event: str, registration: str, facts: Mapping[str, Any]) -> Entry:
    """Add a line and wait until it is on disk; if that fails, nothing is added. A damaged ledger is refused."""
    assert event in EVENTS
    with storing(path.parent), _opened_exclusively(path) as descriptor:
        length, last = _intact(path, descriptor)
        number, previous = (last.number + 1, last.digest) if last else (1, FIRST)
        entry = make_entry(number, event, registration, facts, previous, _now(last))
        os.ftruncate(descriptor, length)  # a torn line
        append_all(descriptor, entry.line())
        _LEFT[path.resolve()] = length + len(entry.line()), entry
    return entry


def read_ledger(path: Path) -> Ledger:
    try:
        return parse(read_input(path))
    except FileNotFoundError:
        return Ledger([], [])
    except OSError as error:
        return Ledger([], [f"the ledger cannot be read ({error.strerror}); restore it."])


def parse(data: bytes) -> Ledger:
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
    return Ledger(entries, problems, bool(rest))


_LEFT: dict[Path, tuple[int, Entry]] = {}  # the length of a ledger as this process left it, and its last line


def _intact(path: Path, descriptor: int) -> tuple[int, Entry | None]:
    """The length of the ledger without a torn line, and its last line; it is parsed unless this process wrote that."""
    length = os.fstat(descriptor).st_size
    left, last = _LEFT.get(path.resolve(), (0, None))
    if last and left == length and os.pread(descriptor, length, length - len(last.line())) == last.line():
        return length, last
    data = path.read_bytes()
    entries, problems, _ = parse(data)
    if problems:
        raise LockError(f"{path} is damaged, so no line was added: {problems[0]}")
    return data.rfind(b"\n") + 1, entries[-1] if entries else None


def _damage(number: int, entry: Entry, before: Entry | None) -> Iterator[str]:
    if digest(_content(entry), LEDGER_TAG) != entry.digest:
        yield f"line {number} of the ledger was changed: its digest does not match its content."
    if entry.number != number:
        yield f"line {number} of the ledger was written as line {entry.number}: lines were removed or moved."
    if entry.previous != (before.digest if before else FIRST):
        yield f"line {number} of the ledger does not follow the line before it: the chain is broken there."
    if before and entry.time < before.time:
        yield f"line {number} of the ledger is earlier than the line before it."


def _parsed(line: bytes) -> Entry | None:
    """The entry of a line, or None unless the line is just as an entry is written."""
    try:
        values = parse_json(line)
        if not isinstance(values, dict) or set(values) != _KEYS or not isinstance(values["facts"], dict):
            return None
        texts = ("time", "event", "registration", "previous", "digest")
        if not all(isinstance(values[key], str) for key in texts) or not isinstance(values["number"], int):
            return None
        entry = Entry(**values)
        as_written = entry.line() == line + b"\n"
    except (ValueError, RecursionError, AacbenchError):
        return None
    return entry if as_written and _is_complete(entry.event, entry.facts) else None


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
