"""A run bound to its lock: refused unless it is the locked run, with a line in the ledger for each step."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aacbench.errors import LockError, UsageError
from aacbench.prereg.amend import open_history, unchanged_lock
from aacbench.prereg.changes import code_changes, loaded_beside, plugin_changes, public_changes
from aacbench.prereg.files import Files, relative
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import match, place_of
from aacbench.prereg.ledger import Entry, append
from aacbench.prereg.lock import Lock, tree_digest
from aacbench.prereg.notes import noted_ledger, write_note
from aacbench.prereg.schema import FROM_LOCK, Registration, read_registration
from aacbench.run.layout import QUERIES_FILE
from aacbench.run.loaded_graph import loaded_graph
from aacbench.run.predicted import CONTEXT_FILE, COSTS_FILE, MAPS_FILE, TRUTH_FILE
from aacbench.run.records import Study
from aacbench.run.run_config import Binding
from aacbench.run.store import Cell, scan
from aacbench.util.canonical import digest, plain
from aacbench.version import VERSION

CELL_TAG, RESULT_TAG = "aacbench.prereg.cell/1", "aacbench.prereg.result/1"
RESULT = ("outcome", "bytes", "tier", "claims", "audit")
ON_MAPS = (COSTS_FILE, TRUTH_FILE, MAPS_FILE, CONTEXT_FILE)  # files that verdicts on maps use besides the rows
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
    plugins: Mapping[str, str]  # all that are loaded and not built in, with their digests

    def queries(self) -> dict[str, dict[str, str]] | None:
        """The digests of the queries by graph, if they are drawn after the lock."""
        return query_digests(self.study) if self.public is not None else None

    def check_keys(self, keys: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a run that deviates from the lock in a way that was not declared."""
        declared = self.history.declared()
        problems = [
            one.sentence for one in match(self.lock, keys, self.queries()).deviating if not one.within(declared)
        ]
        others = [*code_changes(self.lock, tree_digest()), *public_changes(self.history, self.public)]
        others += plugin_changes(self.lock, loaded_beside(self.plugins, keys))
        problems += [f"The run differs from the lock in {one}" for one in others if one.identity not in declared]
        if problems:
            more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
            raise LockError(
                f"This run is not the one that {self.id} was locked for. {problems[0]}{more}. Restore what was locked, "
                f"or declare the deviation with `aacbench prereg deviate`."
            )

    def check_folder(self, root: Path) -> None:
        """Refuse a folder with cells of other runs, which could not be told apart from this one's later."""
        ledger = noted_ledger(root)
        if ledger is not None and ledger != self.files.ledger.resolve():
            raise UsageError(f"{root} belongs to the ledger {ledger}; choose another folder with --out.")
        for name, cell in scan(root):
            if isinstance(cell, Cell) and cell.record.get("lock") not in self.history.digests:
                raise UsageError(
                    f"{root} contains cells of other runs, such as {name}; choose a new folder with --out."
                )


class BoundRun(Binding):
    """A run under a lock, as the driver sees it; its lines are its start, each of its cells, and its end."""

    def __init__(self, bound: Bound, root: Path) -> None:
        self._bound, self._root = bound, root
        self._start: Entry | None = None
        self._beside: Mapping[str, str] = {}

    def check(self, keys: Iterable[Mapping[str, Any]]) -> None:
        keys = list(keys)
        self._bound.check_folder(self._root)
        self._bound.check_keys(keys)
        self._beside = loaded_beside(self._bound.plugins, keys)

    def begin(self) -> None:
        if self._start is not None:
            return
        facts = {
            "study": relative(self._root, self._bound.files.folder),
            "code": tree_digest(),
            "version": VERSION,
            "plugins": self._beside,
            "public": self._bound.public,
            "queries": self._bound.queries(),
        }
        self._start = self._append("run_start", facts)
        write_note(self._root, self._bound.files, self._start)

    def enter(self, cell_id: str, record: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        self._write("cell", cell_facts(cell_id, record, digests))

    def end(self) -> None:
        """Write the end of a run that began: the digest of the evidence in each cell, and one of all of them."""
        if self._start is None:
            return
        stored = [cell for _, cell in scan(self._root) if isinstance(cell, Cell)]
        cells = [cell for cell in stored if cell.record.get("lock") == self._bound.lock.digest]
        digests = {cell.cell_id: stored_evidence(cell) for cell in cells}
        facts = {
            "study": relative(self._root, self._bound.files.folder),
            "root": merkle_root(digests),
            "cells": digests,
            "outcomes": dict(Counter(cell.outcome for cell in cells)),
        }
        self._write("run_end", facts)

    def abort(self, reason: str) -> None:
        """Write that the run was stopped, if it had begun; its finished cells stay and may have been seen."""
        if self._start is not None:
            self._write("abort", {"reason": reason})

    def _write(self, event: str, facts: Mapping[str, Any]) -> None:
        assert self._start is not None
        entry = self._append(event, {"start": self._start.digest, **facts})
        write_note(self._root, self._bound.files, entry)

    def _append(self, event: str, facts: Mapping[str, Any]) -> Entry:
        bound = self._bound
        return append(bound.files.ledger, event, bound.id, {"lock": bound.lock.digest, **facts})


def bind(files: Files, public: str | None = None, plugins: Mapping[str, str] | None = None) -> Bound:
    """The run of a registration, if its file is as locked and its required anchors are in the ledger."""
    registration = read_registration(files.toml)
    history = open_history(files, registration.id)
    lock = unchanged_lock(files, registration, history)
    anchored = {entry.facts.get("kind") for entry in history.of("anchor") if entry.facts.get("lock") == lock.digest}
    for kind in registration.anchors:
        if kind not in anchored:
            raise UsageError(
                f"{registration.id} requires an anchor of kind {kind}; use `aacbench prereg anchor` first."
            )
    return Bound(files, registration.id, lock, history, _study(registration, lock, public), public, plugins or {})


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
    return {each.name: loaded_graph(each.graph, study.queries).digests() for each in study.searched_graphs()}


def cell_facts(cell_id: str, record: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """What the ledger keeps of a cell, also if the cell is deleted later; `files` are the sha256 of its files."""
    return {
        "cell": cell_id,
        "digest": evidence_digest(cell_id, record, files),
        "outcome": record["outcome"],
        "result": result_digest(record, files),
        "label": record["key"]["label"],
        "place": place_of(record["key"]),
        **({"costs": record["costs_sha256"]} if "costs_sha256" in record else {}),
    }


def _files(files: Mapping[str, str]) -> dict[str, Any]:
    """The digests of the files that verdicts use; of maps only where there are any, so that older digests hold."""
    on_maps = {name: files[name] for name in ON_MAPS if name in files}
    return {"queries_sha256": files.get(QUERIES_FILE), **({"maps_sha256": on_maps} if on_maps else {})}


def evidence_digest(cell_id: str, record: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """The digest of all that verdicts use from a cell: its rows (by sha256), bytes, claims and audit, but no times."""
    evidence: dict[str, Any] = {name: plain(record.get(name)) for name in EVIDENCE}
    return digest({"cell": cell_id, **evidence, **_files(files)}, CELL_TAG)


def result_digest(record: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """The digest of a cell's result, which is the same under another lock; not of its arrays, which machines round."""
    result = {name: plain(record.get(name)) for name in RESULT}
    counted = {name: value for name, value in (result["bytes"] or {}).items() if name != "arrays"}
    return digest({**result, "bytes": counted, **_files(files)}, RESULT_TAG)


def stored_facts(cell: Cell) -> dict[str, Any]:
    return cell_facts(cell.cell_id, cell.record, cell.record["files"])


def stored_evidence(cell: Cell) -> str:
    return evidence_digest(cell.cell_id, cell.record, cell.record["files"])


def merkle_root(digests: Mapping[str, str]) -> str:
    """The Merkle root over cell digests in the order of cell ids, with leaves and nodes marked as in RFC 6962."""
    level = [hashlib.sha256(b"\0" + bytes.fromhex(digests[name])).digest() for name in sorted(digests)]
    if not level:
        return hashlib.sha256().hexdigest()
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex()
