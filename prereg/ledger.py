"""The ledger: an append-only chain of lines, each with the digest of the one before."""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aacbench.errors import LockError
from aacbench.prereg.canonical import canonical, digest
from aacbench.util.atomic_io import make_folder, storing, sync_folder, write_all

TAG = "aacbench.prereg.ledger/1"
FIRST = "0" * 64  # what the first line says of the line before it
# What a line about each event must tell, and of what type; `cells` are digests by cell.
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
        """The line as it is written."""
        return canonical({**_content(self), "digest": self.digest}) + b"\n"


def entry(number: int, event: str, registration: str, facts: Mapping[str, Any], previous: str, time: str) -> Entry:
    """A line with its digest."""
    bare = Entry(number, time, event, registration, facts, previous, "")
    return Entry(number, time, event, registration, facts, previous, digest(_content(bare), TAG))


def append(path: Path, event: str, registration: str, facts: Mapping[str, Any]) -> Entry:
    """Write one more line and wait until it is on disk; a ledger that is broken is not written on."""
    assert event in EVENTS
    with storing(path.parent), _held(path) as descriptor:
        entries, problems = parse(_contents(descriptor))
        if problems:
            raise LockError(f"{path} is not as it was written, so nothing is added: {problems[0]}")
        last = entries[-1] if entries else None
        made = entry(len(entries) + 1, event, registration, facts, last.digest if last else FIRST, _now(last))
        write_all(descriptor, made.line())
        os.fsync(descriptor)
    return made


def read_ledger(path: Path) -> tuple[list[Entry], list[str]]:
    """Every line that can be read, and a sentence about each that is not as it was written."""
    try:
        return parse(path.read_bytes())
    except FileNotFoundError:
        return [], []


def parse(data: bytes) -> tuple[list[Entry], list[str]]:
    """The lines of a ledger and what is wrong with them."""
    *lines, rest = data.split(b"\n")
    entries, problems = [], []
    for number, line in enumerate(lines, 1):
        found = _parsed(line)
        if found is None:
            problems.append(f"line {number} of the ledger is no entry.")
        else:
            entries.append(found)
            problems += _broken(number, found, entries[:-1])
    if rest:
        problems.append("the last line of the ledger is cut short.")
    return entries, problems


def _broken(number: int, found: Entry, before: Sequence[Entry]) -> Iterator[str]:
    expected = before[-1].digest if before else FIRST
    if digest(_content(found), TAG) != found.digest:
        yield f"line {number} of the ledger was changed: its digest is not that of what it says."
    if found.number != number:
        yield f"line {number} of the ledger was written as line {found.number}: lines were removed or moved."
    if found.previous != expected:
        yield f"line {number} of the ledger does not follow the line before it: the chain is broken there."
    if before and found.time < before[-1].time:
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
    return Entry(**values) if _is_whole(values["event"], values["facts"]) else None


def _is_whole(event: str, facts: Mapping[str, Any]) -> bool:
    """Whether a line tells what one about its event must: readers take that for granted."""
    if event not in _FACTS or not all(isinstance(facts.get(key), kind) for key, kind in _FACTS[event].items()):
        return False
    leaves = facts["cells"].values() if event == "run_end" else ()
    return all(isinstance(leaf, str) and _DIGEST.fullmatch(leaf) for leaf in leaves)


def _content(found: Entry) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("number", "time", "event", "registration", "facts", "previous")}


@contextmanager
def _held(path: Path) -> Iterator[int]:
    """The ledger opened for this process alone: two runs may end at the same time."""
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


def _contents(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return file.read()


def _now(last: Entry | None) -> str:
    """The time, never before that of the last line: a clock may be set back."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return max(now, last.time) if last else now
