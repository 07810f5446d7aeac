"""What the ledger tells about one registration: its locks, its runs, and what had been seen when."""

from collections.abc import Sequence
from dataclasses import dataclass

from aacbench.prereg.ledger import Entry


@dataclass(frozen=True, slots=True)
class History:
    """The lines of one registration, in order."""

    entries: tuple[Entry, ...]

    def of(self, *events: str) -> tuple[Entry, ...]:
        """The lines about these events."""
        return tuple(found for found in self.entries if found.event in events)

    @property
    def locked(self) -> Entry | None:
        """The first lock."""
        return next(iter(self.of("lock")), None)

    @property
    def locks(self) -> tuple[Entry, ...]:
        """The lock and every amendment of it; the last is in force."""
        return self.of("lock", "amend")

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests of the locks, the oldest first."""
        return tuple(str(found.facts.get("lock")) for found in self.locks)

    @property
    def ended(self) -> Entry | None:
        """The line that closed or withdrew it."""
        return next(iter(self.of("close", "withdraw")), None)

    @property
    def declared(self) -> frozenset[str]:
        """What was said to have been done otherwise than locked."""
        return frozenset(str(word) for found in self.of("deviate") for word in found.facts.get("what", ()))

    def seen(self, when: Entry) -> bool:
        """Whether results could have been seen by then: a run had begun."""
        return any(found.number < when.number for found in self.of("run_start"))


def history(entries: Sequence[Entry], registration: str) -> History:
    """The history of one registration."""
    return History(tuple(found for found in entries if found.registration == registration))
