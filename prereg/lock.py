"""The lock: a registration with everything that names stand for, down to each cell, and its digest."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aacbench.contract.composite import nominal_bytes
from aacbench.errors import AacbenchError, LockError, UsageError
from aacbench.prereg.canonical import digest, plain
from aacbench.prereg.code import tree_digest
from aacbench.prereg.predictions import Prediction, methods_of
from aacbench.prereg.schema import FROM_LOCK, Registration
from aacbench.run.graph_metadata import Facts
from aacbench.run.plan import BASELINE, CellPlan
from aacbench.util.atomic_io import storing, write_file
from aacbench.util.canonical import spelt
from aacbench.util.compiled import kernel_digest
from aacbench.version import VERSION

FORMAT = "aacbench.prereg.lock/1"
BODY = {"locked", "registration", "registration_digest", "data", "methods", "code", "cells"}
UNDECIDED = "TODO"


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock as it was read; `body` is what the digest is of."""

    digest: str
    body: Mapping[str, Any]

    @property
    def registration(self) -> Mapping[str, Any]:
        """The registration with every default spelt out."""
        found: Mapping[str, Any] = self.body["registration"]
        return found

    @property
    def cells(self) -> Sequence[Mapping[str, Any]]:
        """The planned cells: key, group, charged bytes."""
        found: Sequence[Mapping[str, Any]] = self.body["cells"]
        return found


Planned = tuple[CellPlan, Mapping[str, Any]]


def make_lock(
    registration: Registration,
    planned: Sequence[Planned],
    facts: Mapping[str, Facts],
    methods: Mapping[str, Mapping[str, Any]],
) -> Lock:
    """Lock a registration together with its plan; what is not decided is refused."""
    for problem in unresolved(registration, [cell for cell, _ in planned]):
        raise UsageError(f"{registration.id} cannot be locked: {problem}")
    later = registration.seed_source == FROM_LOCK
    body = {
        "format": FORMAT,
        "locked": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "nonce": secrets.token_hex(16),  # so that no rows made under an earlier lock of the same words can serve
        "registration": registration.record(),
        "registration_digest": registration.digest,
        "data": {name: _data(fact, later) for name, fact in facts.items()},
        "methods": methods,
        "code": {"version": VERSION, "tree": tree_digest(), "engine": kernel_digest()},
        "cells": [_cell(cell, key, later) for cell, key in planned],
    }
    body = plain(json.loads(spelt(body)))  # what a reader will find, so that the digest is of that
    return Lock(digest(body), body)


def unresolved(registration: Registration, cells: Sequence[CellPlan]) -> Iterator[str]:
    """What must be decided, or possible, before there is something to lock."""
    for key, text in (("title", registration.title), ("prior_exposure", registration.prior_exposure)):
        if UNDECIDED in text:
            yield f"{key} still says {UNDECIDED}; write what is meant."
    if registration.published is not None:
        yield "it holds published observations, so there is nothing to run; `verify` judges it as it is."
    for cell in cells:
        if cell.failed:
            yield f"{cell.label} on {cell.graph} at {cell.budget:g} B/v cannot be planned: {cell.failed}"
    for prediction in registration.predictions:
        if UNDECIDED in prediction.why:
            yield f"prediction {prediction.id} still says {UNDECIDED}; write what is meant."
        yield from _homeless(prediction, cells)


def _homeless(prediction: Prediction, cells: Sequence[CellPlan]) -> Iterator[str]:
    place = prediction.cell
    for label in methods_of(prediction):
        there = [cell for cell in cells if cell.label == label and (place is None or cell.graph == place.graph)]
        if label != BASELINE and place is not None:
            there = [cell for cell in there if cell.budget == place.budget]
        where = f" on {place}" if place else ""
        if not there:
            known = ", ".join(dict.fromkeys(cell.label for cell in cells))
            yield (
                f"prediction {prediction.id} is about {label}{where}, and no cell of the plan is that; the plan has "
                f"{known}."
            )
        elif all(cell.unsupported for cell in there):
            yield f"prediction {prediction.id} is about {label}{where}, which cannot be: {there[0].unsupported}"


def write_lock(path: Path, lock: Lock) -> None:
    """Write the lock file, which nothing replaces once it is there."""
    with storing(path.parent):
        write_file(path, spelt({"digest": lock.digest, "body": lock.body}, indent=1) + b"\n")


def read_lock(path: Path) -> Lock:
    """The lock of a file; one that is not what its digest says is refused."""
    try:
        record = json.loads(path.read_bytes())
        found = Lock(record["digest"], record["body"])
        whole = digest(found.body) == found.digest and found.body["format"] == FORMAT and found.body.keys() >= BODY
    except FileNotFoundError as error:
        raise LockError(f"the lock file {path.name} is missing.") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, AacbenchError) as error:
        raise LockError(f"the lock file {path.name} cannot be read as one.") from error
    if not whole:
        raise LockError(f"the lock file {path.name} was changed: its digest is not that of what it says.")
    return found


def _data(fact: Facts, later: bool) -> dict[str, Any]:
    digests = None if later else dict(fact.query_digests)
    return {"graph_digest": fact.graph_digest, "query_digests": digests, "info": asdict(fact.info)}


def _cell(cell: CellPlan, key: Mapping[str, Any], later: bool) -> dict[str, Any]:
    return {
        "key": {**key, "query_digests": None} if later else dict(key),
        "group": cell.group,
        "unsupported": cell.unsupported,
        "bytes_per_vertex": nominal_bytes(cell.params, cell.budget),
    }
