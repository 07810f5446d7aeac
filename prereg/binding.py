"""A run bound to its lock: refused unless it is the locked run, with a line in the ledger at its start and end."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aacbench.errors import LockError, UsageError
from aacbench.prereg.amend import changes_since, current_lock, open_history
from aacbench.prereg.files import Files
from aacbench.prereg.key_diff import CODE, match
from aacbench.prereg.ledger import Entry, History, append, relative, write_note
from aacbench.prereg.lock import Lock, tree_digest
from aacbench.prereg.schema import FROM_LOCK, Registration, read_registration
from aacbench.run.loaded_graph import loaded_graph
from aacbench.run.records import Study
from aacbench.run.store import ANSWERED, Cell, scan
from aacbench.util.canonical import digest, plain
from aacbench.version import VERSION

CELL_TAG = "aacbench.prereg.cell/1"
EVIDENCE = ("outcome", "reason", "key", "lock", "chosen_from", "bytes", "tier", "claims", "audit")


@dataclass(frozen=True, slots=True)
class Bound:
    """A registration that is about to be run."""

    files: Files
    id: str
    lock: Lock
    history: History
    study: Study
    public: str | None

    def begin(self, root: Path, keys: Sequence[Mapping[str, Any]]) -> Entry:
        """Write the start of a run, unless it deviates from the lock in an undeclared way."""
        queries = query_digests(self.study) if self.public is not None else None
        deviating = match(self.lock, keys, queries).deviating
        problems = [one.sentence for one in deviating if not set(one.what) <= self.history.declared]
        if self.lock.body["code"]["tree"] != tree_digest() and CODE not in self.history.declared:
            problems.append("The run differs from the lock in code")
        if problems:
            more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
            raise LockError(
                f"This run is not the one that {self.id} was locked for. {problems[0]}{more}. Restore what was locked, "
                f"or declare the deviation with `aacbench prereg deviate`."
            )
        facts = {
            "study": relative(root, self.files.folder),
            "code": tree_digest(),
            "version": VERSION,
            "cells": len(keys),
            "public": self.public,
            "queries": queries,
        }
        return self._write(root, "run_start", facts)

    def end(self, root: Path, start: Entry) -> Entry:
        """Write the end of a run: the digest of the evidence in each cell, and one of all of them."""
        stored = [cell for _, cell in scan(root) if isinstance(cell, Cell)]
        cells = [cell for cell in stored if cell.record.get("lock") == self.lock.digest]
        digests = {cell.cell_id: evidence_digest(cell) for cell in cells}
        facts = {
            "start": start.digest,
            "study": relative(root, self.files.folder),
            "root": merkle_root(digests),
            "cells": digests,
            "failed": [cell.cell_id for cell in cells if cell.outcome not in ANSWERED],
            "outcomes": dict(Counter(cell.outcome for cell in cells)),
        }
        return self._write(root, "run_end", facts)

    def abort(self, root: Path, start: Entry, reason: str) -> Entry:
        """Write that the run was stopped; its finished cells stay and may have been seen."""
        return self._write(root, "abort", {"start": start.digest, "reason": reason})

    def _write(self, root: Path, event: str, facts: Mapping[str, Any]) -> Entry:
        entry = append(self.files.ledger, event, self.id, {"lock": self.lock.digest, **facts})
        write_note(root, self.files, entry)
        return entry


def bind(files: Files, public: str | None = None) -> Bound:
    """The run of a registration, if its file is as locked and its required anchors are in the ledger."""
    registration = read_registration(files.toml)
    history = open_history(files, registration.id)
    lock = current_lock(files, history)
    changed = changes_since(registration, lock)
    if changed:
        raise LockError(
            f"{files.toml} was changed after it was locked, in {', '.join(one['key'] for one in changed)}; restore it, "
            f"or use `aacbench prereg amend`."
        )
    anchored = {entry.facts.get("kind") for entry in history.of("anchor") if entry.facts.get("lock") == lock.digest}
    for kind in registration.anchors:
        if kind not in anchored:
            raise UsageError(
                f"{registration.id} requires an anchor of kind {kind}; use `aacbench prereg anchor` first."
            )
    return Bound(files, registration.id, lock, history, _study(registration, lock, public), public)


def _study(registration: Registration, lock: Lock, public: str | None) -> Study:
    if registration.seed_source == FROM_LOCK:
        if not public:
            raise UsageError("The queries are drawn from the lock and a public text; give the text with --public.")
        return seeded(registration.study, lock.digest, public)
    if public is not None:
        raise UsageError('--public is only for registrations with seed_source = "lock".')
    return registration.study


def seed_from(lock: str, public: str) -> int:
    """The seed of queries drawn after the lock: the first 32 bits of sha256(lock digest || public text)."""
    return int.from_bytes(hashlib.sha256(bytes.fromhex(lock) + public.encode()).digest()[:4], "big")


def seeded(study: Study, lock: str, public: str) -> Study:
    return replace(study, queries=replace(study.queries, seed=seed_from(lock, public)))


def query_digests(study: Study) -> dict[str, dict[str, str]]:
    return {name: loaded_graph(name, study.queries).digests() for name in study.graphs}


def evidence_digest(cell: Cell) -> str:
    """The digest of all that verdicts use from a cell: its rows, bytes, claims and audit, but no times."""
    evidence: dict[str, Any] = {name: plain(cell.record.get(name)) for name in EVIDENCE}
    evidence["queries_sha256"] = cell.record["files"].get("queries.csv")
    return digest({"cell": cell.cell_id, **evidence}, CELL_TAG)


def merkle_root(digests: Mapping[str, str]) -> str:
    """The Merkle root over cell digests in the order of cell ids, with leaves and nodes marked as in RFC 6962."""
    level = [hashlib.sha256(b"\0" + bytes.fromhex(digests[name])).digest() for name in sorted(digests)]
    if not level:
        return hashlib.sha256().hexdigest()
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex()
