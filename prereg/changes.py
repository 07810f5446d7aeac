"""The exact changes that a run makes, or would make now, to what was locked; a deviation declares some of them."""

from collections.abc import Iterable, Iterator, Mapping

from aacbench.prereg.history import History
from aacbench.prereg.key_diff import CODE, PLUGIN, QUERIES, Change, Key, match
from aacbench.prereg.lock import Lock


def changes_between(lock: Lock, now: Lock) -> Iterator[Change]:
    """What a run would do otherwise than locked, by a lock of the same registration made now."""
    for one in match(lock, [cell["key"] for cell in now.cells]).deviating:
        yield from one.changes
    yield from code_changes(lock, now.body["code"]["tree"])
    yield from plugin_changes(lock, now.body["plugins"])


def code_changes(lock: Lock, tree: str) -> list[Change]:
    locked = lock.body["code"]["tree"]
    return [] if tree == locked else [Change(CODE, "tree", locked, tree)]


def plugin_changes(lock: Lock, beside: Mapping[str, str]) -> list[Change]:
    """The plugins without a planned method that were not loaded, or were others, when the registration was locked."""
    locked = lock.body.get("plugins", {})
    return [
        Change(PLUGIN, f"loaded {name}", locked.get(name), digest)
        for name, digest in beside.items()
        if locked.get(name) != digest
    ]


def loaded_beside(loaded: Mapping[str, str], keys: Iterable[Key]) -> dict[str, str]:
    """The plugins that no planned cell is computed with, by name with their digests: their code runs all the same."""
    used = {digest for key in keys for digest in (key["plugin_digest"], *key.get("part_digests", {}).values())}
    return {name: digest for name, digest in loaded.items() if digest not in used}


def public_changes(history: History, public: str | None) -> list[Change]:
    """Whether queries would be drawn again, from another public text than that of the first run with results."""
    first = next((run.start.facts.get("public") for run in history.showing), public)
    return [] if public == first else [Change(QUERIES, "public", first, public)]


def distinct(changes: Iterable[Change]) -> list[Change]:
    return list({change.identity: change for change in changes}.values())
