"""A run bound to its lock: refused where it is not what was locked, begun and ended in the ledger."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, LockError, UsageError
from aacbench.prereg.amend import current_lock, open_history, same_as_locked
from aacbench.prereg.code import tree_digest
from aacbench.prereg.evidence import leaf, merkle_root
from aacbench.prereg.files import Files
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import CODE, match
from aacbench.prereg.ledger import Entry, append
from aacbench.prereg.lock import Lock
from aacbench.prereg.note import note, relative
from aacbench.prereg.schema import FROM_LOCK, read_registration
from aacbench.prereg.seeds import query_digests, seeded
from aacbench.run.existing import ANSWERED
from aacbench.run.records import Study
from aacbench.run.store import Cell, scan
from aacbench.version import VERSION


@dataclass(frozen=True, slots=True)
class Bound:
    """A registration that is about to be run."""

    files: Files
    id: str
    lock: Lock
    past: History
    study: Study
    public: str | None

    def begin(self, root: Path, keys: Sequence[Mapping[str, Any]]) -> Entry:
        """Write that a run begins, unless it would not be what was locked."""
        queries = query_digests(self.study) if self.public is not None else None
        problems = [found.sentence for found in match(self.lock, keys, queries).deviating if self._new(found.what)]
        if self.lock.body["code"]["tree"] != tree_digest() and CODE not in self.past.declared:
            problems.append("the code of aacbench is not the one it was locked with: not as locked in code")
        if problems:
            raise LockError(
                f"this would not be the run that {self.id} was locked for. {problems[0]}"
                f"{f' (and {len(problems) - 1} more)' if problems[1:] else ''}. Restore what was locked, or declare "
                f"the deviation with `aacbench prereg deviate`."
            )
        facts = {
            "lock": self.lock.digest,
            "study": relative(root, self.files.folder),
            "code": tree_digest(),
            "version": VERSION,
            "cells": len(keys),
            "public": self.public,
            "queries": queries,
        }
        made = append(self.files.ledger, "run_start", self.id, facts)
        note(root, self.files, made)
        return made

    def end(self, root: Path, start: Entry) -> Entry:
        """Write what the run left: a digest of what verdicts rest on in each cell, and one of all."""
        cells = bound_cells(root, [self.lock.digest])
        leaves = {cell.cell_id: leaf(cell) for cell in cells}
        facts = {
            "lock": self.lock.digest,
            "start": start.digest,
            "study": relative(root, self.files.folder),
            "root": merkle_root(leaves),
            "cells": leaves,
            "failed": [cell.cell_id for cell in cells if cell.outcome not in ANSWERED],
            "outcomes": dict(Counter(cell.outcome for cell in cells)),
        }
        made = append(self.files.ledger, "run_end", self.id, facts)
        note(root, self.files, made)
        return made

    def abort(self, root: Path, start: Entry, reason: str) -> Entry:
        """Write that the run was stopped; what it finished stays and may have been seen."""
        facts = {"lock": self.lock.digest, "start": start.digest, "reason": reason}
        made = append(self.files.ledger, "abort", self.id, facts)
        note(root, self.files, made)
        return made

    def _new(self, what: Sequence[str]) -> bool:
        return not set(what) <= self.past.declared


def bind(files: Files, public: str | None = None) -> Bound:
    """What is to be run under a registration, if the file still says what was locked."""
    registration = read_registration(files.toml)
    past = open_history(files, registration.id)
    lock = current_lock(files, past)
    changed = same_as_locked(registration, lock)
    if changed:
        raise LockError(
            f"{files.toml} was changed after it was locked, in {', '.join(one['key'] for one in changed)}; restore it, "
            f"or use `aacbench prereg amend`."
        )
    anchored = {found.facts.get("kind") for found in past.of("anchor") if found.facts.get("lock") == lock.digest}
    for kind in registration.anchors:
        if kind not in anchored:
            raise UsageError(
                f"{registration.id} asks for an anchor of kind {kind}; use `aacbench prereg anchor` first."
            )
    study = registration.study
    if registration.seed_source == FROM_LOCK:
        if not public:
            raise UsageError("its queries are drawn from the lock and a public text; give that with --public.")
        study = seeded(study, lock.digest, public)
    elif public is not None:
        raise UsageError('--public is for registrations with seed_source = "lock".')
    return Bound(files, registration.id, lock, past, study, public)


def bound_cells(root: Path, locks: Sequence[str]) -> list[Cell]:
    """Every sound cell of a study that carries one of these locks."""
    found = [cell for _, cell in scan(root) if not isinstance(cell, DamagedCellError)]
    return [cell for cell in found if cell.record.get("lock") in locks]
