"""The lines of one registration in the ledger: its locks, its runs with their cells, and what was declared when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aacbench.prereg.ledger import Entry
from aacbench.util.canonical import canonical


@dataclass(frozen=True)
class Run:
    """One run: the line of its start, those of its cells in order, and that of its end or abort if there is one."""

    start: Entry
    cells: tuple[Entry, ...]
    end: Entry | None
    abort: Entry | None

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The digest of each cell that the run recorded, by cell id; without any, it showed no result."""
        entered = {line.facts["cell"]: line.facts["digest"] for line in self.cells}
        return entered | (self.end.facts["cells"] if self.end else {})


@dataclass(frozen=True)
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
    def amendments(self) -> tuple[tuple[str, Entry], ...]:
        """The digest of the lock before each amendment, and its line."""
        return tuple(zip(self.digests, self.locks[1:], strict=False))

    @property
    def ended(self) -> Entry | None:
        return next(iter(self.of("close", "withdraw")), None)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        ends = {line.facts["start"]: line for line in self.of("run_end")}
        aborts = {line.facts["start"]: line for line in self.of("abort")}
        cells: dict[str, list[Entry]] = {}
        for line in self.of("cell"):
            cells.setdefault(line.facts["start"], []).append(line)
        return tuple(
            Run(start, tuple(cells.get(start.digest, ())), ends.get(start.digest), aborts.get(start.digest))
            for start in self.of("run_start")
        )

    @property
    def showing(self) -> tuple[Run, ...]:
        """The runs that recorded a cell, whose results could be seen; a start without one changes no verdict."""
        return tuple(run for run in self.runs if run.digests)

    def seen(self, when: Entry) -> bool:
        """Whether results could have been seen before this line."""
        return any(run.start.number < when.number for run in self.showing)

    def declared(self, early: bool = False) -> frozenset[bytes]:
        """The changes that were declared; with `early`, only those declared before results could be seen."""
        lines = [line for line in self.of("deviate") if not (early and self.seen(line))]
        return frozenset(canonical(change) for line in lines for change in changes_in(line))


def changes_in(line: Entry) -> list[Any]:
    """The exact changes that a deviation declares; one that names none covers nothing."""
    changes = line.facts.get("changes", [])
    return changes if isinstance(changes, list) else []


def history_of(entries: Sequence[Entry], registration: str) -> History:
    return History(tuple(entry for entry in entries if entry.registration == registration))
