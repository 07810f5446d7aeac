"""The other registrations of a ledger, and whether they are about the same cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.errors import LockError
from aacbench.prereg.amend import ENDED
from aacbench.prereg.files import Files
from aacbench.prereg.history import History, Run, history_of
from aacbench.prereg.ledger import Entry
from aacbench.prereg.lock import Lock, read_lock
from aacbench.run.records import BASELINE, TEST
from aacbench.util.canonical import canonical
from aacbench.util.text import one_line

Result = tuple[Any, ...]  # what a result is about: a method with its parameters on a graph, with these queries


@dataclass(frozen=True)
class Other:
    """Another registration of the ledger; one whose lock file is missing or changed counts as about the same cells."""

    id: str
    history: History
    locks: Mapping[str, Lock | None]

    def shares(self, lock: Lock) -> bool:
        """Whether it is about one of the same methods on the same graph, with whatever queries."""
        mine = set(_subjects(lock))
        return any(other is None or mine & set(_subjects(other)) for other in self.locks.values())

    def results(self, run: Run) -> set[Result] | None:
        """What its run was about, or None if that is not known any more."""
        lock = self.locks.get(run.start.facts["lock"])
        if lock is None:
            return None
        return {result_of(cell["key"]) for cell in lock.cells if cell["key"]["query_digests"] is not None}

    @property
    def sentence(self) -> str:
        assert self.history.locked is not None
        told = f"locked in line {self.history.locked.number}"
        runs = ", ".join(str(run.start.number) for run in self.history.showing)
        told += f", run in line {runs}" if runs else ", not run"
        if self.history.ended is not None:
            reason = one_line(str(self.history.ended.facts["reason"]))
            told += f", {ENDED[self.history.ended.event]} in line {self.history.ended.number}: {reason}"
        gone = "" if all(self.locks.values()) else "; its lock file is missing or changed, so it counts as being so"
        return f"Another registration of the ledger is about the same cells: {one_line(self.id)} ({told}){gone}."


def others_of(files: Files, registration: str, entries: Sequence[Entry]) -> Iterator[Other]:
    """Every other registration that was ever locked in the ledger, withdrawn ones included."""
    for name in dict.fromkeys(entry.registration for entry in entries if entry.event == "lock"):
        if name != registration:
            history = history_of(entries, name)
            yield Other(name, history, {digest: _read(files.beside(name), digest) for digest in history.digests})


def result_of(key: Mapping[str, Any]) -> Result:
    # Not the label: it may or may not write out a default.
    return *_subject(key), (key["query_digests"] or {}).get(TEST)


def _subjects(lock: Lock) -> Iterator[Result]:
    return (_subject(cell["key"]) for cell in lock.cells if cell["key"]["label"] != BASELINE)


def _subject(key: Mapping[str, Any]) -> Result:
    return key["graph_digest"], key["method"], canonical(key["params"])


def _read(files: Files, digest: str) -> Lock | None:
    try:
        lock = read_lock(files.lock(digest))
    except LockError:
        return None
    return lock if lock.digest == digest else None
