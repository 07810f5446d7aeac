"""The exact changes that a run makes, or would make now, to what was locked; a deviation declares some of them."""

from collections.abc import Iterable, Iterator

from aacbench.prereg.history import History
from aacbench.prereg.key_diff import CODE, QUERIES, Change, match
from aacbench.prereg.lock import Lock


def changes_between(lock: Lock, now: Lock) -> Iterator[Change]:
    """What a run would do otherwise than locked, by a lock of the same registration made now."""
    for one in match(lock, [cell["key"] for cell in now.cells]).deviating:
        yield from one.changes
    yield from code_changes(lock, now.body["code"]["tree"])


def code_changes(lock: Lock, tree: str) -> list[Change]:
    locked = lock.body["code"]["tree"]
    return [] if tree == locked else [Change(CODE, "tree", locked, tree)]


def public_changes(history: History, public: str | None) -> list[Change]:
    """Whether queries would be drawn again, from another public text than that of the first run with results."""
    first = next((run.start.facts.get("public") for run in history.showing), public)
    return [] if public == first else [Change(QUERIES, "public", first, public)]


def distinct(changes: Iterable[Change]) -> list[Change]:
    return list({change.identity: change for change in changes}.values())
