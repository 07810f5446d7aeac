"""Compare the keys of cells with the locked keys: same, deviating in what, or missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.prereg.lock import Lock
from aacbench.run.records import CHOSEN, TEST
from aacbench.util.canonical import canonical, plain

Key = Mapping[str, Any]

# The word of `--what` for each field of a key.
WORDS = {
    "graph": "graph",
    "graph_digest": "data",
    "query_digests": "queries",
    "method": "method",
    "label": "method",
    "plugin_digest": "plugin",
    "part_digests": "plugin",
    "params": "parameters",
    "budget": "budget",
    "convention": "convention",
    "seed": "seed",
    "policy": "policy",
    "splits": "split",
    "role": "split",
    "engine": "engine",
    "protocol": "protocol",
}
CODE, AGAIN, QUERIES = "code", "again", "queries"
WHAT = (*dict.fromkeys(WORDS.values()), CODE, AGAIN)


@dataclass(frozen=True, slots=True)
class Deviation:
    """A key that was not locked, with what differs from the most similar locked key."""

    key: Key
    what: tuple[str, ...]
    instead: Key

    @property
    def sentence(self) -> str:
        return f"{cell_name(self.key)} differs from the lock in {', '.join(self.what)}"


@dataclass(frozen=True, slots=True)
class Match:
    """Keys that are as locked, keys that deviate, and locked keys that are missing."""

    same: tuple[Key, ...]
    deviating: tuple[Deviation, ...]
    missing: tuple[Key, ...]


def cell_name(key: Key) -> str:
    return f"{key['label']} on {key['graph']} at {key['budget']:g} B/v, seed {key['seed']}"


def match(lock: Lock, keys: Iterable[Key], queries: Mapping[str, Any] | None = None) -> Match:
    """Compare keys with a lock; `queries` are the digests by graph if the queries were drawn after the lock."""
    locked = [with_queries(cell["key"], queries) for cell in lock.cells]
    chosen = [chosen_key(with_queries(cell["key"], queries)) for cell in lock.cells if cell["group"]]
    left = {canonical(key): key for key in locked}
    allowed = {canonical(key): key for key in chosen}
    same, others = [], []
    for key in map(without_lock, keys):
        name = canonical(key)
        if left.pop(name, None) is not None or name in allowed:
            same.append(key)
        else:
            others.append(key)
    deviating = [_deviation(key, [*locked, *chosen]) for key in others]
    return Match(tuple(same), tuple(deviating), tuple(left.values()))


def without_lock(key: Key) -> dict[str, Any]:
    """The key that the cell would have in an unbound run."""
    return {name: plain(value) for name, value in key.items() if name != "lock"}


def chosen_key(key: Key) -> dict[str, Any]:
    """The key of the test cell of a candidate if it is chosen."""
    return {**key, "splits": [TEST], "role": CHOSEN}


def with_queries(key: Key, queries: Mapping[str, Any] | None) -> dict[str, Any]:
    if key["query_digests"] is not None or queries is None:
        return dict(key)
    return {**key, "query_digests": queries.get(key["graph"])}


def _deviation(key: Key, locked: Sequence[Key]) -> Deviation:
    nearest = min(locked, key=lambda other: len(_differing(key, other)))
    what = dict.fromkeys(WORDS.get(name, name) for name in _differing(key, nearest))
    return Deviation(key, tuple(what), nearest)


def _differing(one: Key, other: Key) -> list[str]:
    return [name for name in (*WORDS, *one) if plain(one.get(name)) != plain(other.get(name))]
