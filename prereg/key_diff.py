"""Compare the keys of cells with the locked keys: same, deviating in what, or missing."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.prereg.lock import Lock
from aacbench.run.layout import cell_id
from aacbench.run.records import ATLAS, CANDIDATE, CHOSEN, ENCODE, TEST
from aacbench.util.canonical import canonical, plain

Key = Mapping[str, Any]

# The word of `--what` for each field of a key.
WORDS = {
    "graph": "graph",
    "graph_file": "graph",
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
    "inputs": "data",
}
CODE, AGAIN, QUERIES, PLUGIN = "code", "again", "queries", "plugin"
_DIGEST = re.compile(r"[0-9a-f]{64}")
WHAT = (*dict.fromkeys(WORDS.values()), CODE, AGAIN)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as locked: what, in a word; where; and its value or digest before and after."""

    what: str
    field: str
    before: Any
    after: Any

    def record(self) -> dict[str, Any]:
        return {"what": self.what, "field": self.field, "from": self.before, "to": self.after}

    @property
    def identity(self) -> bytes:
        return canonical(self.record())

    def __str__(self) -> str:
        return change_text(self.record())


@dataclass(frozen=True, slots=True)
class Deviation:
    """A key that was not locked, with its changes from the most similar locked key."""

    key: Key
    changes: tuple[Change, ...]
    instead: Key

    def within(self, declared: Collection[bytes]) -> bool:
        return all(change.identity in declared for change in self.changes)

    @property
    def sentence(self) -> str:
        words = dict.fromkeys(change.what for change in self.changes)
        return f"{cell_name(self.key)} differs from the lock in {', '.join(words)}"


@dataclass(frozen=True, slots=True)
class Match:
    """Keys that are as locked, keys that deviate, and locked keys that are missing."""

    same: tuple[Key, ...]
    deviating: tuple[Deviation, ...]
    missing: tuple[Key, ...]


def change_text(record: Mapping[str, Any]) -> str:
    """A declared change in words, such as `plugin (plugin_digest: 0a1b2c3d -> 4e5f6a7b)`."""
    before, after = (_short(record.get(end)) for end in ("from", "to"))
    return f"{record.get('what')} ({record.get('field')}: {before} -> {after})"


def _short(value: Any) -> str:
    """A value in a few letters: the start of a digest, and of a table the digest of its content."""
    if isinstance(value, Mapping | list):
        return hashlib.sha256(canonical(value)).hexdigest()[:8]
    text = str(value)
    return text[:8] if _DIGEST.fullmatch(text) else text


def cell_name(key: Key) -> str:
    return f"{key['label']} on {key['graph']} at {key['budget']:g} B/v, seed {key['seed']}"


def place_of(key: Key) -> str:
    """What a cell is about, whatever it was computed with: two cells of one place are two results for one question."""
    candidate = f", candidate {canonical(key['params']).decode()}" if key["role"] == CANDIDATE else ""
    return cell_name(key) + candidate


def match(lock: Lock, keys: Iterable[Key], queries: Mapping[str, Any] | None = None) -> Match:
    """Compare keys with a lock; `queries` are the digests by graph if the queries were drawn after the lock.

    A search on maps is compared by the encoder whose costs it is on: the costs are known only after the lock.
    """
    keys = list(keys)
    encoders = {cell_id(key): cell_id(without_lock(key)) for key in keys if key["role"] == ENCODE}
    locked = [with_queries(cell["key"], queries) for cell in lock.cells]
    chosen = [chosen_key(with_queries(cell["key"], queries)) for cell in lock.cells if cell["group"]]
    left = {canonical(key): key for key in locked}
    allowed = {canonical(key): key for key in chosen}
    same, others = [], []
    for key in map(without_lock, keys):
        name = canonical(_before_costs(key, encoders))
        if left.pop(name, None) is not None or name in allowed:
            same.append(key)
        else:
            others.append(key)
    deviating = [_deviation(key, _before_costs(key, encoders), [*locked, *chosen]) for key in others]
    return Match(tuple(same), tuple(deviating), tuple(left.values()))


def without_lock(key: Key) -> dict[str, Any]:
    """The key that the cell would have in an unbound run."""
    return {name: plain(value) for name, value in key.items() if name != "lock"}


def encoder_of(key: Key) -> str:
    """The id of the encoder's cell that a search on maps is on, or nothing for other cells."""
    source = str(key.get("graph_file", ""))
    return source.removeprefix(ATLAS) if source.startswith(ATLAS) else ""


def _before_costs(key: Key, encoders: Mapping[str, str]) -> Key:
    """The key of a search on maps as it was planned, before costs were predicted; other keys are as they are."""
    name = encoder_of(key)
    return {**key, "graph_file": f"{ATLAS}{encoders.get(name, name)}", "graph_digest": ""} if name else key


def chosen_key(key: Key) -> dict[str, Any]:
    """The key of the test cell of a candidate if it is chosen."""
    return {**key, "splits": [TEST], "role": CHOSEN}


def with_queries(key: Key, queries: Mapping[str, Any] | None) -> dict[str, Any]:
    if key["query_digests"] is not None or queries is None:
        return dict(key)
    return {**key, "query_digests": queries.get(key["graph"])}


def _deviation(key: Key, compared: Key, locked: Sequence[Key]) -> Deviation:
    nearest = min(locked, key=lambda other: len(_differing(compared, other)))
    changes = [
        Change(WORDS.get(name, name), name, plain(nearest.get(name)), plain(compared.get(name)))
        for name in _differing(compared, nearest)
    ]
    return Deviation(key, tuple(changes), nearest)


def _differing(one: Key, other: Key) -> list[str]:
    return [name for name in dict.fromkeys((*WORDS, *one)) if plain(one.get(name)) != plain(other.get(name))]
