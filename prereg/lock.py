"""The lock: a registration with each planned cell, the digests of data, methods and code, and its own digest."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aacbench.contract.composite import nominal_bytes
from aacbench.errors import AacbenchError, LockError, UsageError
from aacbench.prereg.predictions import Prediction, methods_of
from aacbench.prereg.schema import FROM_LOCK, TAG, Registration, portable
from aacbench.run.loaded_graph import GraphMetadata
from aacbench.run.plan import CellPlan
from aacbench.run.records import BASELINE
from aacbench.util.atomic_io import storing, write_file
from aacbench.util.canonical import digest, parse_json, pretty
from aacbench.util.compiled import kernel_digest
from aacbench.util.input_file import read_input
from aacbench.version import VERSION

FORMAT = "aacbench.prereg.lock/1"
BODY = {"locked", "registration", "registration_digest", "data", "methods", "code", "cells"}
UNDECIDED = "TODO"
CODE_PACKAGES = ("aacbench", *(f"aacbench.{part}" for part in ("plugins", "protocols", "prereg", "reports")))


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock; `digest` is the digest of `body`."""

    digest: str
    body: Mapping[str, Any]

    @property
    def registration(self) -> Mapping[str, Any]:
        return self.body["registration"]

    @property
    def cells(self) -> Sequence[Mapping[str, Any]]:
        """The planned cells: key, group, whether unsupported, and charged bytes."""
        return self.body["cells"]


def make_lock(
    registration: Registration,
    planned: Sequence[tuple[CellPlan, Mapping[str, Any]]],
    facts: Mapping[str, GraphMetadata],
    methods: Mapping[str, Mapping[str, Any]],
    plugins: Mapping[str, str],
) -> Lock:
    """Lock a registration together with its plan; undecided or impossible parts are refused.

    `plugins` are those loaded beside, which no planned cell is computed with.
    """
    for problem in _unresolved(registration, [cell for cell, _ in planned]):
        raise UsageError(f"{registration.id} cannot be locked: {problem}")
    later = registration.seed_source == FROM_LOCK
    body = {
        "format": FORMAT,
        "locked": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "nonce": secrets.token_hex(16),  # rows made under an earlier lock of the same text cannot be reused
        "registration": registration.record(),
        "registration_digest": registration.digest,
        "data": {name: _data(fact, later) for name, fact in facts.items()},
        "methods": methods,
        "plugins": plugins,
        "code": {"version": VERSION, "tree": tree_digest(), "engine": kernel_digest()},
        "cells": [_cell(cell, key, later) for cell, key in planned],
    }
    body = portable(body)
    return Lock(digest(body, TAG), body)


def _unresolved(registration: Registration, cells: Sequence[CellPlan]) -> Iterator[str]:
    for key, text in (("title", registration.title), ("prior_exposure", registration.prior_exposure)):
        if UNDECIDED in text:
            yield f"{key} still contains {UNDECIDED}; fill it in."
    if registration.published is not None:
        yield "it has published observations, so there is nothing to run; use `aacbench prereg verify` directly."
    for cell in cells:
        if cell.failed:
            yield f"{cell.label} on {cell.graph} at {cell.budget:g} B/v cannot be planned: {cell.failed}"
    for prediction in registration.predictions:
        if UNDECIDED in prediction.why:
            yield f"prediction {prediction.id} still contains {UNDECIDED}; fill it in."
        yield from _without_cells(prediction, cells)


def _without_cells(prediction: Prediction, cells: Sequence[CellPlan]) -> Iterator[str]:
    place = prediction.cell
    for label in methods_of(prediction):
        there = [cell for cell in cells if cell.label == label and (place is None or cell.graph == place.graph)]
        if label != BASELINE and place is not None:
            there = [cell for cell in there if cell.budget == place.budget]
        where = f" on {place}" if place else ""
        if not there:
            known = ", ".join(dict.fromkeys(cell.label for cell in cells))
            yield (
                f"prediction {prediction.id} is about {label}{where}, but the plan has no such cell; planned methods "
                f"are {known}."
            )
        elif all(cell.unsupported for cell in there):
            yield f"prediction {prediction.id} is about {label}{where}, which is unsupported: {there[0].unsupported}"


def write_lock(path: Path, lock: Lock) -> None:
    """Write the lock file; an existing one is never replaced."""
    with storing(path.parent):
        write_file(path, pretty({"digest": lock.digest, "body": lock.body}))


def read_lock(path: Path) -> Lock:
    """The lock of a file, if its content matches its digest."""
    try:
        record = parse_json(read_input(path))
        found = Lock(record["digest"], record["body"])
        whole = digest(found.body, TAG) == found.digest and found.body["format"] == FORMAT and found.body.keys() >= BODY
    except FileNotFoundError as error:
        raise LockError(f"The lock file {path.name} is missing.") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, AacbenchError) as error:
        raise LockError(f"The lock file {path.name} cannot be read.") from error
    if not whole:
        raise LockError(f"The lock file {path.name} was changed: its digest does not match its content.")
    return found


@cache
def tree_digest() -> str:
    """The sha256 of the names and contents of all Python files of aacbench, the same in a clone and when installed."""
    files = {}
    for name in CODE_PACKAGES:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        home = Path(spec.origin).resolve().parent
        for file in home.rglob("*.py"):
            if file.is_file():
                files["/".join([*name.split(".")[1:], *file.relative_to(home).parts])] = file
    total = hashlib.sha256()
    for name in sorted(files):
        content = files[name].read_bytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _data(fact: GraphMetadata, later: bool) -> dict[str, Any]:
    digests = None if later else dict(fact.query_digests)
    return {"graph_digest": fact.graph_digest, "query_digests": digests, "info": asdict(fact.info)}


def _cell(cell: CellPlan, key: Mapping[str, Any], later: bool) -> dict[str, Any]:
    return {
        "key": {**key, "query_digests": None} if later else dict(key),
        "group": cell.group,
        "unsupported": cell.unsupported,
        "bytes_per_vertex": nominal_bytes(cell.params, cell.budget),
    }
